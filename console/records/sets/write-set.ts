import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Rrset } from "../../../src/contract/rrsets.ts";
import { useReadFirst } from "../../shared/live/read-first.ts";
import { RequestProblem } from "../../shared/live/request.ts";
import { useSession } from "../../shared/session/session.tsx";
import { useToast } from "../../shared/toasts/toasts.tsx";
import { readSet, zonePath } from "../api.ts";
import { putSets, type SetNow, type ZoneSets } from "./put-sets.ts";
import { contentOf, setInWords } from "./set-content.ts";
import type { SetChange } from "./set-draft.ts";
import { useUndo } from "./use-undo.ts";

type Place = Pick<Rrset, "name" | "type">;

export type SetWrite = {
  /** Its toast; a write without one is not announced and has no Undo. */
  readonly said?: string;
  readonly touches: readonly Place[];
  /** The sets as the user has seen them. */
  readonly known: readonly Rrset[];
  readonly path: string;
  readonly body: unknown;
  readonly onDone?: () => void;
};

const changedMeanwhile =
  "It was changed elsewhere just now, so nothing was saved. Review the change, and save yours again if you still want it.";

/** A write of a few sets in one transaction. */
export const changesOf = (zone: string, changes: readonly (SetChange | (Place & { readonly delete: true }))[]) => ({
  path: `${zonePath(zone)}/changes`,
  body: { changes },
  touches: changes,
});

export const deletionOf = (zone: string, set: Rrset) => ({
  ...changesOf(zone, [{ name: set.name, type: set.type, delete: true as const }]),
  said: `Deleted ${setInWords(set)}.`,
});

/**
 * Reads the sets before the write, because a page that is not live may be out of date. After the write it reads only
 * what was written: reading all of a large zone would take long.
 */
export function useSetWrite(zone: string) {
  const { request } = useSession();
  const queries = useQueryClient();
  const readFirst = useReadFirst();
  const toast = useToast();
  const undo = useUndo(zone);
  const readAgain = async (touches: readonly Place[], serial: number | undefined): Promise<readonly SetNow[]> => {
    const now = await Promise.all(
      touches.map(async (each) => ({ id: `${each.name}/${each.type}`, set: await readSet(request, zone, each) })),
    );
    queries.setQueryData<ZoneSets>(["sets", zone], (sets) => sets && putSets(sets, now, serial));
    return now;
  };
  return useMutation({
    mutationFn: async ({ path, body, touches, known }: SetWrite) => {
      const before = await readFirst(readAgain(touches, undefined));
      const seen = (id: string) => known.find((set) => set.id === id);
      if (before.some(({ id, set }) => contentOf(set) !== contentOf(seen(id))))
        throw new RequestProblem(409, changedMeanwhile);
      return { before, ...(await request<{ readonly serial?: number }>("POST", path, body)) };
    },
    onSuccess: async ({ serial, before }, { touches, said, onDone }) => {
      void queries.invalidateQueries({ queryKey: ["first-sets", zone], refetchType: "none" });
      const after = await readAgain(touches, serial).catch(() => {
        void queries.invalidateQueries({ queryKey: ["sets", zone] });
        return [];
      });
      // A write that changed nothing has the serial of an earlier one, which must not be undone.
      const isSame = before.every(({ set }, i) => contentOf(set) === contentOf(after[i]?.set)) && after.length > 0;
      const what = `${touches.map(setInWords).join(" and ")} ${touches.length === 1 ? "is" : "are"}`;
      if (said !== undefined)
        toast({
          text: isSame ? `Nothing changed in ${touches.map(setInWords).join(" and ")}.` : said,
          ...(serial !== undefined && !isSame && { undo: () => undo([serial], what) }),
        });
      onDone?.();
    },
  });
}

import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { RrsetsZone } from "../../../../src/contract/rrsets.ts";
import { counted } from "../../../shared/counted.ts";
import { useReadFirst } from "../../../shared/live/read-first.ts";
import { useSession } from "../../../shared/session/session.tsx";
import { useToast } from "../../../shared/toasts/toasts.tsx";
import { putSets, type ZoneSets } from "../put-sets.ts";
import { useSetsNow } from "../read-sets.ts";
import { useUndo } from "../use-undo.ts";
import { type ManyChange, writeInParts, writePart } from "./write-parts.ts";

export type ManyWrite = {
  readonly changes: readonly ManyChange[];
  /** The toast after `count` sets. */
  readonly said: (count: string) => string;
  readonly onDone: () => void;
};

/**
 * Writes many sets: in one transaction if the service takes them together, otherwise in as few as possible. If one of
 * those fails, the earlier ones stay, and both the error and the toast say so.
 */
export function useManyWrite(zone: RrsetsZone) {
  const { request } = useSession();
  const queries = useQueryClient();
  const readNow = useSetsNow(zone);
  const readFirst = useReadFirst();
  const toast = useToast();
  const undo = useUndo(zone.name);

  const report = ({ said }: ManyWrite, done: number, serials: readonly number[]) => {
    if (done === 0) return;
    const count = counted(done, "record set");
    toast({ text: said(count), undo: () => undo(serials, `${count} ${done === 1 ? "is" : "are"}`) });
  };
  const put = (part: readonly ManyChange[], serial: number) => {
    const now = part.map(({ id, wanted }) => ({ id, set: wanted }));
    queries.setQueryData<ZoneSets>(["sets", zone.name], (sets) => sets && putSets(sets, now, serial));
  };

  return useMutation({
    mutationFn: async (write: ManyWrite) => {
      const { serials, done, failure } = await writeInParts(write.changes, async (part) => {
        const serial = await writePart(request, zone.name, part, () => readFirst(readNow()));
        put(part, serial);
        return serial;
      });
      void queries.invalidateQueries({ queryKey: ["first-sets", zone.name], refetchType: "none" });
      report(write, done, serials);
      if (failure !== undefined) throw failure;
    },
    onSuccess: (_, { onDone }) => onDone(),
  });
}

import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Rrset, RrsetsZone } from "../../../../src/contract/rrsets.ts";
import { mostChanges } from "../../../../src/contract/rrsets-limits.ts";
import { counted } from "../../../shared/counted.ts";
import { useReadFirst } from "../../../shared/live/read-first.ts";
import { type Request, RequestProblem } from "../../../shared/live/request.ts";
import { useSession } from "../../../shared/session/session.tsx";
import { useToast } from "../../../shared/toasts/toasts.tsx";
import { zonePath } from "../../api.ts";
import { putSets, type ZoneSets } from "../put-sets.ts";
import { useSetsNow } from "../read-sets.ts";
import { contentOf, setInWords } from "../set-content.ts";
import { useUndo } from "../undo-writes.ts";

/** One set of many: what the user has seen, and what it becomes. Undefined: it does not exist. */
export type ManyChange = {
  readonly id: string;
  readonly seen: Rrset | undefined;
  readonly wanted: Rrset | undefined;
};

export type ManyWrite = {
  readonly changes: readonly ManyChange[];
  /** The toast after `count` sets. */
  readonly said: (count: string) => string;
  readonly onDone: () => void;
};

/** Retries after other clients wrote to the zone. If they changed the same sets, nothing is written. */
const tries = 4;

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
      const serials: number[] = [];
      let done = 0;
      try {
        for (let at = 0; at < write.changes.length; at += mostChanges) {
          const part = write.changes.slice(at, at + mostChanges);
          const serial = await writePart(request, zone.name, part, () => readFirst(readNow()));
          serials.push(serial);
          put(part, serial);
          done += part.length;
        }
      } catch (error) {
        if (done === 0 || !(error instanceof Error)) throw error;
        report(write, done, serials);
        const left = counted(write.changes.length - done, "record set");
        throw new Error(`${counted(done, "record set")} done, ${left} not. ${error.message}`, { cause: error });
      } finally {
        void queries.invalidateQueries({ queryKey: ["first-sets", zone.name], refetchType: "none" });
      }
      report(write, done, serials);
    },
    onSuccess: (_, { onDone }) => onDone(),
  });
}

async function writePart(
  request: Request,
  zone: string,
  part: readonly ManyChange[],
  readNow: () => Promise<ZoneSets | undefined>,
): Promise<number> {
  const body = part.map(({ seen, wanted }) => {
    if (wanted === undefined) return { name: seen?.name, type: seen?.type, delete: true };
    const { name, type, ttl, labels, records } = wanted;
    return { name, type, ttl, labels, records };
  });
  for (let left = tries; ; left--) {
    const now = await readNow();
    const present = new Map(now?.sets.map((set) => [set.id, set]));
    const moved = part.filter(({ id, seen }) => contentOf(present.get(id)) !== contentOf(seen));
    if (moved.length > 0) throw new RequestProblem(409, changedElsewhere(moved));
    try {
      const sent = { changes: body, expected_serial: now?.asOf };
      return (await request<{ serial: number }>("POST", `${zonePath(zone)}/changes`, sent)).serial;
    } catch (error) {
      const isMoved = error instanceof RequestProblem && error.code === "conflict";
      if (isMoved && left > 1) continue;
      throw error instanceof RequestProblem ? bySet(error, part) : error;
    }
  }
}

const shown = 5;

/** The first names, and how many more there are. */
export function namesOf(sets: readonly { readonly id: string }[]): string {
  const names = sets
    .slice(0, shown)
    .map(({ id }) => setInWords({ name: id.replace(/\/[^/]*$/, ""), type: id.replace(/^.*\//, "") }));
  return names.join(", ") + (sets.length > shown ? ` and ${sets.length - shown} more` : "");
}

const changedElsewhere = (moved: readonly ManyChange[]): string =>
  `Not written, because these were changed elsewhere just now: ${namesOf(moved)}. Review them, then try again.`;

/** The service names places such as `changes[3].ttl`; people know the sets. */
function bySet({ status, message, code }: RequestProblem, part: readonly ManyChange[]): RequestProblem {
  const named = message.replaceAll(
    /changes\[(\d+)\]\.?/g,
    (_, at) => `${namesOf(part.slice(Number(at), Number(at) + 1))}: `,
  );
  return new RequestProblem(status, named, code);
}

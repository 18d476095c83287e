import type { Rrset } from "../../../../src/contract/rrsets.ts";
import { mostChanges } from "../../../../src/contract/rrsets-limits.ts";
import { counted } from "../../../shared/counted.ts";
import { type Request, RequestProblem } from "../../../shared/live/request.ts";
import { zonePath } from "../../api.ts";
import type { ZoneSets } from "../put-sets.ts";
import { contentOf, setInWords } from "../set-content.ts";

/** One set of many: what the user has seen, and what it becomes. Undefined: it does not exist. */
export type ManyChange = {
  readonly id: string;
  readonly seen: Rrset | undefined;
  readonly wanted: Rrset | undefined;
};

/** The serials of the writes and how many sets they changed; those before a failure stay. */
type Written = { readonly serials: readonly number[]; readonly done: number; readonly failure?: Error };

/** In one write if the service takes them together, otherwise in as few as possible. */
export async function writeInParts(
  changes: readonly ManyChange[],
  write: (part: readonly ManyChange[]) => Promise<number>,
): Promise<Written> {
  const serials: number[] = [];
  const done = () => Math.min(serials.length * mostChanges, changes.length);
  try {
    while (done() < changes.length) serials.push(await write(changes.slice(done(), done() + mostChanges)));
  } catch (error) {
    return { serials, done: done(), failure: failureAfter(done(), changes.length, error) };
  }
  return { serials, done: done() };
}

function failureAfter(done: number, all: number, cause: unknown): Error {
  const error = cause instanceof Error ? cause : new Error(String(cause));
  if (done === 0) return error;
  const left = counted(all - done, "record set");
  return new Error(`${counted(done, "record set")} done, ${left} not. ${error.message}`, { cause });
}

/** Retries after other clients wrote to the zone. If they changed the same sets, nothing is written. */
const tries = 4;

/** Resolves to the serial of the write. */
export async function writePart(
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

import type { Change } from "../records/changes.ts";
import type { RRset } from "../records/rrset.ts";
import type { NameChange } from "./plan-signing.ts";
import { type MadeSet, madeLike, sameMade } from "./signed-name.ts";

/** A change of one set that DNSSEC adds, as the log keeps it. */
export type MadeChange = Pick<MadeSet, "owner" | "type"> & {
  readonly before: Content | null;
  readonly after: Content | null;
};
type Content = Pick<MadeSet, "ttl" | "values">;

export function madeChanges(changes: readonly NameChange[]): readonly MadeChange[] {
  return changes.flatMap(({ before, after }) => {
    const [old, now] = [before?.made ?? [], after?.made ?? []];
    const made: MadeChange[] = [];
    for (const was of old) {
      const is = madeLike(now, was);
      if (is === undefined || !sameMade(was, is)) made.push(changeOf(was, was, is));
    }
    for (const is of now) if (madeLike(old, is) === undefined) made.push(changeOf(is, undefined, is));
    return made;
  });
}

const changeOf = ({ owner, type }: MadeSet, was: MadeSet | undefined, is: MadeSet | undefined): MadeChange => ({
  owner,
  type,
  before: contentOf(was),
  after: contentOf(is),
});

const contentOf = (set: MadeSet | undefined): Content | null => (set ? { ttl: set.ttl, values: set.values } : null);

/** A change of generated records in the form of an ordinary change. */
export function asChange({ owner, type, before, after }: MadeChange): Change {
  const [was, is] = [before && setOf({ owner, type, ...before }), after && setOf({ owner, type, ...after })];
  if (was && is) return { kind: "replace", owner, type, before: was, after: is };
  if (is) return { kind: "create", owner, type, before: null, after: is };
  return { kind: "delete", owner, type, before: was ?? nothing(), after: null };
}

export const setOf = ({ owner, type, ttl, values }: MadeSet): RRset => ({
  owner,
  type,
  ttl,
  records: values.map((rdata) => ({ id: "", name: owner, value: rdata, rdata, comment: "", created: 0, modified: 0 })),
});

function nothing(): never {
  throw new Error("a change has neither a before nor an after");
}

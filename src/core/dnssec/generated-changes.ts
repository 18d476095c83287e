import type { Change } from "../records/changes.ts";
import type { RRset } from "../records/rrset.ts";
import type { NameChange } from "./plan-signing.ts";
import { type GeneratedSet, haveSameContent, setLike } from "./signed-name.ts";

/** A change of one set that DNSSEC adds, as the log keeps it. */
export type GeneratedChange = Pick<GeneratedSet, "owner" | "type"> & {
  readonly before: Content | null;
  readonly after: Content | null;
};
type Content = Pick<GeneratedSet, "ttl" | "values">;

export function generatedChanges(changes: readonly NameChange[]): readonly GeneratedChange[] {
  return changes.flatMap(({ before, after }) => {
    const [old, now] = [before?.generated ?? [], after?.generated ?? []];
    const changed: GeneratedChange[] = [];
    for (const was of old) {
      const is = setLike(now, was);
      if (is === undefined || !haveSameContent(was, is)) changed.push(changeOf(was, was, is));
    }
    for (const is of now) if (setLike(old, is) === undefined) changed.push(changeOf(is, undefined, is));
    return changed;
  });
}

const changeOf = (
  { owner, type }: GeneratedSet,
  was: GeneratedSet | undefined,
  is: GeneratedSet | undefined,
): GeneratedChange => ({
  owner,
  type,
  before: contentOf(was),
  after: contentOf(is),
});

const contentOf = (set: GeneratedSet | undefined): Content | null =>
  set ? { ttl: set.ttl, values: set.values } : null;

/** A change of generated records in the form of an ordinary change. */
export function asChange({ owner, type, before, after }: GeneratedChange): Change {
  const [was, is] = [before && setOf({ owner, type, ...before }), after && setOf({ owner, type, ...after })];
  if (was && is) return { kind: "replace", owner, type, before: was, after: is };
  if (is) return { kind: "create", owner, type, before: null, after: is };
  return { kind: "delete", owner, type, before: was ?? nothing(), after: null };
}

export const setOf = ({ owner, type, ttl, values }: GeneratedSet): RRset => ({
  owner,
  type,
  ttl,
  records: values.map((rdata) => ({ id: "", name: owner, value: rdata, rdata, comment: "", created: 0, modified: 0 })),
});

function nothing(): never {
  throw new Error("a change has neither a before nor an after");
}

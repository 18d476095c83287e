import type { Change } from "../records/changes.ts";
import type { RRset } from "../records/rrset.ts";
import type { NameChange } from "./plan-signing.ts";
import type { MadeSet, SignedName } from "./signed-name.ts";

/** A change of one set that DNSSEC adds, as the log keeps it. */
export type MadeChange = Pick<MadeSet, "owner" | "type"> & {
  readonly before: Content | null;
  readonly after: Content | null;
};
type Content = Pick<MadeSet, "ttl" | "values">;

export function madeChanges(changes: readonly NameChange[]): readonly MadeChange[] {
  return changes.flatMap(({ before, after }) => {
    const [old, now] = [byKey(before), byKey(after)];
    return [...new Set([...old.keys(), ...now.keys()])].flatMap((key) => {
      const [was, is] = [old.get(key), now.get(key)];
      const { owner, type } = was ?? is ?? nothing();
      return sameContent(was, is) ? [] : [{ owner, type, before: contentOf(was), after: contentOf(is) }];
    });
  });
}

const byKey = (name: SignedName | undefined): ReadonlyMap<string, MadeSet> =>
  new Map((name?.made ?? []).map((set) => [`${set.owner} ${set.type}`, set]));

const contentOf = (set: MadeSet | undefined): Content | null => (set ? { ttl: set.ttl, values: set.values } : null);

const sameContent = (a: MadeSet | undefined, b: MadeSet | undefined): boolean =>
  a !== undefined && b !== undefined && a.ttl === b.ttl && a.values.toSorted().join() === b.values.toSorted().join();

/** The same in the form of other changes. */
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
  throw new Error("a change has a before or an after");
}

import { mapFound } from "./answers/list-in.ts";
import { isOfService, type Lookup, type ServiceFault } from "./answers/service-fault.ts";
import type { CurrentSet, ProviderCalls, ProviderRules, SetName } from "./provider-calls.ts";

type SetLookup<Raw> = Lookup<CurrentSet<Raw> | undefined>;

/** With more sets than this, listing the whole zone takes fewer requests. */
const mostSingleReads = 10;

/** Whether that many sets are found in a list of the whole zone. */
export const isListed = (count: number, rules: Pick<ProviderRules, "readsWholeZone"> | undefined): boolean =>
  rules?.readsWholeZone === true || count > mostSingleReads;

/** Sets of one zone, in the order of their names. */
export async function readSets<Raw>(
  calls: Pick<ProviderCalls<Raw>, "read" | "sets"> & { readonly rules?: Pick<ProviderRules, "readsWholeZone"> },
  sets: readonly SetName[],
  signal: AbortSignal,
): Promise<readonly SetLookup<Raw>[]> {
  if (sets.length <= (calls.rules?.readsWholeZone ? 1 : mostSingleReads))
    return readEach((set) => calls.read(set, signal), sets);
  const all = await calls.sets(sets[0]?.zone ?? "", signal);
  const byName = new Map(all.kind === "found" ? all.value.map((set) => [`${set.name} ${set.type}`, set]) : []);
  return sets.map(({ name, type }) => mapFound(all, () => byName.get(`${name} ${type}`)));
}

/** A few at a time, until the whole service fails. */
export async function readEach<Raw>(
  read: (set: SetName) => Promise<SetLookup<Raw>>,
  sets: readonly SetName[],
): Promise<readonly SetLookup<Raw>[]> {
  const lookups: SetLookup<Raw>[] = [];
  let failed: ServiceFault | undefined;
  const left = sets.entries();
  const readSome = async () => {
    for (const [at, set] of left) {
      const one = failed ?? (await read(set));
      lookups[at] = one;
      if (one.kind !== "found" && isOfService(one)) failed = one;
    }
  };
  await Promise.all(Array.from({ length: 4 }, readSome));
  return lookups;
}

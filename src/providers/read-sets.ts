import { mapFound } from "./answers/list-in.ts";
import { isOfService, type Lookup, type ServiceFault } from "./answers/service-fault.ts";
import type { HeldSet, ProviderCalls, ProviderRules, SetName } from "./provider-calls.ts";

type SetLookup<Rest> = Lookup<HeldSet<Rest> | undefined>;

/** With more sets than this, listing the whole zone takes fewer requests. */
const mostSingleReads = 10;

/** Sets of one zone, in the order of their names. */
export async function readSets<Rest>(
  calls: Pick<ProviderCalls<Rest>, "read" | "sets"> & { readonly rules?: Pick<ProviderRules, "readsWholeZone"> },
  sets: readonly SetName[],
  signal: AbortSignal,
): Promise<readonly SetLookup<Rest>[]> {
  if (sets.length <= (calls.rules?.readsWholeZone ? 1 : mostSingleReads))
    return readEach((set) => calls.read(set, signal), sets);
  const all = await calls.sets(sets[0]?.zone ?? "", signal);
  const byName = new Map(all.kind === "found" ? all.value.map((set) => [`${set.name} ${set.type}`, set]) : []);
  return sets.map(({ name, type }) => mapFound(all, () => byName.get(`${name} ${type}`)));
}

/** A few at a time, until the whole service fails. */
export async function readEach<Rest>(
  read: (set: SetName) => Promise<SetLookup<Rest>>,
  sets: readonly SetName[],
): Promise<readonly SetLookup<Rest>[]> {
  const found: SetLookup<Rest>[] = [];
  let failed: ServiceFault | undefined;
  const left = sets.entries();
  const readSome = async () => {
    for (const [at, set] of left) {
      const one = failed ?? (await read(set));
      found[at] = one;
      if (one.kind !== "found" && isOfService(one)) failed = one;
    }
  };
  await Promise.all(Array.from({ length: 4 }, readSome));
  return found;
}

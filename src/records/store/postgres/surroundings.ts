import { apex } from "../../../core/names/name.ts";
import { dname, type Surroundings } from "../../../core/records/dname.ts";
import type { SetRow } from "../rows.ts";

type SetsByOwner = ReadonlyMap<string, ReadonlyMap<string, SetRow>>;

/** What a batch has read of a zone. DNAME sets above the owners of a write were read with them; `mustBeWhole` throws if the rest was not read. */
export const surroundings = (sets: SetsByOwner, mustBeWhole: () => void): Surroundings => ({
  redirects: (owner) => sets.get(owner)?.has(dname) ?? false,
  endingWith: (owner) => {
    mustBeWhole();
    const named = [...sets].flatMap(([name, types]) => (types.size > 0 ? [name] : []));
    return named.filter((name) => (owner === apex ? name !== apex : name.endsWith(`.${owner}`)));
  },
});

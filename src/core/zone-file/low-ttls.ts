import type { Fault } from "../result.ts";
import type { ZoneFile } from "./parse.ts";

/** TTLs that are shorter than the service allows. */
export const lowTtls = (file: ZoneFile, lowest: number): readonly Fault[] => {
  const tooLow = (where: string): Fault => ({
    code: "bad-ttl",
    where: "zonefile",
    message: `${where}: ttl is too small`,
    todo: `use at least ${lowest}`,
  });
  return [
    ...(file.ttl !== undefined && file.ttl < lowest ? [tooLow("$TTL")] : []),
    ...file.sets.flatMap(({ ttl, records }) =>
      ttl !== null && ttl < lowest ? [tooLow(`line ${records[0]?.line}`)] : [],
    ),
  ];
};

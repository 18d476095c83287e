import { parseAddress } from "../../../core/addresses/address.ts";
import type { Network } from "../../../core/addresses/network.ts";
import { primaryFaults } from "../../../core/addresses/primary-address.ts";
import type { Scope } from "../../../core/may.ts";
import { readScope } from "../../../core/read-scope.ts";
import { type Fault, faultInWords } from "../../../core/result.ts";
import { tsigAlgorithms } from "../../api/rrsets/input.ts";
import { readLabels } from "../../api/rrsets/labels.ts";
import { type Manifest, manifestFault, manifestFile, type ZoneEntry } from "./manifest.ts";

/** Values that the APIs would refuse, in a manifest of the right shape. Does not check the zone files. */
export function faultsOfZones(zones: readonly ZoneEntry[], allowedPrimaries: readonly Network[]): readonly Fault[] {
  return zones.flatMap((zone, i) => [
    ...faultsOfLabels(zone.labels, `zones/${i}/labels`),
    ...zone.primaries.flatMap((server, j) => faultsOfPrimary(server, `zones/${i}/primaries/${j}`, allowedPrimaries)),
    ...zone.sets.flatMap(({ labels = {} }, j) => faultsOfLabels(labels, `zones/${i}/sets/${j}/labels`)),
  ]);
}

/** The tokens with canonical names. */
export function readTokens(tokens: Manifest["tokens"], faults: Fault[]): readonly NamedScope[] {
  return tokens.map(({ name, scope }, i) => {
    const scopeFaults: Fault[] = [];
    const read = readScope(scope, scopeFaults, Number.POSITIVE_INFINITY);
    for (const fault of scopeFaults)
      faults.push(manifestFault(`tokens/${i}/scope/${fault.where}`, faultInWords(fault)));
    return { name, scope: read };
  });
}

export type NamedScope = { readonly name: string; readonly scope: Scope };

function faultsOfLabels(labels: ZoneEntry["labels"], place: string): readonly Fault[] {
  const read = readLabels(labels, place);
  return read.ok ? [] : read.faults.map(({ where, message }) => manifestFault(where, `this ${message}`));
}

function faultsOfPrimary(
  { address: text, tsig }: ZoneEntry["primaries"][number],
  place: string,
  allowed: readonly Network[],
): readonly Fault[] {
  const address = parseAddress(text);
  const faults: Fault[] = [];
  if (address === undefined) faults.push(manifestFault(`${place}/address`, "this is not an IP address"));
  else if (address.text !== text)
    faults.push(manifestFault(`${place}/address`, `this address must be written as ${address.text}`));
  else faults.push(...primaryFaults(address, `${manifestFile} at ${place}/address`, allowed));
  if (tsig && !tsigAlgorithms.includes(tsig.algorithm))
    faults.push(manifestFault(`${place}/tsig/algorithm`, `it must be one of ${tsigAlgorithms.join(", ")}`));
  return faults;
}

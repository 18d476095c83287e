import type { RecordType } from "../rdata/table.ts";
import { diffSets } from "../records/changes.ts";
import { type RRset, setKey } from "../records/rrset.ts";
import type { Fault } from "../result.ts";
import { dnssecTypes } from "./codes.ts";
import { typeNamed } from "./signed-name.ts";

const { ds: _, ...generated } = dnssecTypes;
const names = new Map(Object.entries(generated).map(([name, code]) => [typeNamed(code), name.toUpperCase()]));

/** The types of the records that signing generates. */
const generatedTypes: readonly RecordType[] = [...names.keys()];

const isGeneratedType = (type: RecordType): boolean => names.has(type);

/** BIND keeps the progress of its own signing in records of this type, which mean nothing to another server. */
const bindProgress: RecordType = "TYPE65534";

/** What is left out when a zone from a server that signs is signed here. */
export const typesMadeBySigning: readonly RecordType[] = [...generatedTypes, bindProgress];

/** In a signed zone, users cannot write these records. */
export function generatedTypeFaults(
  zone: string,
  before: readonly RRset[],
  wanted: readonly RRset[],
): readonly Fault[] {
  if (!wanted.some(({ type }) => isGeneratedType(type))) return [];
  return diffSets(before, wanted)
    .filter(({ type, after }) => after !== null && isGeneratedType(type))
    .map(({ owner, type }) => ({
      code: "made-by-signing",
      where: setKey(owner, type),
      message: `${zone} is signed, so its ${names.get(type)} records are generated automatically`,
      todo: `remove the ${names.get(type)} records from the request`,
    }));
}

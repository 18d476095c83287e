import type { NamesInData, WirePart } from "./fields/field.ts";
import { bytesTypes, definitionOf, type RecordType, recordTypes, typeCode } from "./table.ts";

/** The data of a type whose names others compress or lower: its parts, and what they do with the names. */
export type DataWithNames = {
  readonly parts: readonly WirePart[];
  readonly names: NamesInData;
};

/** By the number of the type. Data of any other type stays as it is. */
export const dataWithNames: ReadonlyMap<number, DataWithNames> = new Map(
  [...recordTypes, ...bytesTypes].flatMap(describeNames),
);

function describeNames(type: RecordType): readonly (readonly [number, DataWithNames])[] {
  const { fields, names } = definitionOf(type);
  if (names === undefined) return [];
  return [[typeCode(type), { parts: fields.map(({ kind }) => kind.wire ?? 0).reduce(joinNumbers, []), names }]];
}

/** Parts of known lengths are read as one. */
function joinNumbers(parts: readonly WirePart[], part: WirePart): readonly WirePart[] {
  const last = parts.at(-1);
  return typeof part === "number" && typeof last === "number" ? parts.with(-1, last + part) : [...parts, part];
}

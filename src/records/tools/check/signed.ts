import { dnssecTypes } from "../../../core/dnssec/codes.ts";
import { generatedKey, signaturesIn } from "../../../core/dnssec/planned-names.ts";
import { dataOfText, type SignedName, typeNamed } from "../../../core/dnssec/signed-name.ts";
import { absoluteName, apex } from "../../../core/names/name.ts";
import { nameToWire } from "../../../core/names/wire.ts";
import { base32hex } from "../../../core/rdata/fields/base32hex.ts";
import { typeCode } from "../../../core/rdata/table.ts";
import type { ZoneSettings } from "../../model.ts";
import type { ZoneRow } from "../../store/rows.ts";
import { type SignedNameRow, signedNameFromRow } from "../../store/rows.ts";
import { eachPart, type Row, storeTables, type Tables } from "../tables/table.ts";
import { allNames } from "./log.ts";
import { named, parsed, type Step } from "./step.ts";

const { sets, signedNames, signingKeys } = storeTables;
const signAgain = "run moor dnssec resign ZONE: it signs the whole zone again, with the same keys";

/**
 * Checks that the keys of a signed zone exist, that every name is signed, and that the NSEC or NSEC3 chain is closed.
 * Names that are `waiting` were changed and are not signed yet, or all of them are signed otherwise soon.
 */
export async function checkSigned(
  tables: Tables,
  zone: ZoneRow,
  waiting: Pick<ReadonlyMap<string, unknown>, "has" | "size"> = new Map(),
  step: Step,
): Promise<void> {
  if (waiting.has(allNames)) return;
  const where = `zone ${zone.name}`;
  const its = `zone = ${zone.number}`;
  const { dnssec } = (parsed(zone.settings) ?? {}) as Partial<ZoneSettings>;
  const kept = new Set<string>();
  for await (const rows of eachPart(tables, signingKeys, { where: its }))
    for (const row of rows) kept.add(named<{ id: string }>(signingKeys, row).id);
  for (const { id, tag } of dnssec?.keys ?? [])
    if (!kept.delete(id)) step.fault("signing-key-missing", where, `its private key ${tag} is missing`);
  for (const id of kept) step.fault("signing-key-unused", where, `its settings do not use the private key ${id}`);

  if (dnssec === undefined) return;
  const names = namesOf(zone);
  const isUnsigned = `${its} AND ${notIn(signedNames.name, names, sets.name)}`;
  // A name may have sets of every type.
  const rowsOfWaiting = waiting.size * mostTypes;
  const isOther = (row: Row) => !waiting.has(String(row[1]));
  const unsigned = (await tables.read(sets, { where: isUnsigned, limit: 1 + rowsOfWaiting })).find(isOther);
  const left = `zone = ${names} AND types <> '[]' AND ${notIn(sets.name, zone.number, signedNames.name)}`;
  const surplus = (await tables.read(signedNames, { where: left, limit: 1 + waiting.size })).find(isOther);
  if (unsigned !== undefined)
    step.fault("not-signed", `${where}, ${unsigned[1]}`, "the zone is signed, but this name is not", signAgain);
  if (surplus !== undefined)
    step.fault("signed-without-records", `${where}, ${surplus[1]}`, "it is signed, but has no records", signAgain);
  await checkChain(tables, zone, step);
}

const mostTypes = 64;

/** The number under which its signed names are stored. */
const namesOf = ({ names_at: names, number }: ZoneRow): number => names ?? number;

const notIn = (other: string, zone: number, own: string): string =>
  `NOT EXISTS (SELECT 1 FROM ${other} AS other WHERE other.zone = ${zone} AND other.owner = ${own}.owner)`;

async function checkChain(tables: Tables, zone: ZoneRow, step: Step): Promise<void> {
  let [first, last]: (SignedName | undefined)[] = [];
  const where = `zone = ${namesOf(zone)} AND link IS NOT NULL`;
  for await (const rows of eachPart(tables, signedNames, { by: ["link"], where })) {
    for (const row of rows) {
      const name = readName(named<SignedNameRow>(signedNames, row));
      if (name === undefined) {
        step.fault("signed-name-unreadable", `zone ${zone.name}, ${row[1]}`, "its signatures are not valid", signAgain);
        continue;
      }
      checkSignatures(name, zone, step);
      if (last !== undefined) checkLink(last, name, zone, step);
      first ??= name;
      last = name;
    }
    step.read(0);
  }
  if (first !== undefined && last !== undefined) checkLink(last, first, zone, step);
  else step.fault("chain-broken", `zone ${zone.name}`, "it is signed, but has no NSEC or NSEC3 chain", signAgain);
}

function readName(row: SignedNameRow): SignedName | undefined {
  try {
    const name = signedNameFromRow(row);
    for (const { type, values } of name.generated) for (const text of values) dataOfText(type, text);
    signaturesIn(name);
    return name;
  } catch {
    return undefined;
  }
}

/** At a delegation, only the DS set and the NSEC or NSEC3 record are signed. */
function checkSignatures(name: SignedName, { name: zone }: ZoneRow, step: Step): void {
  const { owner, types, generated } = name;
  const isCut = owner !== apex && types.includes(ns);
  const own = isCut ? types.filter((type) => type === dnssecTypes.ds) : types;
  const there = generated.map(({ owner: at, type }) => [at, typeCode(type)] as const);
  const needed = [...own.map((type) => [owner, type] as const), ...there.filter(([, type]) => type !== rrsig)];
  const signatures = signaturesIn(name);
  const lacking = needed
    .filter(([at, type]) => !signatures.get(generatedKey(at, type))?.length)
    .map(([, type]) => typeNamed(type));
  if (lacking.length > 0)
    step.fault("signature-missing", `zone ${zone}, ${owner}`, `${lacking.join(", ")} is not signed`, signAgain);
}

const ns = 2;
const { rrsig } = dnssecTypes;

function checkLink(name: SignedName, next: SignedName, { name: zone }: ZoneRow, step: Step): void {
  if (!leadsTo(name, next, zone))
    step.fault(
      "chain-broken",
      `zone ${zone}, ${name.owner}`,
      `the next name in the chain is not ${next.owner}`,
      signAgain,
    );
}

function leadsTo({ generated }: SignedName, next: SignedName, zone: string): boolean {
  for (const { type, values } of generated) {
    const code = typeCode(type);
    if (code !== dnssecTypes.nsec && code !== dnssecTypes.nsec3) continue;
    const data = dataOfText(type, values[0] ?? "");
    if (code === dnssecTypes.nsec3) return base32hex(data.subarray(6, 6 + (data[5] ?? 0))) === next.chainKey;
    const wanted = nameToWire(absoluteName(next.owner, zone));
    return Buffer.compare(data.subarray(0, wanted.length), wanted) === 0;
  }
  return false;
}

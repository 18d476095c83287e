import { parseAddress } from "../addresses/address.ts";
import { apex } from "../names/name.ts";
import { bytesOfGeneric } from "../rdata/fields/hex.ts";
import { addressForName } from "../rdata/fields/name.ts";
import { isValidData, parseRdata } from "../rdata/rdata.ts";
import { isKnownType, type RecordType, typeName } from "../rdata/table.ts";
import { caaTags } from "../rdata/types/caa.ts";
import type { Fault } from "../result.ts";
import { finish, type Steps } from "../steps.ts";
import { checkingRedirects, dname, noStoredNames, type StoredNames } from "./dname.ts";
import { setKey } from "./rrset.ts";
import { isTooLarge } from "./set-size.ts";

/** A stored set, or one from a zone file. */
type SetData = {
  readonly owner: string;
  readonly type: RecordType;
  readonly records: readonly { readonly rdata: string }[];
};

/**
 * Faults that are refused in new data, but tolerated in sets that already have them. `storedNames`: those of the
 * zone before the write.
 */
export const checkNewSets = (
  before: readonly SetData[],
  wanted: readonly SetData[],
  storedNames: StoredNames = noStoredNames,
): readonly Fault[] => finish(checkingNewSets(before, wanted, storedNames));

/** `checkNewSets` in steps. After `mostFaults` faults the rest is not checked. */
export function* checkingNewSets(
  before: readonly SetData[],
  wanted: readonly SetData[],
  storedNames: StoredNames = noStoredNames,
): Steps<readonly Fault[]> {
  // Most writes have no faults: the stored sets are indexed only at the first one.
  let sorted: ReadonlyMap<string, SetData> | undefined;
  const had: Had = ({ owner, type }) => {
    sorted ??= new Map(before.map((set) => [setKey(set.owner, set.type), set]));
    return sorted.get(setKey(owner, type));
  };
  const faults: Fault[] = [];
  for (const set of wanted) {
    const setFault = sizeFault(set, had) ?? wildcardFault(set, had) ?? dnameFault(set, had) ?? apexDsFault(set, had);
    faults.push(...(setFault ? [setFault] : recordFaults(set, had)));
    if (faults.length >= mostFaults) return faults;
    yield;
  }
  return [...faults, ...(yield* checkingRedirects(before, wanted, storedNames))].slice(0, mostFaults);
}

const mostFaults = 1_000;

type Had = (set: Pick<SetData, "owner" | "type">) => SetData | undefined;

function recordFaults(set: SetData, had: Had): readonly Fault[] {
  const { owner, type, records } = set;
  if (type !== "CAA" && !pointing.has(type) && isKnownType(type)) return [];
  const where = setKey(owner, type);
  const bad = records.flatMap(({ rdata }) => rdataFaults(type, rdata, where).map((fault) => ({ rdata, fault })));
  if (bad.length === 0) return [];
  const old = new Set(had(set)?.records.map(({ rdata }) => rdata));
  return bad.filter(({ rdata }) => !old.has(rdata)).map(({ fault }) => fault);
}

function rdataFaults(type: RecordType, rdata: string, where: string): readonly Fault[] {
  if (type === "CAA") return checkTag(tagOf(rdata), where);
  if (!isKnownType(type)) return checkData(type, rdata, where);
  // No top-level domain is a number (RFC 3696 section 2), so an address is never a host name.
  const target = rdata.slice(rdata.lastIndexOf(" ") + 1, -1);
  return parseAddress(target) === undefined ? [] : [addressForName(target, where)];
}

const pointing: ReadonlySet<RecordType> = new Set(["CNAME", "MX", "NS", "PTR", "SRV"]);

/** Other servers know the type, and refuse the whole zone. */
function checkData(type: RecordType, rdata: string, where: string): readonly Fault[] {
  const data = bytesOfGeneric(rdata);
  if (data === undefined || isValidData(type, data)) return [];
  return [
    {
      code: "bad-data",
      where,
      message: `the data is not valid for a record of type ${typeName(type)} (${type}); other nameservers would refuse the whole zone`,
      todo: "correct the data, or remove the record",
    },
  ];
}

/** A tag in upper case makes the text that of an unknown type. */
function tagOf(rdata: string): string {
  const read = rdata.startsWith("\\#") ? parseRdata("CAA", rdata, "") : undefined;
  return read?.ok ? String(read.value.fields.tag) : (rdata.split(" ", 2)[1] ?? "");
}

function checkTag(tag: string, where: string): readonly Fault[] {
  if (caaTags.includes(tag)) return [];
  return [
    {
      code: "caa-unknown-tag",
      where,
      message: `${tag} is not a CAA property; certificate authorities would ignore it`,
      todo: `use one of ${caaTags.join(", ")}`,
    },
  ];
}

/** A set that was already too large may stay or become smaller. */
function sizeFault(set: SetData, had: Had): Fault | undefined {
  if (!isTooLarge(set)) return undefined;
  const { owner, type, records } = set;
  const old = had(set);
  if (old !== undefined && isTooLarge(old) && records.length <= old.records.length) return undefined;
  return {
    code: "set-too-large",
    where: setKey(owner, type),
    message: `the ${typeName(type)} set at ${owner} would be too large for any DNS message`,
    todo: "spread its records over several names",
  };
}

/**
 * Values that an edit may leave in one set if the operator sets no limit. BIND has the same (`max-records-per-type`).
 */
const usualMostValues = 100;

/**
 * What is refused in edits, but not in zones that arrive as a whole: a file, or a transfer. What a zone already has may
 * stay, and large sets may become smaller.
 */
export function checkEdit(
  before: readonly SetData[],
  wanted: readonly SetData[],
  mostValues = usualMostValues,
): readonly Fault[] {
  const suspects = wanted.filter(({ type, records }) => records.length > mostValues || chainTypes.has(type));
  if (suspects.length === 0) return [];
  const old = new Map(before.map((set) => [setKey(set.owner, set.type), set.records]));
  return suspects.flatMap((set) => editFaults(set, old.get(setKey(set.owner, set.type)) ?? [], mostValues));
}

function editFaults({ owner, type, records }: SetData, old: SetData["records"], mostValues: number): readonly Fault[] {
  const where = setKey(owner, type);
  if (chainTypes.has(type)) {
    const oldValues = new Set(old.map(({ rdata }) => rdata));
    if (records.every(({ rdata }) => oldValues.has(rdata))) return [];
    return [
      {
        code: "made-by-signing",
        where,
        message: `${typeName(type)} records are made by signing a zone, and cannot be written one by one`,
        todo: "sign the zone here (DNSSEC), or import the signed zone as a whole",
      },
    ];
  }
  if (records.length <= Math.max(mostValues, old.length)) return [];
  return [
    {
      code: "too-many-values",
      where,
      message: `the ${typeName(type)} set at ${owner} would have ${records.length} values; at most ${mostValues} are allowed`,
      todo: "spread them over several names",
    },
  ];
}

/** The types of a signed chain, RRSIG, NSEC, NSEC3 and NSEC3PARAM: by hand, they would only make queries expensive. */
const chainTypes: ReadonlySet<RecordType> = new Set<RecordType>(["TYPE46", "TYPE47", "TYPE50", "TYPE51"]);

/** RFC 4592 section 4.2 leaves its meaning undefined, and BIND rejects the whole zone. */
function wildcardFault(set: SetData, had: Had): Fault | undefined {
  const { owner, type } = set;
  if (type !== "NS" || !/^\*(?:\.|$)/.test(owner) || had(set) !== undefined) return undefined;
  return {
    code: "ns-at-wildcard",
    where: setKey(owner, type),
    message: `an NS record at the wildcard name ${owner} has no meaning in DNS; other nameservers refuse such a zone`,
    todo: "add NS records at each delegated name instead",
  };
}

/** RFC 4035 section 2.4: it belongs to the parent zone. Knot refuses the zone. */
function apexDsFault(set: SetData, had: Had): Fault | undefined {
  if (set.type !== "DS" || set.owner !== apex || had(set) !== undefined) return undefined;
  return {
    code: "ds-at-apex",
    where: setKey(apex, "DS"),
    message: "a DS record at the zone's own name has no effect: it belongs to the parent zone",
    todo: "give it to the registrar of the zone; add it here only at a delegated name",
  };
}

/** RFC 6672 section 2.4. If there already are several, they may stay or become fewer. */
function dnameFault(set: SetData, had: Had): Fault | undefined {
  const { owner, type, records } = set;
  if (type !== dname || records.length <= 1 || records.length <= (had(set)?.records.length ?? 0)) return undefined;
  return {
    code: "dname-single",
    where: setKey(owner, type),
    message: `${owner} has more than one DNAME record`,
    todo: "a DNAME record has one target: keep one record",
  };
}

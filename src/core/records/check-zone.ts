import { apex } from "../names/name.ts";
import type { Fault } from "../result.ts";
import { finish, type Steps } from "../steps.ts";
import { nsec, rrsig } from "./packed-sets.ts";
import { type RRset, setKey } from "./rrset.ts";

/**
 * Whether these sets may coexist; returns all faults. Pass all sets that an owner would have, for the owners
 * that a write touches; nothing else is checked, so a write costs the same in a zone of any size.
 */
export const checkOwners = (sets: readonly RRset[]): readonly Fault[] => finish(checkingOwners(sets, (set) => set));

/** `checkOwners` in steps; `asSet` converts each set. After `mostFaults` faults the rest is not checked. */
export function* checkingOwners<Given extends { readonly owner: string }>(
  sets: readonly Given[],
  asSet: (set: Given) => RRset,
): Steps<readonly Fault[]> {
  const faults: Fault[] = [];
  for (const setsOfOwner of yield* byOwner(sets)) {
    const setsAtOwner = setsOfOwner.map(asSet);
    for (const set of setsAtOwner) checkSet(set, faults);
    checkTogether(setsAtOwner, faults);
    if (faults.length >= mostFaults) return faults.slice(0, mostFaults);
    yield;
  }
  return faults;
}

/** Nobody reads more, and each takes memory and bandwidth. */
const mostFaults = 1_000;

/** Like `checkOwners`, for all sets of a zone; the SOA must be among them. */
export const checkZone = (sets: readonly RRset[]): readonly Fault[] => finish(checkingZone(sets));

/** `checkZone` in steps. */
export function* checkingZone(sets: readonly RRset[]): Steps<readonly Fault[]> {
  return [...(yield* checkingOwners(sets, (set) => set)), ...checkSoaExists(sets)];
}

const checkSoaExists = (sets: readonly RRset[]): readonly Fault[] =>
  sets.some((set) => set.type === "SOA" && set.owner === apex) ? [] : [soaMissing];

const soaMissing: Fault = {
  code: "soa-missing",
  where: setKey(apex, "SOA"),
  message: "the zone has no SOA record",
  todo: "add one SOA record at @",
};

function* byOwner<Set extends { readonly owner: string }>(sets: readonly Set[]): Steps<Iterable<readonly Set[]>> {
  const [first] = sets;
  if (first === undefined || sets.every((set) => set.owner === first.owner)) return [sets];
  const owners = new Map<string, Set[]>();
  for (const set of sets) {
    const own = owners.get(set.owner);
    if (own === undefined) owners.set(set.owner, [set]);
    else own.push(set);
    yield;
  }
  return owners.values();
}

function checkSet(set: RRset, faults: Fault[]): void {
  const where = setKey(set.owner, set.type);
  if (set.records.length === 0) {
    faults.push({
      code: "empty-set",
      where,
      message: `the ${set.type} set at ${set.owner} has no records`,
      todo: "give it at least one record, or delete the set",
    });
  }
  if (set.records.length > 1) checkDuplicates(set, where, faults);
  if (set.type === "CNAME") checkCname(set, where, faults);
  if (set.type === "SOA") checkSoa(set, where, faults);
}

function checkDuplicates(set: RRset, where: string, faults: Fault[]): void {
  const seen = new Set<string>();
  for (const record of set.records) {
    if (seen.has(record.rdata)) {
      faults.push({
        code: "duplicate-value",
        where,
        message: `the ${set.type} set at ${set.owner} has the value ${shortened(record.value)} twice`,
        todo: "remove one of them",
      });
    }
    seen.add(record.rdata);
  }
}

function checkCname(set: RRset, where: string, faults: Fault[]): void {
  if (set.owner === apex) {
    faults.push({
      code: "cname-at-apex",
      where,
      message: "a CNAME is not allowed at the zone's own name, because the SOA record is there",
      todo: "use A and AAAA records there",
    });
  }
  if (set.records.length > 1) {
    faults.push({
      code: "cname-and-other",
      where,
      message: `${set.owner} has more than one CNAME record`,
      todo: "an alias has one target: keep one record",
    });
  }
}

function checkSoa(set: RRset, where: string, faults: Fault[]): void {
  if (set.owner !== apex) {
    faults.push({
      code: "soa-not-at-apex",
      where,
      message: `an SOA record is allowed only at the zone's own name, not at ${set.owner}`,
      todo: "remove it, or create a zone with that name",
    });
  }
  if (set.records.length > 1) {
    faults.push({ code: "soa-single", where, message: "a zone has exactly one SOA record", todo: "keep one of them" });
  }
}

/**
 * RFC 1034 section 3.6.2: a name with a CNAME has nothing else, except what DNSSEC adds to it (RFC 4035 section 2.5).
 */
function checkTogether(sets: readonly RRset[], faults: Fault[]): void {
  if (sets.length < 2) return;
  const types = new Set(sets.map((set) => set.type));
  if (types.size < sets.length) checkTwice(sets, faults);
  const cname = sets.find((set) => set.type === "CNAME");
  const others = [...types].filter((type) => type !== "CNAME" && type !== rrsig && type !== nsec);
  if (cname === undefined || others.length === 0) return;
  faults.push({
    code: "cname-and-other",
    where: setKey(cname.owner, "CNAME"),
    message: `${cname.owner} has a CNAME record and also ${others.join(", ")}`,
    todo: "a name with a CNAME record can have no other records: remove one or the other",
  });
}

function checkTwice(sets: readonly RRset[], faults: Fault[]): void {
  const seen = new Set<string>();
  for (const set of sets) {
    if (seen.has(set.type)) {
      faults.push({
        code: "duplicate-set",
        where: setKey(set.owner, set.type),
        message: `the ${set.type} set at ${set.owner} is given twice`,
        todo: "put all its records into one set",
      });
    }
    seen.add(set.type);
  }
}

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}...` : text);

import { parseNetwork } from "../../core/addresses/network.ts";
import type { Instant } from "../../core/instant.ts";
import { type Scope, type SetRule, wholeAccount } from "../../core/may.ts";
import { ownerOf, parseOwner, parseZoneName } from "../../core/names/name.ts";
import { nameToAscii, nameToUnicode, parseTyped } from "../../core/names/unicode.ts";
import { parseType, type RecordType, typeName } from "../../core/rdata/table.ts";
import { fail, ok, type Result } from "../../core/result.ts";
import { minute } from "../io/print-table.ts";
import { readDay } from "../io/read-day.ts";

/** The scope of a token, as given by options. */
export type TypedScope = {
  readonly readOnly?: boolean;
  readonly zone: readonly string[];
  readonly set: readonly string[];
  readonly type: readonly string[];
  readonly expires?: string;
  readonly from: readonly string[];
  readonly confirm?: "provider";
};

/** Reports all faults together, each with its option. */
export function readTokenScope(typed: TypedScope, now: Instant): Result<Scope> {
  const zones = all(typed.zone.map(readZone));
  const sets = all(typed.set.map((text) => readSet(text, zones.ok ? zones.value : [])));
  const types = all(typed.type.map((text) => readTypes(text, "--type")));
  const networks = all(typed.from.map(readFrom));
  const expires: Result<Instant | undefined> =
    typed.expires === undefined ? ok(undefined) : readExpiry(typed.expires, now);
  if (!zones.ok || !sets.ok || !types.ok || !networks.ok || !expires.ok)
    return fail(...[zones, sets, types, networks, expires].flatMap((read) => (read.ok ? [] : read.faults)));
  const rules = [...sets.value, ...types.value.map((each) => ({ types: each }))];
  return ok({
    ...wholeAccount,
    ...(typed.readOnly && { access: "read" as const }),
    ...(zones.value.length > 0 && { zones: zones.value }),
    ...(rules.length > 0 && { sets: rules }),
    ...(expires.value !== undefined && { expires: expires.value }),
    ...(networks.value.length > 0 && { networks: networks.value }),
    ...(typed.confirm && { confirm: typed.confirm }),
  });
}

export const scopeInWords = (scope: Scope): string =>
  `may ${scope.access === "read" ? "read" : "read and write"} ${reachInWords(scope, "all its zones")}`;

/** Which sets a scope covers, from where and until when; not whether it allows writing. */
export function reachInWords({ zones, sets, expires, networks }: Scope, everywhere: string): string {
  const what = sets === undefined ? "" : `${sets.map(ruleInWords).join(", ")} in `;
  const where = zones === undefined ? everywhere : zones.map(nameToUnicode).join(", ");
  return [
    `${what}${where}`,
    ...(networks === undefined ? [] : [`from ${networks.join(", ")}`]),
    ...(expires === undefined ? [] : [`until ${minute(expires)}`]),
  ].join(" ");
}

const ruleInWords = ({ owner, types }: SetRule): string =>
  [
    owner === undefined ? "any name" : nameToUnicode(owner),
    ...(types === undefined ? [] : [types.map(typeName).join("/")]),
  ].join(" ");

function readZone(text: string): Result<string> {
  const name = parseTyped(parseZoneName, text);
  return name.ok ? name : fail(...name.faults.map((fault) => ({ ...fault, where: `--zone ${text}` })));
}

/**
 * `home A,AAAA`, or `home` for all types. A name that ends with one of the zones is absolute, with or without a dot.
 */
function readSet(text: string, zones: readonly string[]): Result<SetRule> {
  const where = `--set ${text}`;
  const [name = "", types, ...more] = text.trim().split(/\s+/);
  if (name === "" || more.length > 0) {
    return fail({ code: "bad-set", where, message: 'must be a name and types, such as "home A,AAAA"' });
  }
  const owner = readOwner(name, zones, where);
  const read = types === undefined ? ok(undefined) : readTypes(types, where);
  if (!owner.ok || !read.ok) return fail(...(owner.ok ? [] : owner.faults), ...(read.ok ? [] : read.faults));
  return ok({ owner: owner.value, ...(read.value && { types: read.value }) });
}

function readOwner(text: string, zones: readonly string[], where: string): Result<string> {
  const ascii = nameToAscii(text, where);
  if (!ascii.ok) return ascii;
  const whole = ascii.value.replace(/\.$/, "").toLowerCase();
  const owner = zones.map((zone) => ownerOf(whole, zone)).find((each) => each !== undefined);
  // A name that does not end with one of the zones is relative to each of them.
  return owner === undefined ? parseOwner(ascii.value, zones[0] ?? "zone.invalid", where) : ok(owner);
}

function readTypes(text: string, where: string): Result<readonly RecordType[]> {
  return all(
    text.split(",").map((word) => {
      const type = parseType(word.trim());
      const message = `${JSON.stringify(word)} is not a record type`;
      return type === undefined ? fail({ code: "unknown-type", where, message }) : ok(type);
    }),
  );
}

function readFrom(text: string): Result<string> {
  if (parseNetwork(text) !== undefined) return ok(text);
  return fail({
    code: "bad-network",
    where: `--from ${text}`,
    message: "must be a network such as 192.0.2.0/24 or 2001:db8::/32, or one address",
  });
}

/** `90d`, `12h`, `1y` from now; or the end of a day; or a time. All in UTC. */
function readExpiry(text: string, now: Instant): Result<Instant> {
  const where = `--expires ${text}`;
  const [, count, unit = ""] = /^(\d{1,4})([hdwmy])$/.exec(text) ?? [];
  const expires = count === undefined ? readMoment(text) : now + Number(count) * (units[unit] ?? 0);
  if (Number.isNaN(expires)) {
    const message =
      "must be a time from now such as 90d, a day such as 2027-12-31, or a time such as 2027-12-31T18:00:00Z";
    return fail({ code: "bad-time", where, message });
  }
  return expires > now ? ok(expires) : fail({ code: "past", where, message: "is in the past" });
}

/** The end of a day, or a time. NaN for anything else: `Date.parse` alone would read 40 as the year 2040. */
function readMoment(text: string): number {
  const [, day = "", time = "T24:00:00", zone = "Z"] =
    /^([\d-]+)(?:(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(text) ?? [];
  return readDay(day) === undefined ? Number.NaN : Date.parse(`${day}${time}${zone}`);
}

const hour = 3_600_000;
const units: Readonly<Record<string, number>> = {
  h: hour,
  d: 24 * hour,
  w: 168 * hour,
  m: 730 * hour,
  y: 8760 * hour,
};

const all = <T>(results: readonly Result<T>[]): Result<readonly T[]> => {
  const faults = results.flatMap((result) => (result.ok ? [] : result.faults));
  return faults.length > 0 ? fail(...faults) : ok(results.flatMap((result) => (result.ok ? [result.value] : [])));
};

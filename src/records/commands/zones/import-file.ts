import { lowestTtl } from "../../../contract/rrsets-limits.ts";
import { withFittingExpire } from "../../../core/dnssec/soa-expire.ts";
import type { Instant } from "../../../core/instant.ts";
import { apex } from "../../../core/names/name.ts";
import { checkingNewSets } from "../../../core/records/check-new-sets.ts";
import { checkingZone } from "../../../core/records/check-zone.ts";
import { type RRset, setKey, type ZoneRecord } from "../../../core/records/rrset.ts";
import { withSerial } from "../../../core/records/serial.ts";
import type { Fault } from "../../../core/result.ts";
import { eachInSteps, mapInSteps, type Steps } from "../../../core/steps.ts";
import { withHigherTtls } from "../../../core/zone-file/higher-ttls.ts";
import type { ZoneFile } from "../../../core/zone-file/parse.ts";
import { isOwnSet, type OwnSets, placeInFile } from "../../../core/zone-file/sets.ts";
import type { ZoneKey, ZoneSettings } from "../../model.ts";
import { newRecordIds } from "../../new-id.ts";
import { type Actor, type NotDone, permissionsAt, refused } from "../../queries/permitted-view.ts";
import type { ActionDecision, ActionRule, WriteView } from "../../store/port.ts";
import { publishedEditFaults } from "../edit/check-published.ts";
import { lockFault, lockFaults, signingFaults, zoneFaults } from "../edit/check-write.ts";
import type { Done, IdempotencyOption } from "../requests.ts";
import { authorOf, noChange, writeObstacle } from "../write.ts";
import { importedSets } from "./create-delete.ts";

/**
 * How one of the APIs turns a zone file into sets. `nameservers`: a zone that has them must not lose them; undefined:
 * it may. `merge`: sets that are not in the file stay, and those in it keep the labels that it does not name. `own`:
 * absent, they are those of the file.
 */
export type ImportManner =
  | { readonly kind: "v1" }
  | {
      readonly kind: "rrsets";
      readonly nameservers: readonly string[] | undefined;
      readonly merge: boolean;
      readonly own?: OwnSets | undefined;
    };

/** Makes a zone equal to a file that has been read. */
export type ImportFile = IdempotencyOption & {
  readonly kind: "import-file";
  readonly actor: Actor;
  readonly at: ZoneKey;
  readonly manner: ImportManner;
  readonly file: ZoneFile;
  /** The name of the action, if it is one. */
  readonly action: string | undefined;
  readonly parts: number;
  /** A preview: as in `Command`. */
  readonly isTrial?: boolean | undefined;
  readonly now: Instant;
};

/** `notes`: what is stored differently than it is written in the file. */
export type ImportDone = Done & { readonly notes?: readonly string[] };

type ImportStamp = { readonly now: Instant; readonly newId: (i: number) => string };

export function importFileRule(command: ImportFile): ActionRule<ImportDone | NotDone> {
  const { actor, at, manner, action, now, idempotencyKey } = command;
  const permissions = permissionsAt(() => now);
  const stamp = { now, newId: newRecordIds() };
  const [setsOf, findingFaults] =
    manner.kind === "v1" ? [keptSets, findingV1Faults] : ([importedSets, findingRrsetsFaults] as const);
  return {
    kind: "action",
    request: { ...authorOf(actor, now), at, owners: "all", ...(idempotencyKey && { idempotencyKey }) },
    *decide(view): Steps<ActionDecision<ImportDone | NotDone>> {
      const obstacle = writeObstacle(permissions, actor, view.zone);
      if (obstacle) return noChange(obstacle);
      const merge = manner.kind === "rrsets" && manner.merge;
      const { file, notes } = fittingFile(view, command);
      const inFile = yield* setsOf(view, file.sets, stamp);
      const sets = merge ? yield* mergedWith(view, inFile, file.ttl) : [...keptOwn(view, manner, file), ...inFile];
      const wanted = view.zone.settings.dnssec ? withFittingExpire(sets) : sets;
      const faults = yield* findingFaults(view, wanted, command);
      if (faults.length > 0) return noChange(refused(faults));
      const settings = { ...view.zone.settings, ...ofFile(manner, file) };
      return { wanted, settings, ...(action && { actionName: action }), result: { kind: "done", notes } };
    },
  };
}

function* findingV1Faults(
  { zone, sets }: WriteView,
  wanted: readonly RRset[],
  { file }: ImportFile,
): Steps<readonly Fault[]> {
  const refusals = [...(yield* checkingZone(wanted)), ...(yield* checkingNewSets(sets, wanted))];
  const ofZone = [...zoneFaults(zone), ...lockFaults(sets, wanted), ...signingFaults(zone, sets, wanted)];
  const ofProvider = publishedEditFaults(zone, sets, wanted);
  return placeInFile([...ofZone, ...ofProvider, ...refusals], file.sets);
}

function* findingRrsetsFaults(
  { zone, sets: before }: WriteView,
  wanted: readonly RRset[],
  { manner, file }: ImportFile,
): Steps<readonly Fault[]> {
  const clashes = yield* checkingZone(wanted);
  const refusals = yield* checkingNewSets(before, wanted);
  const servers = manner.kind === "rrsets" ? manner.nameservers : undefined;
  return [
    ...zoneFaults(zone),
    ...(manner.kind === "rrsets" && manner.merge
      ? lockFaults(before, wanted)
      : before.filter((set) => set.locked).map(lockFault)),
    ...publishedEditFaults(zone, before, wanted),
    ...(servers ? lostServers(serversNamed(before), serversNamed(wanted), servers) : []),
    ...placeInFile([...clashes, ...signingFaults(zone, before, wanted), ...refusals], file.sets),
  ];
}

function fittingFile({ sets: before }: WriteView, { manner, file }: ImportFile) {
  if (manner.kind === "v1") return { file, notes: [] };
  const { raised, ttl, sets } = withHigherTtls(withoutOwn(file, manner.own), lowestTtl, before);
  return { file: { ...file, ttl, sets }, notes: raised };
}

export const withoutOwn = (file: ZoneFile, own: OwnSets | undefined): ZoneFile =>
  own === "zone" ? { ...file, sets: file.sets.filter((set) => !isOwnSet(set)) } : file;

/** The SOA and NS sets of the zone that stay, with their TTL under another default. */
function keptOwn({ zone, sets }: WriteView, manner: ImportManner, file: ZoneFile): readonly RRset[] {
  if (manner.kind === "v1" || manner.own === undefined) return [];
  const ownTtl = file.ttl === undefined || file.ttl === zone.settings.ttl ? null : zone.settings.ttl;
  const isGone = ({ type }: RRset) => file.sets.some((set) => isOwnSet(set) && set.type === type);
  return sets.flatMap((set) => (isOwnSet(set) && !isGone(set) ? [{ ...set, ttl: set.ttl ?? ownTtl }] : []));
}

/** The settings of a zone that a file has. A merge keeps the default TTL. */
const ofFile = (manner: ImportManner, { ttl, marks: { labels, locked } }: ZoneFile): Partial<ZoneSettings> =>
  manner.kind === "v1"
    ? { ...(ttl !== undefined && { ttl }) }
    : {
        ...(ttl !== undefined && !manner.merge && { ttl }),
        ...(labels && { labels }),
        ...(locked && { locked }),
      };

/**
 * The sets of a zone, with those of a file in the place of sets of the same name and type. The zone keeps its default
 * TTL, so sets that rely on that of the file get it as their own.
 */
function* mergedWith({ zone, sets }: WriteView, inFile: readonly RRset[], fileTtl?: number): Steps<readonly RRset[]> {
  const ownTtl = fileTtl === zone.settings.ttl ? null : (fileTtl ?? null);
  const merged = new Map(yield* mapInSteps(sets, (set) => [setKey(set.owner, set.type), set] as const));
  yield* eachInSteps(inFile, (set) => {
    const key = setKey(set.owner, set.type);
    merged.set(key, { ...merged.get(key), ...set, ttl: set.ttl ?? ownTtl });
  });
  return [...merged.values()];
}

/** Existing records keep their ids, times and spelling. If the file has no SOA record, the zone keeps its own. */
function* keptSets(
  { zone, sets }: WriteView,
  inFile: ZoneFile["sets"],
  { now, newId }: ImportStamp,
): Steps<readonly RRset[]> {
  const before = new Map(yield* mapInSteps(sets, (set) => [setKey(set.owner, set.type), set] as const));
  let made = 0;
  const wanted = yield* mapInSteps(inFile, (set): RRset => {
    const old = before.get(setKey(set.owner, set.type));
    const oldRecords = new Map(old?.records.map((record) => [record.rdata, record]));
    const records = set.records.map(({ value, rdata, comment }): ZoneRecord => {
      const data = set.type === "SOA" ? withSerial(rdata, zone.serial) : rdata;
      const same = oldRecords.get(data);
      if (same !== undefined && (comment === "" || comment === same.comment)) return same;
      if (same !== undefined) return { ...same, comment, modified: now };
      const text = set.type === "SOA" ? data : value;
      made += 1;
      return { id: newId(made), name: set.owner, value: text, rdata: data, comment, created: now, modified: now };
    });
    return { ...old, owner: set.owner, type: set.type, ttl: set.ttl, records };
  });
  const soa = before.get(setKey(apex, "SOA"));
  return soa === undefined || wanted.some((set) => set.type === "SOA") ? wanted : [soa, ...wanted];
}

const serversNamed = (sets: readonly RRset[]): readonly string[] =>
  sets.filter((set) => set.owner === "@" && set.type === "NS").flatMap((set) => set.records.map((r) => r.rdata));

/**
 * Servers that answer for the zone and are in its NS set cannot be removed by an import: that is most likely an
 * oversight. All names are absolute, with a trailing dot.
 */
function lostServers(had: readonly string[], has: readonly string[], nameservers: readonly string[]): readonly Fault[] {
  return nameservers
    .filter((server) => had.includes(server) && !has.includes(server))
    .map((server) => ({
      code: "nameserver-missing",
      where: "zonefile",
      message: `the file does not list the nameserver ${server}`,
      todo: `add the line: @ IN NS ${server}`,
    }));
}

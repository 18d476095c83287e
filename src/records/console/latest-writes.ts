import type { LatestWrite } from "../../contract/overview.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { shownValue } from "../api/rrsets/wire.ts";
import type { LoggedChange, SettingsChange, ZoneSettings } from "../model.ts";

export const sameValues = (one: RRset, other: RRset): boolean =>
  JSON.stringify(valuesOf(one).toSorted()) === JSON.stringify(valuesOf(other).toSorted());

export const valuesOf = ({ type, records }: RRset): readonly string[] =>
  records.map((record) => shownValue(type, record));

export const iso = (at: number): string => new Date(at).toISOString();

const [mostWrites, mostSets, mostValues, longestValue] = [10, 3, 3, 120];

/** The latest writes, with the first few sets of each. */
export function latestWrites(changes: readonly LoggedChange[]): readonly LatestWrite[] {
  const writes = [...Map.groupBy(changes, ({ zone, serial }) => `${zone} ${serial}`).values()];
  return writes.slice(0, mostWrites).flatMap((its) => {
    const [first] = its;
    if (first === undefined) return [];
    const { zoneName: zone, serial, at, actor: by } = first;
    // If the zone was created or deleted, only that is shown.
    const told = tellingOf(its);
    const sets = told.slice(0, mostSets).map(({ change }) => {
      if (change.kind === "settings")
        return { kind: change.kind, owner: null, type: null, before: [], after: [], others: settingsInWords(change) };
      const { kind, owner, type, before, after } = change;
      const others = before && after && sameValues(before, after) ? otherChanges(before, after) : [];
      return { kind, owner, type, before: fewValues(before), after: fewValues(after), others };
    });
    return [{ zone, serial, at: iso(at), by, sets, more: told.length - sets.length }];
  });
}

/**
 * The changes of a write that say what was done. A created or deleted zone says it all; the SOA record changes with
 * the settings.
 */
function tellingOf(write: readonly LoggedChange[]): readonly LoggedChange[] {
  const whole = write.filter(isWholeZone);
  if (whole.length > 0) return whole;
  const hasSettings = write.some(({ change }) => change.kind === "settings");
  return hasSettings ? write.filter(({ change }) => change.kind === "settings" || change.type !== "SOA") : write;
}

const isWholeZone = ({ change }: LoggedChange): boolean =>
  change.kind !== "settings" && change.type === "SOA" && (change.before === null || change.after === null);

function otherChanges(before: RRset, after: RRset): readonly string[] {
  const comments = ({ records }: RRset) => records.map(({ rdata, comment }) => `${rdata} ${comment}`).toSorted();
  const isOther = (of: (set: RRset) => unknown) => JSON.stringify(of(before)) !== JSON.stringify(of(after));
  return [
    ...(before.ttl === after.ttl ? [] : [`TTL ${before.ttl ?? "default"} → ${after.ttl ?? "default"}`]),
    ...(isOther(comments) ? ["comment"] : []),
    ...(isOther(({ labels = {} }) => labels) ? ["labels"] : []),
    ...(isOther(({ locked = false }) => locked) ? ["protection"] : []),
  ];
}

function fewValues(set: RRset | null): readonly string[] {
  const values = set === null ? [] : valuesOf(set);
  const few = values
    .slice(0, mostValues)
    .map((value) => (value.length > longestValue ? `${value.slice(0, longestValue)}…` : value));
  return values.length > few.length ? [...few, `and ${values.length - few.length} more`] : few;
}

/** What became of the zone, in a few words each; empty if none of these changed. */
function settingsInWords({ before, after }: SettingsChange): readonly string[] {
  return [
    ...(before.ttl === after.ttl ? [] : [`default TTL ${before.ttl} → ${after.ttl}`]),
    ...signingInWords(before, after),
    ...publishingInWords(before, after),
    ...(before.mode === after.mode ? [] : [`now a ${after.mode} zone`]),
    ...(before.locked === after.locked ? [] : [after.locked ? "protected" : "no longer protected"]),
    ...(JSON.stringify(before.labels) === JSON.stringify(after.labels) ? [] : ["labels"]),
    ...(JSON.stringify(before.primaries) === JSON.stringify(after.primaries) ? [] : ["primary servers"]),
  ];
}

function signingInWords({ dnssec: before }: ZoneSettings, { dnssec: after }: ZoneSettings): readonly string[] {
  if (before === undefined || after === undefined) {
    if (before === after) return [];
    return [after === undefined ? "no longer signed with DNSSEC" : "signed with DNSSEC"];
  }
  const isSame = JSON.stringify(before) === JSON.stringify(after);
  return isSame || before.stage === after.stage ? [] : [stageInWords(after.stage)];
}

const stageInWords = (stage: string): string => {
  if (stage === "leaving") return "DNSSEC is being switched off";
  if (stage === "secure") return "DNSSEC is complete";
  return stage.startsWith("new") ? "DNSSEC: next stage" : "DNSSEC: the key is being replaced";
};

function publishingInWords({ published: before }: ZoneSettings, { published: after }: ZoneSettings): readonly string[] {
  if (before?.provider === after?.provider) return [];
  return [after ? `published at ${after.service}` : `no longer published at ${before?.service}`];
}

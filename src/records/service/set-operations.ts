import { ownersSeen, typesSeen } from "../../core/may.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { type Fault, ok, type Result } from "../../core/result.ts";
import type { Action, Zone, ZoneKey } from "../model.ts";
import type { Acted, DecideAct, Once, Page, SetPageQuery, WriteView } from "../store/port.ts";
import { checkWrite, soaStays, zoneFaults } from "./edit/check-write.ts";
import { newRecordIds } from "./edit/new-id.ts";
import { type Fresh, placed, setAt, withComments, withLess, withMore, withValues } from "./edit/set.ts";
import { type Place, readPlace, readValues, type ValueDraft } from "./edit/values.ts";
import type { RecordServiceOptions } from "./options.ts";
import { type Actor, denied, missing, type NotDone, refused, type Sight } from "./sight.ts";

export type SetTarget = { readonly zone: ZoneKey; readonly name: string; readonly type: string };

export type SetDraft = {
  readonly records: readonly ValueDraft[];
  /** Null: the zone's; undefined: not said. */
  readonly ttl?: number | null;
  readonly labels?: Readonly<Record<string, string>>;
  readonly locked?: boolean;
};

/** The set as it is then, undefined when it is gone. */
export type SetDone = {
  readonly kind: "done";
  readonly zone: Zone;
  readonly set: RRset | undefined;
  readonly made: boolean;
  readonly action: Action | undefined;
};
export type SetWritten = SetDone | NotDone;

/** What is asked for beside the write itself. */
export type Asked = { readonly once?: Once };

/** Says what the set shall be, or why not. */
type Rule = (at: RuleView) => Result<RRset | undefined> | NotDone;
type RuleView = {
  readonly view: WriteView;
  readonly place: Place;
  readonly set: RRset | undefined;
  readonly fresh: Fresh;
};

/** `missing`: what a set that is not there is answered with; otherwise the rule decides, and may make it. */
type Terms = {
  readonly asked?: Asked;
  readonly command?: string;
  /** What it is called when the set was not there before. */
  readonly madeCommand?: string;
  readonly absent: "missing" | "may-be-made";
  /** Labels and the lock itself can be changed on a set that is locked. */
  readonly locks: "hold" | "pass";
};

/** Record sets, each read and written as one. */
export function setOperations({ store, now }: RecordServiceOptions, sight: Sight) {
  const write = async (actor: Actor, target: SetTarget, terms: Terms, rule: Rule): Promise<SetWritten> => {
    const fresh = { now: now(), newId: newRecordIds() };
    const decide: DecideAct<Settled> = (view) => {
      const place = readPlace(target.name, target.type, view.zone.name);
      const obstacle = obstacleTo(sight, actor, view.zone, place, terms);
      if (obstacle) return leave(obstacle);
      if (!place.ok) return leave(missing("record"));
      const set = setAt(view.sets, place.value);
      if (set === undefined && terms.absent === "missing") return leave(missing("record"));
      const after = rule({ view, place: place.value, set, fresh });
      if ("kind" in after) return leave(after);
      if (!after.ok) return leave(refused(after.faults));
      return settle(view, place.value, after.value, terms);
    };
    const request = {
      account: actor.account,
      at: target.zone,
      owners: (zone: Zone) => {
        const place = readPlace(target.name, target.type, zone.name);
        return place.ok ? [place.value.owner] : [];
      },
      actor: actor.label,
      now: fresh.now,
      ...terms.asked,
    };
    const acted = await store.act(request, decide);
    if (typeof acted === "string") return notActed(acted);
    return acted.result.kind === "done" ? { ...acted.result, action: acted.action } : acted.result;
  };

  return {
    set: async (actor: Actor, target: SetTarget): Promise<SetWritten> => {
      const zone = await sight.openZone(actor, target.zone);
      if (zone === undefined) return missing("zone");
      const place = readPlace(target.name, target.type, zone.name);
      const faults = readFaults(actor, zone);
      if (faults.length > 0) return refused(faults);
      if (!place.ok || !sight.allows(actor, { kind: "read-set", zone: zone.name, ...place.value })) {
        return missing("record");
      }
      const [set] = await store.sets(zone, place.value);
      return set ? { kind: "done", zone, set, made: false, action: undefined } : missing("record");
    },

    /** `keep` chooses among those that the actor may see. */
    setPage: async (
      actor: Actor,
      key: ZoneKey,
      query: SetPageQuery,
      keep: ((set: RRset) => boolean) | undefined,
    ): Promise<{ readonly kind: "done"; readonly zone: Zone; readonly page: Page<RRset> } | NotDone> => {
      const zone = await sight.openZone(actor, key);
      if (zone === undefined) return missing("zone");
      const faults = readFaults(actor, zone);
      if (faults.length > 0) return refused(faults);
      if (keep === undefined && actor.scope.sets === undefined) {
        return { kind: "done", zone, page: await store.setPage(zone, query) };
      }
      const seenOwners = ownersSeen(actor.scope);
      const owners = seenOwners && (query.owners?.filter((owner) => seenOwners.includes(owner)) ?? seenOwners);
      const seenTypes = typesSeen(actor.scope);
      const types = seenTypes && (query.types?.filter((type) => seenTypes.includes(type)) ?? seenTypes);
      const only = { ...(owners && { owners }), ...(types && { types }) };
      const whole = { ...query, ...only, page: 1, perPage: Number.MAX_SAFE_INTEGER };
      const { items } = await store.setPage(zone, whole);
      const seen = items.filter(({ owner, type }) =>
        sight.allows(actor, { kind: "read-set", zone: zone.name, owner, type }),
      );
      const kept = keep ? seen.filter(keep) : seen;
      const from = (query.page - 1) * query.perPage;
      return { kind: "done", zone, page: { items: kept.slice(from, from + query.perPage), total: kept.length } };
    },

    createSet: (actor: Actor, target: SetTarget, draft: SetDraft, asked: Asked = {}) => {
      const terms = { asked, command: "create_rrset", absent: "may-be-made", locks: "hold" } as const;
      return write(actor, target, terms, ({ view, place, set, fresh }) => {
        if (set !== undefined) return refused([setExists(place)]);
        const values = readValues(place.type, draft.records, view.zone);
        if (!values.ok) return values;
        const { labels, locked, ttl = null } = draft;
        const marks = { ...(labels && { labels }), ...(locked && { locked }) };
        return ok({ ...withValues(place, undefined, values.value, fresh), ttl, ...marks });
      });
    },

    /** Creates the set, or replaces its records; a TTL or labels that are not said stay. */
    putSet: (actor: Actor, target: SetTarget, draft: SetDraft, asked: Asked = {}) => {
      const terms = { asked, absent: "may-be-made", locks: "hold" } as const;
      const commands = { command: "set_rrset_records", madeCommand: "create_rrset" };
      return write(actor, target, { ...terms, ...commands }, (at) => putIn(at, draft));
    },

    replaceRecords: (actor: Actor, target: SetTarget, records: readonly ValueDraft[], asked: Asked = {}) => {
      const terms = { asked, command: "set_rrset_records", absent: "missing", locks: "hold" } as const;
      return write(actor, target, terms, (at) => putIn(at, { records }));
    },

    addRecords: (actor: Actor, target: SetTarget, draft: SetDraft, asked: Asked = {}) => {
      const terms = { asked, command: "add_rrset_records", absent: "may-be-made", locks: "hold" } as const;
      return write(actor, target, terms, ({ view, place, set, fresh }) => {
        const values = readValues(place.type, draft.records, view.zone);
        if (!values.ok) return values;
        const more = { values: values.value, ttl: draft.ttl ?? null, zoneTtl: view.zone.settings.ttl };
        return withMore(place, set, more, fresh);
      });
    },

    removeRecords: (actor: Actor, target: SetTarget, records: readonly ValueDraft[], asked: Asked = {}) => {
      const terms = { asked, command: "remove_rrset_records", absent: "missing", locks: "hold" } as const;
      return write(actor, target, terms, ({ view, place, set }) => {
        const values = readValues(place.type, records, view.zone);
        return values.ok ? ok(set && withLess(set, values.value)) : values;
      });
    },

    updateComments: (actor: Actor, target: SetTarget, records: readonly ValueDraft[], asked: Asked = {}) => {
      const terms = { asked, command: "update_rrset_records", absent: "missing", locks: "hold" } as const;
      return write(actor, target, terms, ({ view, place, set, fresh }) => {
        const values = readValues(place.type, records, view.zone);
        return values.ok && set ? withComments(set, values.value, fresh.now) : values.ok ? ok(set) : values;
      });
    },

    changeSetTtl: (actor: Actor, target: SetTarget, ttl: number | null, asked: Asked = {}) => {
      const terms = { asked, command: "change_rrset_ttl", absent: "missing", locks: "hold" } as const;
      return write(actor, target, terms, ({ set }) => ok(set && { ...set, ttl }));
    },

    lockSet: (actor: Actor, target: SetTarget, locked: boolean, asked: Asked = {}) => {
      const terms = { asked, command: "change_rrset_protection", absent: "missing", locks: "pass" } as const;
      return write(actor, target, terms, ({ set }) => ok(set && { ...set, locked }));
    },

    /** Without labels it changes nothing, and is no mistake. */
    labelSet: (actor: Actor, target: SetTarget, labels: Readonly<Record<string, string>> | undefined) =>
      write(actor, target, { absent: "missing", locks: "pass" }, ({ set }) =>
        ok(set && (labels === undefined ? set : { ...set, labels })),
      ),

    deleteSet: (actor: Actor, target: SetTarget) => {
      const terms = { command: "delete_rrset", absent: "missing", locks: "hold" } as const;
      return write(actor, target, terms, () => ok(undefined));
    },
  };
}

type Settled = Omit<SetDone, "action"> | NotDone;

const leave = (result: NotDone) => ({ wanted: undefined, result });

/** What the store says instead of an outcome. */
export const notActed = (reason: "no-zone" | "key-taken"): NotDone =>
  reason === "no-zone" ? missing("zone") : refused([keyTaken]);

/** There is no such zone for this actor: only what was done under the key before can be told. */
export const actedBefore = async (
  { store, now }: RecordServiceOptions,
  actor: Actor,
  at: ZoneKey,
  asked: Asked,
): Promise<Acted<NotDone> | "no-zone" | "key-taken"> => {
  const request = { account: actor.account, at, owners: () => [], actor: actor.label, now: now(), ...asked };
  return asked.once === undefined ? "no-zone" : await store.act(request, () => leave(missing("zone")));
};

/** The original shows no sets of a secondary zone to its clients; people in the console see what was transferred. */
const readFaults = (actor: Actor, zone: Zone): readonly Fault[] => (actor.token === undefined ? [] : zoneFaults(zone));

function obstacleTo(
  sight: Sight,
  actor: Actor,
  zone: Zone,
  place: Result<Place>,
  { absent }: Terms,
): NotDone | undefined {
  const refusal = place.ok ? sight.refusal(actor, { kind: "write-set", zone: zone.name, ...place.value }) : undefined;
  const faults = zoneFaults(zone);
  if (place.ok && refusal === undefined) return faults.length > 0 ? refused(faults) : undefined;
  // Who may write a set may see it; only who may not is to be told how much of it.
  if (!sight.allows(actor, { kind: "read-zone", zone: zone.name })) return missing("zone");
  if (faults.length > 0) return refused(faults);
  if (!place.ok) return absent === "missing" ? missing("record") : refused(place.faults);
  const seen = sight.allows(actor, { kind: "read-set", zone: zone.name, ...place.value });
  return absent === "missing" && !seen ? missing("record") : refusal && denied(refusal);
}

export function putIn({ view, place, set, fresh }: RuleView, draft: SetDraft, where?: string): Result<RRset> {
  const values = readValues(place.type, draft.records, view.zone, where);
  if (!values.ok) return values;
  const { ttl = set?.ttl ?? null, labels = set?.labels } = draft;
  return ok({ ...withValues(place, set, values.value, fresh), ttl, ...(labels && { labels }) });
}

function settle(
  view: WriteView,
  place: Place,
  after: RRset | undefined,
  { command, madeCommand = command, locks }: Terms,
): ReturnType<DecideAct<Settled>> {
  const wanted = placed(view.sets, place, after);
  const faults = locks === "hold" ? checkWrite(view, wanted) : [];
  if (after === undefined && place.type === "SOA") return leave(refused([soaStays]));
  if (faults.length > 0) return leave(refused(faults));
  const made = setAt(view.sets, place) === undefined;
  const called = made ? madeCommand : command;
  const result = { kind: "done", zone: view.zone, set: after, made } as const;
  return { wanted, ...(called && { command: called }), result };
}

const setExists = ({ owner, type }: Place): Fault => ({
  code: "set-exists",
  where: "name",
  message: `RRSet ${owner}/${type} already exists`,
  todo: "replace its records instead",
});

const keyTaken: Fault = {
  code: "key-taken",
  where: "Idempotency-Key",
  message: "this key was sent with another request before",
  todo: "send a new key with each new request",
};

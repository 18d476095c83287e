import type { Instant } from "../../core/instant.ts";
import { apex } from "../../core/names/name.ts";
import { readableRdata } from "../../core/rdata/rdata.ts";
import type { RecordType } from "../../core/rdata/table.ts";
import { type RRset, setKey, type ZoneRecord } from "../../core/records/rrset.ts";
import type { Fault } from "../../core/result.ts";
import type { Steps } from "../../core/steps.ts";
import { checkingWrite } from "../commands/edit/check-write.ts";
import type { Done } from "../commands/requests.ts";
import { authorOf, noChange, writeObstacle } from "../commands/write.ts";
import type { Publication, PublicationPatch, PublishedContent, Zone, ZoneKey, ZoneSettings } from "../model.ts";
import { newRecordIds } from "../new-id.ts";
import { type Actor, type NotDone, permissionsAt, refused } from "../queries/permitted-view.ts";
import type { ActionDecision, ActionRule, WriteView } from "../store/port.ts";
import { isProviders } from "./set-state.ts";

export type TakenSet = { readonly owner: string; readonly type: RecordType; readonly content: PublishedContent | null };

/** Changes how a zone is published, and takes sets from the provider. */
export type PublishZone = {
  readonly kind: "publish-zone";
  readonly actor: Actor;
  readonly at: ZoneKey;
  /** The name of the action. */
  readonly action: string;
  /** Null: no longer. Undefined: as before, but for `patch`. */
  readonly published?: Publication | null | undefined;
  /** Refused if the zone is not published any more. */
  readonly patch?: PublicationPatch;
  /** The default TTL of the zone. */
  readonly ttl?: number | undefined;
  readonly take: readonly TakenSet[];
  /** The zone is not published yet. */
  readonly isFirst?: boolean;
  /** The zone has nothing but what is taken. */
  readonly takesAll: boolean;
  readonly parts: number;
  /** A preview: as in `Command`. */
  readonly isTrial?: boolean | undefined;
  readonly now: Instant;
};

export function publishZoneRule(command: PublishZone): ActionRule<Done | NotDone> {
  const { actor, at, action, take, takesAll, now } = command;
  const permissions = permissionsAt(() => now);
  const newId = newRecordIds();
  function* deciding(view: WriteView): Steps<ActionDecision<Done | NotDone>> {
    const obstacle = writeObstacle(permissions, actor, view.zone);
    if (obstacle) return noChange(obstacle);
    const { settings: before } = view.zone;
    // Two requests at the same time: the other one was first.
    if (command.isFirst && before.published) return noChange(refused([publishedAlready(view.zone.name)]));
    // Another request has ended the publication meanwhile.
    if (command.patch && !before.published) return noChange(refused([notPublished(view.zone.name)]));
    const wanted = takenSets(view.sets, command, newId);
    const faults = yield* checkingWrite({ ...view, zone: unpublished(view.zone) }, wanted);
    if (faults.length > 0) return noChange(refused(faults));
    const settings = newSettings(view.zone.settings, command);
    return { wanted, ...(settings && { settings }), actionName: action, result: { kind: "done" } };
  }
  const owners = takesAll ? "all" : () => take.map(({ owner }) => owner);
  return { kind: "action", request: { ...authorOf(actor, now), at, owners }, decide: deciding };
}

const publishedAlready = (name: string): Fault => ({
  code: "not-publishable",
  where: "zone",
  message: `${name} is published already`,
  todo: "unpublish it first",
});

export const notPublished = (zone: string): Fault => ({
  code: "not-published",
  where: "zone",
  message: `${zone} is not published at a provider`,
});

/** What comes from the provider need not follow its rules for writes. */
const unpublished = (zone: Zone): Zone => ({ ...zone, settings: withoutPublication(zone.settings) });

function withoutPublication({ published: _, ...others }: ZoneSettings): ZoneSettings {
  return others;
}

function newSettings(before: ZoneSettings, { published, patch, ttl, now }: PublishZone): ZoneSettings | undefined {
  if (patch && before.published) {
    const { askedFor: _, ...others } = before.published;
    return { ...before, published: { ...others, ...patch, asked: Math.max(now, (others.asked ?? 0) + 1) } };
  }
  if (published === undefined) return undefined;
  return { ...withoutPublication(before), ttl: ttl ?? before.ttl, ...(published && { published }) };
}

/** Sets that stay the same keep their ids and spelling. */
export function takenSets(
  before: readonly RRset[],
  { take, takesAll, now }: Pick<PublishZone, "take" | "takesAll" | "now">,
  newId: (i: number) => string,
): readonly RRset[] {
  const all = new Map(before.map((set) => [setKey(set.owner, set.type), set]));
  const wanted = new Map(takesAll ? [...all].filter(([, set]) => isProviders(set)) : all);
  let made = 0;
  for (const { owner, type, content } of take) {
    const key = setKey(owner, type);
    if (content === null) {
      wanted.delete(key);
      continue;
    }
    const old = all.get(key);
    const oldRecords = new Map(old?.records.map((record) => [record.rdata, record]));
    const records = content.values.map((rdata): ZoneRecord => {
      const same = oldRecords.get(rdata);
      if (same) return same;
      made += 1;
      const value = readableRdata(type, rdata);
      return { id: newId(made), name: owner, value, rdata, comment: "", created: now, modified: now };
    });
    wanted.set(key, { ...old, owner, type, ttl: content.ttl, records });
  }
  return [...wanted.values()];
}

/** The NS records of the zone itself, which are only shown. */
export const isApexNs = ({ owner, type }: Pick<TakenSet, "owner" | "type">): boolean => owner === apex && type === "NS";

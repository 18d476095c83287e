import { parseOwner } from "../../core/names/name.ts";
import { parseType } from "../../core/rdata/table.ts";
import { setKey } from "../../core/records/rrset.ts";
import type { Fault } from "../../core/result.ts";
import { mapFound } from "../../providers/answers/list-in.ts";
import type { ProviderContent } from "../../providers/provider.ts";
import type { Done, NewZoneDraft, SetTarget, Written } from "../commands/requests.ts";
import { toWritten, writeObstacle } from "../commands/write.ts";
import {
  type DriftRule,
  OverQuota,
  type Publication,
  type PublicationPatch,
  type PublishedSet,
  type StoredProvider,
  type Zone,
  type ZoneKey,
} from "../model.ts";
import { newRecordIds } from "../new-id.ts";
import type { RecordServiceOptions } from "../options.ts";
import { type Actor, missing, type NotDone, type PermittedView, refused } from "../queries/permitted-view.ts";
import { readZone } from "../queries/read-zone.ts";
import { nextRow } from "./next-row.ts";
import { readFault } from "./open-accounts.ts";
import { type Fill, ownSets, type Preview, previewOf } from "./preview.ts";
import { OpenedAccount } from "./provider-accounts.ts";
import {
  type Asking,
  limitAsking,
  type OpenedProvider,
  type ProviderOperations,
  providerOperations,
  type ToPublish,
} from "./provider-operations.ts";
import { isApexNs, notPublished, type PublishZone, publishZoneRule, type TakenSet, takenSets } from "./publish-rule.ts";
import { isReadableContent, ttlsOf } from "./set-state.ts";
import { stateOperations } from "./state-operations.ts";
import { contentAt, withoutMixedTtls } from "./theirs.ts";

export type PublishDraft = {
  readonly digest: string;
  readonly fill: Fill;
  readonly drift: DriftRule;
  /** In seconds. */
  readonly readEvery: number;
};

/** Milliseconds for reading a whole zone from a provider. */
const longestRead = 120_000;

type Reading = {
  readonly zone: Zone;
  /** The zone is not here yet. */
  readonly isNew: boolean;
  readonly content: ProviderContent;
  readonly there: number | undefined;
  readonly preview: Omit<Preview, "refused">;
  readonly rules: Publication["rules"];
};

/** What a caller can do about zones that are published at a provider. */
export function frontOperations(options: RecordServiceOptions, permittedView: PermittedView, createZone: CreateZone) {
  const asking = limitAsking();
  const providers = providerOperations(options, permittedView, asking);
  const tools = toolsOf(options, permittedView);
  return {
    ...providers,
    ...publishOperations({ ...tools, createZone, asking }, providers.openProviderFor),
    ...changeOperations(tools),
    ...stateOperations(options, permittedView),
  };
}

type Tools = {
  readonly options: RecordServiceOptions;
  readonly zoneFor: (actor: Actor, key: ZoneKey) => Promise<Zone | NotDone>;
  readonly run: (command: Omit<PublishZone, "kind" | "now" | "parts">) => Promise<Written>;
};

const toolsOf = (options: RecordServiceOptions, permittedView: PermittedView): Tools => ({
  options,
  zoneFor: async (actor, key) => {
    const zone = await permittedView.openZone(actor, key);
    return zone ? (writeObstacle(permittedView, actor, zone) ?? zone) : missing("zone");
  },
  run: async (command) => {
    const { store, now } = options;
    const whole: PublishZone = { ...command, kind: "publish-zone", parts: command.take.length, now: now() };
    return toWritten<Done>(await store.run(whole, publishZoneRule));
  },
});

type CreateZone = (
  actor: Actor,
  draft: NewZoneDraft,
) => Promise<{ readonly kind: "done"; readonly zone: Zone } | NotDone>;

type PublishTools = Tools & { readonly createZone: CreateZone; readonly asking: Asking };

function publishOperations(tools: PublishTools, open: ProviderOperations["openProviderFor"]) {
  const { options, zoneFor, createZone, asking } = tools;
  /** Reads the zone at the provider, and lets `then` decide. */
  const reading = async <T extends Done>(
    actor: Actor,
    key: ZoneKey,
    { provider, create }: ToPublish,
    then: (read: Reading, opened: OpenedProvider) => Promise<T | NotDone>,
  ): Promise<T | NotDone> => {
    let zone = await zoneFor(actor, key);
    const isNew = create && "kind" in zone && zone.kind === "missing" && "name" in key;
    if (isNew) {
      const tried = await createZone(actor, { name: key.name, isTrial: true });
      zone = tried.kind === "done" ? { ...tried.zone, serial: 0 } : tried;
    }
    if ("kind" in zone) return zone;
    const faults = unfitFaults(zone);
    if (faults.length > 0) return refused(faults);
    const found = { zone, isNew };
    return await asking(actor, async () => {
      const opened = await open(actor, provider);
      if ("kind" in opened) return opened;
      try {
        const read = await readThere(options, found, opened);
        return "kind" in read ? read : await then(read, opened);
      } finally {
        opened.provider.close();
      }
    });
  };

  return {
    /** Writes nothing, and checks what `publishZone` checks. */
    previewPublication: (
      actor: Actor,
      key: ZoneKey,
      wanted: ToPublish,
    ): Promise<{ kind: "done"; preview: Preview } | NotDone> =>
      reading(actor, key, wanted, async (read) => {
        const [theirs, ours] = [
          await obstacleTo(tools, actor, read, "theirs"),
          await obstacleTo(tools, actor, read, "ours"),
        ];
        for (const obstacle of [theirs, ours]) if (obstacle && obstacle.kind !== "refused") return obstacle;
        const byFill = { theirs: faultsOf(theirs), ours: faultsOf(ours) };
        return { kind: "done" as const, preview: { ...read.preview, refused: byFill } };
      }),

    /** Nothing was written to the provider before; from now on, the publisher does. */
    publishZone: (actor: Actor, key: ZoneKey, wanted: ToPublish, draft: PublishDraft): Promise<Written> =>
      reading(actor, key, wanted, async (read, opened) => {
        const { service, digest } = read.preview;
        if (digest !== draft.digest) return refused([changedSince(service)]);
        const obstacle = await obstacleTo(tools, actor, read, draft.fill);
        if (obstacle) return obstacle;
        const account = await opened.keep();
        return "id" in account ? await publish(tools, actor, read, { ...draft, account }) : account;
      }),
  };
}

const faultsOf = (obstacle: NotDone | undefined): readonly Fault[] =>
  obstacle?.kind === "refused" ? obstacle.faults : [];

/** What the zone takes from the provider. */
const takenIn = ({ content }: Reading, fill: Fill) => {
  const isTheirs = fill === "theirs";
  const taken = [...content.sets.filter(isApexNs), ...(isTheirs ? ownSets(content) : [])];
  return { take: taken.map(asTaken), takesAll: isTheirs };
};

/** Why the zone cannot be published so. It runs all checks of the write, and writes nothing. */
async function obstacleTo(tools: PublishTools, actor: Actor, read: Reading, fill: Fill): Promise<NotDone | undefined> {
  const { store } = tools.options;
  const { zone, isNew, preview } = read;
  if (fill === "ours" && isNew) return refused([nothingHere(zone.name, preview.service)]);
  if (fill === "ours" && preview.notAllowed.length > 0)
    return refused(preview.notAllowed.map(({ owner, type, because }) => notTaken(setKey(owner, type), because)));
  // What the last provider still answers must not count for this one: its publication ends first.
  if (!isNew && (await store.publishedZone(zone.number))) return refused([notEnded(zone.name)]);
  try {
    const tried = isNew
      ? await createFilled(tools, actor, read, true)
      : await tools.run({ ...firstFill(actor, zone, takenIn(read, fill)), isTrial: true });
    return tried.kind === "done" ? undefined : tried;
  } catch (error) {
    if (!(error instanceof OverQuota)) throw error;
    return refused([{ code: "over-quota", where: "zone", message: error.message }]);
  }
}

const firstFill = (actor: Actor, { number }: Zone, taken: ReturnType<typeof takenIn>) => ({
  actor,
  at: { number },
  action: "publish_zone",
  isFirst: true,
  ...taken,
});

/** The zone with everything that the provider has: nobody sees it empty. */
function createFilled({ options, createZone }: PublishTools, actor: Actor, read: Reading, isTrial: boolean) {
  const sets = takenSets([], { ...takenIn(read, "theirs"), now: options.now() }, newRecordIds());
  return createZone(actor, { name: read.zone.name, content: { kind: "taken", sets, ttl: read.there }, isTrial });
}

async function publish(
  tools: PublishTools,
  actor: Actor,
  read: Reading,
  { fill, drift, readEvery, account }: PublishDraft & { readonly account: StoredProvider },
): Promise<Written> {
  const { store, now } = tools.options;
  const { content, there, rules, preview } = read;
  const created = read.isNew ? await createFilled(tools, actor, read, false) : undefined;
  if (created && created.kind !== "done") return created;
  const zone = created?.zone ?? read.zone;
  const first = { through: await store.lastChange(), waiting: 0, ttl: there, readAt: now(), trouble: undefined };
  if (!(await store.beginPublishing(zone.number, first))) return refused([notEnded(zone.name)]);
  const rows = ownSets(content).map((set) => publishedRow(set, now()));
  await store.putPublishedSets(zone.number, rows);
  const { id: provider, name } = account;
  const published: Publication = { provider, name, service: preview.service, rules, drift, readEvery };
  const ttl = fill === "theirs" ? there : undefined;
  const written = await tools.run({ ...firstFill(actor, zone, takenIn(read, fill)), published, ttl });
  if (written.kind === "done") return written;
  // Unless another request has published it meanwhile.
  const after = await store.zoneBy(zone.account, { number: zone.number });
  if (after?.settings.published === undefined) await store.forgetPublished(zone.number);
  return written;
}

/** Reads the zone at the provider, and compares it. */
async function readThere(
  { store, now }: RecordServiceOptions,
  { zone, isNew }: Pick<Reading, "zone" | "isNew">,
  { provider, name }: OpenedProvider,
): Promise<Reading | NotDone> {
  const { service } = provider;
  const account = new OpenedAccount({ id: 0, name, replaced: 0 }, "", { now, random: Math.random });
  account.provider = provider;
  // What the publisher has used of the token's budget is missing here too.
  const wait = provider.wait(zone.name);
  if (wait > 0) return refused([unread(`${service} takes requests again in ${Math.ceil(wait / 1_000)} seconds`)]);
  const signal = AbortSignal.timeout(longestRead);
  const there = await account.defaultTtl(zone.name, signal);
  if (there.kind !== "found") return refused([readFault(service, there)]);
  const content = mapFound(await provider.sets(zone.name, signal), withoutMixedTtls);
  if (content.kind !== "found") return refused([readFault(service, content)]);
  const taken = await account.rules(zone.name, signal);
  if (taken.kind !== "found") return refused([readFault(service, taken)]);
  const rules = taken.value;
  const sets = isNew ? [] : await readZone(store, zone);
  const ttls = ttlsOf(zone, there.value);
  const preview = previewOf(zone, sets, content.value, { service, rules, ttls });
  return { zone, isNew, content: content.value, there: there.value, preview, rules };
}

function changeOperations({ options: { store, now }, zoneFor, run }: Tools) {
  /** The zone, if it is published. */
  const publishedFor = async (actor: Actor, key: ZoneKey) => {
    const zone = await zoneFor(actor, key);
    if ("kind" in zone) return zone;
    const { published } = zone.settings;
    return published ? { zone, at: { number: zone.number } } : refused([notPublished(zone.name)]);
  };
  return {
    changePublication: async (
      actor: Actor,
      key: ZoneKey,
      patch: Pick<PublicationPatch, "drift" | "readEvery">,
    ): Promise<Written> => {
      const found = await publishedFor(actor, key);
      if ("kind" in found) return found;
      return await run({ actor, at: found.at, action: "change_publication", patch, take: [], takesAll: false });
    },

    /** The provider keeps what it has. */
    unpublishZone: async (actor: Actor, key: ZoneKey): Promise<Written> => {
      const found = await publishedFor(actor, key);
      if ("kind" in found) return found;
      return await run({ actor, at: found.at, action: "unpublish_zone", published: null, take: [], takesAll: false });
    },

    /** Ends a drift, or sends a set again that was refused. */
    decideSet: async (actor: Actor, target: SetTarget, decision: SetDecision): Promise<Written> => {
      const found = await publishedFor(actor, target.zone);
      if ("kind" in found) return found;
      const { zone, at } = found;
      const [name, type] = [parseOwner(target.name, zone.name), parseType(target.type)];
      if (!name.ok || type === undefined) return missing("record");
      const owner = name.value;
      const row = (await store.publishedSetsAt(zone.number, [owner])).find((each) => each.type === type);
      const decided = row && decidedRow(row, decision);
      if (row === undefined || decided === undefined) return refused([nothingToDecide(setKey(owner, type))]);
      const isTaken = decision === "take_theirs";
      const there = isTaken ? (await store.publishedZone(zone.number))?.ttl : undefined;
      const content = decided.held && { ...decided.held, ttl: decided.held.ttl ?? there ?? zone.settings.ttl };
      const settle = async () => {
        const change = { before: row, after: { ...decided, at: now() } };
        return (await store.replacePublishedSets(zone.number, [change])).length > 0;
      };
      if (isTaken) {
        const take = [{ owner, type, content }];
        const taken = await run({ actor, at, action: decision, take, takesAll: false });
        // The publisher also ends the drift of a set that is the same here and there, but the set may change before.
        if (taken.kind === "done") await settle();
        return taken;
      }
      // The row is written first: the publisher looks at it as soon as the settings have changed. It may have learnt
      // more about the set since.
      if (!(await settle())) return refused([nothingToDecide(setKey(owner, type))]);
      const patch = { askedFor: [{ owner, type }] };
      return await run({ actor, at, action: decision, patch, take: [], takesAll: false });
    },
  };
}

export type SetDecision = "take_theirs" | "put_ours_back" | "publish_again";

function decidedRow(row: PublishedSet, decision: SetDecision): PublishedSet | undefined {
  if (decision === "publish_again")
    return row.sent?.some(({ isRead }) => !isRead) ? undefined : row.refused && { ...row, refused: undefined };
  const { theirs } = row;
  if (theirs === undefined || !isReadableContent(theirs)) return undefined;
  return nextRow(row, { kind: "decided" });
}

const publishedRow = (set: ProviderContent["sets"][number], at: number): PublishedSet => ({
  owner: set.owner,
  type: set.type,
  held: contentAt(set),
  at,
});

const asTaken = ({ owner, type, ttl, values }: ProviderContent["sets"][number]): TakenSet => ({
  owner,
  type,
  content: { ttl, values },
});

/** Why a zone cannot be published. */
function unfitFaults({ name, settings: { mode, dnssec, published } }: Zone): readonly Fault[] {
  const unfit = (message: string, todo: string): Fault => ({ code: "not-publishable", where: "zone", message, todo });
  return [
    ...(published ? [unfit(`${name} is published at ${published.service} already`, "unpublish it first")] : []),
    ...(mode === "secondary"
      ? [unfit(`the records of ${name} come from its primary servers`, "remove them first")]
      : []),
    ...(dnssec
      ? [unfit(`${name} is signed here, and the provider would serve it unsigned`, "switch DNSSEC off first")]
      : []),
  ];
}

const unread = (because: string): Fault => ({ code: "provider-unread", where: "provider", message: because });

const changedSince = (service: string): Fault => ({
  code: "changed-since",
  where: "digest",
  message: `the zone, here or at ${service}, has changed since it was shown`,
  todo: "look at the preview again",
});

const nothingHere = (zone: string, service: string): Fault => ({
  code: "not-publishable",
  where: "fill",
  message: `${zone} is not here yet, so all its records at ${service} would be deleted`,
  todo: "take theirs",
});

const notTaken = (where: string, because: string): Fault => ({ code: "provider-rule", where, message: because });

const notEnded = (zone: string): Fault => ({
  code: "not-publishable",
  where: "zone",
  message: `${zone} is still being published or unpublished`,
  todo: "try again in a minute",
});

const nothingToDecide = (where: string): Fault => ({
  code: "nothing-to-decide",
  where,
  message: "there is nothing to decide about this set; it may have been decided already, or has just changed",
});

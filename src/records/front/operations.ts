import { parseOwner } from "../../core/names/name.ts";
import { parseType } from "../../core/rdata/table.ts";
import { setKey } from "../../core/records/rrset.ts";
import { badInput, type Fault } from "../../core/result.ts";
import { mapFound } from "../../providers/answers/list-in.ts";
import type { ProviderContent } from "../../providers/provider.ts";
import type { Done, SetTarget, Written } from "../commands/requests.ts";
import { toWritten, writeObstacle } from "../commands/write.ts";
import type { DriftRule, Publication, PublicationPatch, PublishedSet, Zone, ZoneKey } from "../model.ts";
import type { RecordServiceOptions } from "../options.ts";
import { type Actor, missing, type NotDone, type PermittedView, refused } from "../queries/permitted-view.ts";
import { readZone } from "../queries/read-zone.ts";
import { isReadableContent } from "./plan-set.ts";
import { ownSets, type Preview, previewOf } from "./preview.ts";
import { OpenedAccount } from "./provider-accounts.ts";
import { type ProviderOperations, providerOperations } from "./provider-operations.ts";
import { isApexNs, notPublished, type PublishZone, publishZoneRule, type TakenSet } from "./publish-rule.ts";
import { ttlsOf } from "./set-state.ts";
import { stateOperations } from "./state-operations.ts";
import { withoutMixedTtls } from "./theirs.ts";

export type PublishDraft = {
  readonly provider: string;
  readonly digest: string;
  readonly fill: "theirs" | "ours";
  readonly drift: DriftRule;
  /** In seconds. */
  readonly readEvery: number;
};

/** Milliseconds for reading a whole zone from a provider. */
const longestRead = 120_000;

type Reading = {
  readonly account: OpenedAccount;
  readonly zone: Zone;
  readonly content: ProviderContent;
  readonly there: number | undefined;
  readonly preview: Preview;
  readonly rules: Publication["rules"];
};

/** What a caller can do about zones that are published at a provider. */
export function frontOperations(options: RecordServiceOptions, permittedView: PermittedView) {
  const providers = providerOperations(options, permittedView);
  const tools = toolsOf(options, permittedView);
  return {
    ...providers,
    ...publishOperations(tools, providers.openProviderFor),
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

function publishOperations({ options, zoneFor, run }: Tools, open: ProviderOperations["openProviderFor"]) {
  const { store, now } = options;
  const read = async (actor: Actor, key: ZoneKey, name: string): Promise<Reading | NotDone> => {
    const zone = await zoneFor(actor, key);
    if ("kind" in zone) return zone;
    const faults = unfitFaults(zone);
    if (faults.length > 0) return refused(faults);
    const opened = await open(actor, name);
    if (opened === undefined) return refused([badInput("provider", `${name} is not a provider of this account`)]);
    try {
      return await readThere(options, zone, opened);
    } finally {
      opened.provider.close();
    }
  };

  return {
    previewPublication: async (
      actor: Actor,
      key: ZoneKey,
      provider: string,
    ): Promise<{ kind: "done"; preview: Preview } | NotDone> => {
      const reading = await read(actor, key, provider);
      return "kind" in reading ? reading : { kind: "done", preview: reading.preview };
    },

    /** Nothing was written to the provider before; from now on, the publisher does. */
    publishZone: async (actor: Actor, key: ZoneKey, draft: PublishDraft): Promise<Written> => {
      const reading = await read(actor, key, draft.provider);
      if ("kind" in reading) return reading;
      const { zone, preview, rules, content, there, account } = reading;
      const { service, digest, notAllowed } = preview;
      if (digest !== draft.digest) return refused([changedThere(service)]);
      const isTheirs = draft.fill === "theirs";
      if (!isTheirs && notAllowed.length > 0)
        return refused(notAllowed.map(({ owner, type, because }) => notTaken(setKey(owner, type), because)));
      const first = { through: await store.lastChange(), waiting: 0, ttl: there, readAt: now(), trouble: undefined };
      const own = ownSets(content);
      // What the last provider still answers must not count for this one: its publication ends first.
      if (!(await store.beginPublishing(zone.number, first))) return refused([notEnded(zone.name)]);
      await store.putPublishedSets(
        zone.number,
        own.map((set) => publishedRow(set, now())),
      );
      const { drift, readEvery } = draft;
      const published: Publication = { provider: account.id, name: account.name, service, rules, drift, readEvery };
      const taken = [...content.sets.filter(isApexNs), ...(isTheirs ? own : [])];
      const at = { number: zone.number };
      const theirs = { ttl: isTheirs ? there : undefined, take: taken.map(asTaken), takesAll: isTheirs };
      const written = await run({ actor, at, action: "publish_zone", published, isFirst: true, ...theirs });
      if (written.kind === "done") return written;
      // Unless another request has published it meanwhile.
      const after = await store.zoneBy(zone.account, { number: zone.number });
      if (after?.settings.published === undefined) await store.forgetPublished(zone.number);
      return written;
    },
  };
}

/** Reads the zone at the provider, and compares it. */
async function readThere(
  { store, now }: RecordServiceOptions,
  zone: Zone,
  { account: stored, provider }: NonNullable<Awaited<ReturnType<ProviderOperations["openProviderFor"]>>>,
): Promise<Reading | NotDone> {
  const account = new OpenedAccount(stored, "", { now, random: Math.random });
  account.provider = provider;
  // What the publisher has used of the token's budget is missing here too.
  const wait = provider.wait(zone.name);
  if (wait > 0)
    return refused([unread(`${provider.service} takes requests again in ${Math.ceil(wait / 1_000)} seconds`)]);
  const signal = AbortSignal.timeout(longestRead);
  const there = await account.defaultTtl(zone.name, signal);
  if (there.kind !== "found") return refused([unread(there.because)]);
  const content = mapFound(await provider.sets(zone.name, signal), withoutMixedTtls);
  if (content.kind !== "found") return refused([unread(content.because)]);
  const taken = await account.rules(zone.name, signal);
  if (taken.kind !== "found") return refused([unread(taken.because)]);
  const rules = taken.value;
  const sets = await readZone(store, zone);
  const ttls = ttlsOf(zone, there.value);
  const preview = previewOf(zone, sets, content.value, { service: provider.service, rules, ttls });
  return { account, zone, content: content.value, there: there.value, preview, rules };
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
    return row.sent === undefined ? row.refused && { ...row, refused: undefined } : undefined;
  const { theirs } = row;
  if (theirs === undefined || !isReadableContent(theirs)) return undefined;
  return { ...row, held: theirs, theirs: undefined, sent: undefined, refused: undefined };
}

const publishedRow = ({ owner, type, ttl, values }: ProviderContent["sets"][number], at: number): PublishedSet => ({
  owner,
  type,
  held: { ttl, values },
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

const changedThere = (service: string): Fault => ({
  code: "changed-since",
  where: "digest",
  message: `the zone at ${service} has changed since it was shown`,
  todo: "look at the preview again",
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

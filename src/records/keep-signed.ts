import type { ParentView, Stage } from "../core/dnssec/lifecycle.ts";
import type { Instant } from "../core/instant.ts";
import type { AskParent } from "../process/dns/parent-ds.ts";
import type { EndWork } from "../process/duties.ts";
import type { Logger } from "../process/log.ts";
import type { Zone } from "./model.ts";
import { continueLife } from "./service/zones/dnssec.ts";
import { readZone } from "./service/zones/read-zone.ts";
import { renewal } from "./signing/signer.ts";
import { mayBeInParent } from "./signing/signing-of.ts";
import type { RecordStore } from "./store/port.ts";

export type KeepSignedOptions = {
  readonly store: RecordStore;
  readonly askParent: AskParent;
  readonly now: () => Instant;
  readonly log: Logger;
  readonly state: SigningState;
  /** Milliseconds between two rounds. */
  readonly every?: number;
};

/** What the last round found, for `/metrics` and the pages. */
export type SigningState = {
  zones: number;
  /** Zones with signatures that could not be renewed, and when the first of these expires. */
  expiring: ReadonlyMap<string, Instant>;
  /** Zones whose parent has DS records, but none of the zone's keys: resolvers reject them. */
  readonly mismatched: Set<string>;
  /** A signed zone was last changed at a time in the future. */
  isClockWrong: boolean;
};

export const createSigningState = (): SigningState => ({
  zones: 0,
  expiring: new Map(),
  mismatched: new Set(),
  isClockWrong: false,
});

const minute = 60_000;
const namesAtOnce = 200;
const zonesAtOnce = 500;
/** How often the parent of a zone is asked: rarely when nothing waits for it. */
const askEvery = { waiting: minute, secure: 60 * minute };

/** Renews signatures before they expire, and moves each zone from stage to stage. Only the node that leads does this. */
export function keepSigned(options: KeepSignedOptions): EndWork {
  const { log, every = minute } = options;
  const ended = new AbortController();
  const visit = createSigningRound(options);
  let timer: NodeJS.Timeout | undefined;
  const round = async (): Promise<void> => {
    try {
      await visit(ended.signal);
    } catch (error) {
      if (!ended.signal.aborted) log.error({ err: error }, "signed zones could not be maintained; trying again");
    }
    if (!ended.signal.aborted) timer = setTimeout(begin, every).unref();
  };
  let running = Promise.resolve();
  const begin = () => {
    running = round();
  };
  begin();
  return async () => {
    ended.abort();
    clearTimeout(timer);
    await running;
  };
}

/** One round of this work; it remembers when it last asked each parent. */
export function createSigningRound(options: KeepSignedOptions): (signal: AbortSignal) => Promise<void> {
  const asked = new Map<number, Instant>();
  return async (signal) => {
    await renewSignatures(options, signal);
    await visitZones(options, asked, signal);
  };
}

/** A few names at a time, so that other writes need not wait long. A zone that cannot be signed does not delay the others. */
async function renewSignatures(
  { store, now, log, state }: Pick<KeepSignedOptions, "store" | "now" | "log" | "state">,
  signal: AbortSignal,
): Promise<void> {
  const failed = new Map<number, { readonly name: string; readonly first: Instant }>();
  const tried = new Map<number, string>();
  while (!signal.aborted) {
    const due = await store.expiringNames(now() + renewal * 1000, namesAtOnce, [...failed.keys()]);
    if (due.length === 0) break;
    for (const { zone, owners, first } of due) {
      const names = owners.join(" ");
      const request = { account: zone.account, at: { zone: zone.id }, owners: () => owners, actor: "moor", now: now() };
      // The same names again: nothing was renewed.
      const isDone =
        tried.get(zone.number) !== names &&
        (await store
          .write(request, () => ({ wanted: undefined, renew: owners, result: undefined }))
          .then(() => true)
          .catch((error: unknown) =>
            log.error({ err: error, zone: zone.name, expires: new Date(first) }, "signatures could not be renewed"),
          ));
      tried.set(zone.number, names);
      if (!isDone) failed.set(zone.number, { name: zone.name, first });
    }
  }
  state.expiring = new Map([...failed.values()].map(({ name, first }) => [name, first]));
}

async function visitZones(options: KeepSignedOptions, asked: Map<number, Instant>, signal: AbortSignal): Promise<void> {
  const { store, now, state, log } = options;
  let [count, latest] = [0, 0];
  const gone = new Set(state.mismatched);
  for (let after = 0; !signal.aborted; ) {
    const zones = await store.signedZones(after, zonesAtOnce);
    count += zones.length;
    for (const zone of zones) {
      latest = Math.max(latest, zone.modified);
      gone.delete(zone.name);
      const wait = askEvery[zone.settings.dnssec?.stage === "secure" ? "secure" : "waiting"];
      if (signal.aborted || now() - (asked.get(zone.number) ?? 0) < wait) continue;
      asked.set(zone.number, now());
      await visitZone(options, zone, signal).catch((error: unknown) => {
        // Another zone may have its key, or its parent may answer.
        if (!signal.aborted) log.error({ err: error, zone: zone.name }, "a signed zone could not be maintained");
      });
    }
    const last = zones.at(-1);
    if (last === undefined || zones.length < zonesAtOnce) break;
    after = last.number;
  }
  if (signal.aborted) return;
  state.zones = count;
  for (const name of gone) state.mismatched.delete(name);
  const isClockWrong = latest > now() + clockTolerance;
  if (isClockWrong && !state.isClockWrong)
    log.error(
      { now: new Date(now()), latest: new Date(latest) },
      "the clock is behind the last change of a signed zone: it was set back, or differs from that of another node; correct it",
    );
  state.isClockWrong = isClockWrong;
}

/** Milliseconds. Signatures begin an hour before they are made. */
const clockTolerance = 5 * minute;

/** Asks the parent, and moves on to the next stage if it is time. */
async function visitZone(
  { store, askParent, now, log, state }: KeepSignedOptions,
  zone: Zone,
  signal: AbortSignal,
): Promise<void> {
  const parent = await askParent(zone.name, signal);
  noteMismatch(state, zone, parent, log);
  const { stage, since = 0 } = zone.settings.dnssec ?? {};
  const { ttl } = zone.settings;
  // Not earlier than after the zone's own TTL, so a large zone is not read every minute.
  const isRead = stage !== undefined && afterTtls.has(stage) && now() >= since + ttl * 1000;
  const highestTtl = isRead ? await highestTtlIn(store, zone) : ttl;
  const by = { store, actor: "moor", now: now() };
  const next = await continueLife(by, zone, parent, highestTtl);
  if (next === "unsigned") log.info({ zone: zone.name }, "the zone is no longer signed");
  else if (next !== undefined && next.stage !== stage)
    log.info({ zone: zone.name, stage: next.stage }, "the zone's keys have reached the next stage");
}

/** The stages that wait until no resolver has older records of the zone. */
const afterTtls: ReadonlySet<Stage> = new Set(["new", "roll-sign", "algorithm-sign"]);

async function highestTtlIn(store: RecordStore, zone: Zone): Promise<number> {
  const sets = await readZone(store, zone, async () => undefined);
  return sets.reduce((most, { ttl }) => Math.max(most, ttl ?? 0), zone.settings.ttl);
}

function noteMismatch(state: SigningState, zone: Zone, parent: ParentView, log: Logger): void {
  if (parent === undefined) return;
  const { keys = [], others = [] } = zone.settings.dnssec ?? {};
  const tags = new Set([...keys.filter(({ shown }) => shown), ...others.filter(mayBeInParent)].map(({ tag }) => tag));
  const isWrong = parent.ds.length > 0 && !parent.ds.some(({ tag }) => tags.has(tag));
  if (isWrong && !state.mismatched.has(zone.name))
    log.error(
      { zone: zone.name },
      "the parent's DS records match no key of the zone, so resolvers reject it; give the registrar the DS record that `moor dnssec status` shows",
    );
  if (isWrong) state.mismatched.add(zone.name);
  else state.mismatched.delete(zone.name);
}

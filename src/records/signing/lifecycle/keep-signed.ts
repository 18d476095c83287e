import { isTtlNeeded } from "../../../core/dnssec/lifecycle.ts";
import type { ParentView } from "../../../core/dnssec/parent-view.ts";
import { beginsAfter, type SignedName, soaExpiry } from "../../../core/dnssec/signed-name.ts";
import type { Instant } from "../../../core/instant.ts";
import type { AskParent } from "../../../lib/dns/delegation.ts";
import { type EndWork, runPeriodically } from "../../../process/duties.ts";
import type { Logger } from "../../../process/log.ts";
import type { Zone } from "../../model.ts";
import type { RecordStore } from "../../store/port.ts";
import { clockTolerance, renewal, signedAt } from "../signer.ts";
import { stageInWords } from "../signing-texts.ts";
import { advanceStage } from "./advance-stage.ts";
import { longestInCaches } from "./cached-ttl.ts";
import { type LastFaults, noteParent } from "./note-parent.ts";
import { renewNamesRule } from "./renew.ts";

export type KeepSignedOptions = {
  readonly store: RecordStore;
  readonly askParent: AskParent;
  readonly now: () => Instant;
  readonly log: Logger;
  /** Milliseconds between two rounds. */
  readonly every?: number;
};

const minute = 60_000;
const namesAtOnce = 200;
const zonesAtOnce = 500;
/** How often the parent of a zone is queried: rarely if nothing waits for it. */
const askEvery = { waiting: minute, faulty: 10 * minute, secure: 60 * minute };
/** Zones whose parents are queried simultaneously: one silent server must not delay all others. */
const parentsAtOnce = 16;
/** How often the log says what a zone waits for. */
const remindEvery = 24 * 60 * minute;

/** Renews signatures before they expire, and moves each zone from stage to stage. Only the leading node does this. */
export function keepSigned(options: KeepSignedOptions): EndWork {
  return runPeriodically(createSigningRound(options), options.every ?? minute, (error) =>
    options.log.error({ err: error }, "signed zones could not be maintained; trying again"),
  );
}

/** What earlier rounds did, by zone number. */
type ZoneVisits = {
  /** When its parent was last queried. */
  readonly queriedAt: Map<number, Instant>;
  /** When signatures from a clock that was ahead were replaced (`at`), and the time by that clock (`last`). */
  readonly reSigned: Map<number, { readonly at: Instant; readonly last: Instant }>;
  readonly faults: LastFaults;
  /** When the log last said what it waits for. */
  readonly reminded: Map<number, Instant>;
};

/** One round of this work; it remembers when it last queried each parent. */
export function createSigningRound(options: KeepSignedOptions): (signal: AbortSignal) => Promise<void> {
  const visits: ZoneVisits = { queriedAt: new Map(), reSigned: new Map(), faults: new Map(), reminded: new Map() };
  return async (signal) => {
    await renewSignatures(options, signal);
    await visitZones(options, visits, signal);
  };
}

/**
 * A few names at a time, so that other writes do not wait long. A zone that cannot be signed does not delay the others.
 */
async function renewSignatures(
  { store, now, log }: Pick<KeepSignedOptions, "store" | "now" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const failed = new Set<number>();
  const tried = new Map<number, string>();
  while (!signal.aborted) {
    const due = await store.expiringNames(now() + renewal * 1000, namesAtOnce, [...failed]);
    if (due.length === 0) break;
    for (const { zone, owners, first } of due) {
      const names = owners.join(" ");
      // If the same names are due again, nothing was renewed.
      const isDone =
        tried.get(zone.number) !== names &&
        (await renew(store, zone, owners, now())
          .then(() => true)
          .catch((error: unknown) =>
            log.error({ err: error, zone: zone.name, expires: new Date(first) }, "signatures could not be renewed"),
          ));
      tried.set(zone.number, names);
      if (!isDone) failed.add(zone.number);
    }
  }
}

/** Signs these names again. */
function renew(store: RecordStore, zone: Zone, owners: readonly string[], now: Instant): Promise<unknown> {
  return store.run({ kind: "renew-names", account: zone.account, zone: zone.id, owners, now }, renewNamesRule);
}

async function visitZones(options: KeepSignedOptions, visits: ZoneVisits, signal: AbortSignal): Promise<void> {
  const { store, now } = options;
  for (let after = 0; !signal.aborted; ) {
    const zones = await store.signedZones(after, zonesAtOnce);
    // `abs`: a clock that was set back must not delay it.
    const due = zones.filter((zone) => Math.abs(now() - (visits.queriedAt.get(zone.number) ?? 0)) >= intervalOf(zone));
    for (let i = 0; i < due.length && !signal.aborted; i += parentsAtOnce)
      await visitSome(options, due.slice(i, i + parentsAtOnce), visits, signal);
    const last = zones.at(-1);
    if (last === undefined || zones.length < zonesAtOnce) break;
    after = last.number;
  }
}

function intervalOf({ settings: { dnssec } }: Zone): number {
  if (dnssec?.stage !== "secure") return askEvery.waiting;
  return dnssec.parentFault === undefined ? askEvery.secure : askEvery.faulty;
}

async function visitSome(
  options: KeepSignedOptions,
  zones: readonly Zone[],
  visits: ZoneVisits,
  signal: AbortSignal,
): Promise<void> {
  const { askParent, now, log } = options;
  const parents = await Promise.all(zones.map((zone) => askParent(zone.name, signal)));
  for (const [i, zone] of zones.entries()) {
    if (signal.aborted) return;
    visits.queriedAt.set(zone.number, now());
    await visitZone(options, zone, parents[i] ?? [], visits).catch((error: unknown) => {
      // The next zone may be fine: its key may exist.
      if (!signal.aborted) log.error({ err: error, zone: zone.name }, "a signed zone could not be maintained");
    });
  }
}

/** Moves the zone to the next stage if it is time. */
async function visitZone(
  { store, now, log }: KeepSignedOptions,
  zone: Zone,
  parent: ParentView,
  visits: ZoneVisits,
): Promise<void> {
  await reSignAfterClock({ store, now, log }, zone, visits.reSigned);
  const by = { store, now: now() };
  // The rest would work with settings that are now stale.
  if (await noteParent(by, zone, parent, visits.faults, log)) return;
  const { dnssec } = zone.settings;
  const stage = dnssec?.stage;
  // A large zone is not read every minute.
  const highestTtl = dnssec && isTtlNeeded(dnssec, by.now) ? await longestInCaches(store, zone, by.now) : 0;
  const next = await advanceStage(by, zone, parent, highestTtl);
  if (next === "unsigned") log.info({ zone: zone.name }, "the zone is no longer signed");
  else if (next !== undefined && next.stage !== stage)
    log.info(
      { zone: zone.name, stage: next.stage, waitingFor: stageInWords(next) },
      "the signed zone has reached the next stage",
    );
  else remind(zone, by.now, visits.reminded, log);
}

/** Once a day, if a zone has been waiting for longer than that. */
function remind(
  { name, number, settings: { dnssec } }: Zone,
  now: Instant,
  reminded: ZoneVisits["reminded"],
  log: Logger,
) {
  if (dnssec === undefined || dnssec.stage === "secure") return;
  const last = Math.max(dnssec.since, reminded.get(number) ?? 0);
  if (now < last + remindEvery) return;
  reminded.set(number, now);
  const { stage, since, parentFault } = dnssec;
  const facts = {
    zone: name,
    stage,
    since: new Date(since),
    waitingFor: stageInWords(dnssec),
    parent: parentFault?.text,
  };
  log.warn(facts, "a signed zone has been waiting for more than a day");
}

/** Comes just before the apex (@) in the order of owners; no owner begins with it. */
const beforeApex = "?";

/**
 * If the clock was ahead, names have signatures that are not valid yet. They are replaced with signatures that are
 * valid by both clocks.
 */
async function reSignAfterClock(
  { store, now, log }: Pick<KeepSignedOptions, "store" | "now" | "log">,
  zone: Zone,
  reSigned: ZoneVisits["reSigned"],
): Promise<void> {
  const [apex] = await store.signedNames(zone, beforeApex, 1);
  const last = signedAt(soaExpiry(apex) ?? 0);
  const before = reSigned.get(zone.number);
  const isDone = before !== undefined && before.last === last && before.at <= now();
  if (isDone || last <= now() + clockTolerance * 1000) return;
  log.error(
    { zone: zone.name, now: new Date(now()), last: new Date(last) },
    "the last signatures of a zone are from the future: the clock was ahead then, or is behind now; check it. Signatures that are not valid yet are being replaced",
  );
  for (let after: string | undefined; ; ) {
    const names: readonly SignedName[] = await store.signedNames(zone, after, namesAtOnce);
    const owners = names.filter((name) => beginsAfter(name, now() / 1000)).map(({ owner }) => owner);
    if (owners.length > 0) await renew(store, zone, owners, now());
    if (names.length < namesAtOnce) break;
    after = names.at(-1)?.owner;
  }
  reSigned.set(zone.number, { at: now(), last });
}

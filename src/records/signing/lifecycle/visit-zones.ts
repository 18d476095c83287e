import { isTtlNeeded } from "../../../core/dnssec/lifecycle.ts";
import type { ParentView } from "../../../core/dnssec/parent-view.ts";
import type { Instant } from "../../../core/instant.ts";
import type { AskParent } from "../../../lib/dns/delegation.ts";
import { KeyedSemaphore } from "../../../lib/limits/semaphore.ts";
import type { Logger } from "../../../process/log.ts";
import type { Zone } from "../../model.ts";
import type { RecordStore } from "../../store/port.ts";
import { stageInWords } from "../signing-texts.ts";
import { advanceStage } from "./advance-stage.ts";
import { longestInCaches } from "./cached-ttl.ts";
import { type LastFault, noteParent } from "./note-parent.ts";
import { type LastReSigning, reSignAfterClock } from "./renew-signatures.ts";

export type VisitOptions = {
  readonly store: RecordStore;
  readonly askParent: AskParent;
  readonly now: () => Instant;
  readonly log: Logger;
};

const minute = 60_000;
const zonesAtOnce = 500;
/** How often the parent of a zone is queried: rarely if nothing waits for it. */
const askEvery = { waiting: minute, faulty: 10 * minute, secure: 60 * minute };
/** Zones that are visited simultaneously: in total, and of one account, whose parents may all be slow. */
const visitsAtOnce = { all: 64, account: 16 };
/** How often the log says what a zone waits for. */
const remindEvery = 24 * 60 * minute;

/** What earlier visits of a zone found. */
type ZoneMemory = LastFault & {
  isVisited: boolean;
  /** When its parent was last queried. */
  queriedAt: Instant;
  /** When the log last said what it waits for. */
  reminded: Instant;
  reSigned: LastReSigning | undefined;
};

/**
 * Asks the parent of each signed zone, and moves the zone to its next stage if it is time. Accounts take turns, and no
 * zone waits for the parent of another account's zone.
 */
export class ZoneVisits {
  readonly #options: VisitOptions;
  readonly #permits = new KeyedSemaphore(visitsAtOnce.all);
  readonly #memory = new Map<number, ZoneMemory>();
  readonly #running = new Set<Promise<void>>();

  constructor(options: VisitOptions) {
    this.#options = options;
  }

  /** Begins a visit of every zone that is due. Those that began earlier may still be under way. */
  async begin(signal: AbortSignal): Promise<void> {
    const seen = new Set<number>();
    for (let after = 0; !signal.aborted; ) {
      const zones = await this.#options.store.signedZones(after, zonesAtOnce);
      for (const zone of zones) {
        seen.add(zone.number);
        if (this.#isDue(zone)) this.#enqueue(zone, signal);
      }
      const last = zones.at(-1);
      if (last === undefined || zones.length < zonesAtOnce) break;
      after = last.number;
    }
    if (!signal.aborted) for (const number of this.#memory.keys()) if (!seen.has(number)) this.#memory.delete(number);
  }

  /** When the visits that have begun are over. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #isDue(zone: Zone): boolean {
    const memory = this.#memory.get(zone.number);
    if (memory === undefined) return true;
    // `abs`: a clock that was set back must not delay it.
    return !memory.isVisited && Math.abs(this.#options.now() - memory.queriedAt) >= intervalOf(zone);
  }

  #enqueue({ number, account }: Zone, signal: AbortSignal): void {
    const memory = this.#memory.get(number) ?? {
      isVisited: true,
      queriedAt: 0,
      fault: undefined,
      reminded: 0,
      reSigned: undefined,
    };
    this.#memory.set(number, memory);
    memory.isVisited = true;
    const ended = new Promise<void>((resolve) => {
      this.#permits.enqueue([{ name: `${account}`, most: visitsAtOnce.account }], (release) => {
        void this.#visit(number, memory, signal).finally(() => {
          memory.isVisited = false;
          release();
          resolve();
        });
      });
    });
    this.#running.add(ended);
    void ended.then(() => this.#running.delete(ended));
  }

  async #visit(number: number, memory: ZoneMemory, signal: AbortSignal): Promise<void> {
    const { store, askParent, now, log } = this.#options;
    if (signal.aborted) return;
    let name: string | undefined;
    try {
      // It may have changed while it waited.
      const [zone] = await store.signedZones(number - 1, 1);
      if (zone?.number !== number) return;
      name = zone.name;
      const parent = await askParent(name, signal);
      if (signal.aborted) return;
      memory.queriedAt = now();
      await visitZone(this.#options, zone, parent, memory);
    } catch (error) {
      // The next zone may be fine: its key may exist.
      if (!signal.aborted) log.error({ err: error, zone: name }, "a signed zone could not be maintained");
    }
  }
}

function intervalOf({ settings: { dnssec } }: Zone): number {
  if (dnssec?.stage !== "secure") return askEvery.waiting;
  return dnssec.parentFault === undefined ? askEvery.secure : askEvery.faulty;
}

/** Moves the zone to the next stage if it is time. */
async function visitZone(
  { store, now, log }: VisitOptions,
  zone: Zone,
  parent: ParentView,
  memory: ZoneMemory,
): Promise<void> {
  const reSigned = await reSignAfterClock({ store, now, log }, zone, memory.reSigned);
  if (reSigned === "far-behind") return;
  memory.reSigned = reSigned;
  const by = { store, now: now() };
  // The rest would work with settings that are now stale.
  if (await noteParent(by, zone, parent, memory, log)) return;
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
  else remind(zone, by.now, memory, log);
}

/** Once a day, if a zone has been waiting for longer than that. */
function remind(
  { name, settings: { dnssec } }: Zone,
  now: Instant,
  memory: Pick<ZoneMemory, "reminded">,
  log: Logger,
): void {
  if (dnssec === undefined || dnssec.stage === "secure") return;
  const last = Math.max(dnssec.since, memory.reminded);
  if (now < last + remindEvery) return;
  memory.reminded = now;
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

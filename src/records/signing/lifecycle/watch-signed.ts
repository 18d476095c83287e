import type { ParentFault } from "../../../core/dnssec/parent-view.ts";
import type { Instant } from "../../../core/instant.ts";
import { runPeriodically } from "../../../process/duties.ts";
import type { Logger } from "../../../process/log.ts";
import type { Zone } from "../../model.ts";
import type { RecordStore } from "../../store/port.ts";
import { clockTolerance, renewal } from "../signer.ts";

/**
 * What the store says about signed zones, for `/metrics` and the pages. Every node reads it, not only the leading one.
 */
export type SigningState = {
  zones: number;
  /**
   * Zones with signatures that should have been renewed, and when the first of these expires. Seen twice: after a late
   * start, the leading node renews them first.
   */
  expiring: ReadonlyMap<string, Instant>;
  /** Zones with such signatures when this was last read. */
  overdue: ReadonlySet<string>;
  /** Zones with something wrong at their parent. */
  parentFaults: ReadonlyMap<string, ParentFault>;
  /** Zones whose last change is in the future. */
  changedInFuture: ReadonlySet<string>;
};

export const createSigningState = (): SigningState => ({
  zones: 0,
  expiring: new Map(),
  overdue: new Set(),
  parentFaults: new Map(),
  changedInFuture: new Set(),
});

export type SignedWatchOptions = {
  readonly store: Pick<RecordStore, "signedZones" | "expiringNames">;
  readonly now: () => Instant;
  readonly log: Logger;
  readonly state: SigningState;
};

const minute = 60_000;
const zonesAtOnce = 500;
/** The leading node has this long to renew signatures, in milliseconds. */
const renewalTime = 60 * minute;
const mostExpiring = 200;

/** Reads this state every minute. */
export const watchSigned = (options: SignedWatchOptions): (() => Promise<void>) =>
  runPeriodically(
    () => checkSigned(options),
    minute,
    (error) => options.log.warn({ err: error }, "the state of signed zones could not be read"),
  );

export async function checkSigned({ store, now, log, state }: SignedWatchOptions): Promise<void> {
  const zones = await everySigned(store);
  const named = (which: (zone: Zone) => boolean) => new Set(zones.filter(which).map(({ name }) => name));
  const changedInFuture = named(({ modified }) => modified > now() + clockTolerance * 1000);
  if (changedInFuture.size > 0 && state.changedInFuture.size === 0)
    log.error(
      { now: new Date(now()), latest: new Date(Math.max(...zones.map(({ modified }) => modified))) },
      "the clock is behind the last change of a signed zone: it was set back, or differs from another node's; correct it",
    );
  const overdue = await overdueIn(store, now());
  const expiring = new Map([...overdue].filter(([name]) => state.overdue.has(name)));
  Object.assign(state, {
    zones: zones.length,
    changedInFuture,
    expiring,
    overdue: new Set(overdue.keys()),
    parentFaults: new Map(
      zones.flatMap(({ name, settings }) =>
        settings.dnssec?.parentFault ? [[name, settings.dnssec.parentFault] as const] : [],
      ),
    ),
  } satisfies SigningState);
}

async function everySigned(store: SignedWatchOptions["store"]): Promise<readonly Zone[]> {
  const all: Zone[] = [];
  for (;;) {
    const zones = await store.signedZones(all.at(-1)?.number ?? 0, zonesAtOnce);
    all.push(...zones);
    if (zones.length < zonesAtOnce) return all;
  }
}

async function overdueIn(store: SignedWatchOptions["store"], now: Instant): Promise<ReadonlyMap<string, Instant>> {
  const expiryByZone = new Map<number, readonly [string, Instant]>();
  for (;;) {
    const due = await store.expiringNames(now + renewal * 1000 - renewalTime, mostExpiring, [...expiryByZone.keys()]);
    for (const { zone, first } of due) expiryByZone.set(zone.number, [zone.name, first]);
    if (due.length === 0 || expiryByZone.size >= mostExpiring) return new Map(expiryByZone.values());
  }
}

import type { ListenAddress } from "../../lib/http/listen.ts";
import { openMetricsListener } from "../../lib/http/metrics-listener.ts";
import { printDnsMetrics } from "../../nameserver/metrics/metrics.ts";
import type { Opened } from "../../process/lifecycle.ts";
import { family, openProcessMetrics, type Sample } from "../../process/metrics.ts";
import { version } from "../../process/shipped-files.ts";
import { within } from "../../process/within.ts";
import type { RunningRecords } from "../../records/start.ts";
import type { RunningDns } from "../../serving/start.ts";
import { counted } from "../store/words.ts";
import { createLagMeter, type FollowerLag } from "./follower-lag.ts";

/** Seconds that the nameserver may lag behind the change log; after that its answers count as stale. */
const longestLag = 10;
/** Milliseconds to wait for the database. */
const patience = 1_000;
/** Milliseconds that answers may lack a write that was announced; after that they count as outdated. */
const longestWait = 1_000;

/** Adds the nameserver to the health checks, and serves metrics on a separate listener if configured. */
export async function watchRecords(
  service: RunningRecords,
  dns: RunningDns,
  { at, opened }: { readonly at: ListenAddress | undefined; readonly opened: Opened[] },
): Promise<ListenAddress | undefined> {
  const lag = createLagMeter(service.store, dns.followed);
  let isLoaded = false;
  dns.loaded.then(
    () => {
      isLoaded = true;
    },
    () => undefined,
  );
  service.health.add("nameserver", () => troubleOf(dns, lag, isLoaded));
  // One zone that takes long to sign is no reason to send the queries for all others elsewhere.
  service.health.add("signer", () => lateSigner(dns), { isNeeded: false });
  if (at === undefined) return undefined;
  const own = openProcessMetrics(version);
  opened.push({ name: "process metrics", close: own.close });
  const print = async () => {
    // In parallel: while the database is down, each of them takes its full time limit.
    const [behind, { ready }, counted] = await Promise.all([
      within(patience, lag()).catch(() => undefined),
      service.health.readiness(),
      service.metrics(),
    ]);
    const node = { ready, isLeading: service.duties.isLeading(), lostChanges: dns.lostChanges.count() };
    return [counted, printNode(node), printLag(behind), printDnsMetrics(dns.counters, dns.loads), own.print()].join("");
  };
  const listener = await openMetricsListener(at, { print, health: service.health });
  opened.push({ name: "metrics", close: listener.close });
  return listener.address;
}

type LagMeter = ReturnType<typeof createLagMeter>;

/** What is wrong with the nameserver, if anything. */
async function troubleOf(dns: RunningDns, lag: LagMeter, isLoaded: boolean): Promise<string | undefined> {
  if (!isLoaded) return "zones that were asked for before the restart, and large ones, are still being loaded";
  const since = dns.lateSince() ?? Number.POSITIVE_INFINITY;
  const late = performance.now() - since;
  if (late > longestWait)
    return `its answers are outdated: the database has announced a change, which could not be read for ${Math.round(late / 1_000)} s`;
  const pending = dns.lostChanges.pending();
  if (pending > 0) return `the database has lost changes; ${counted(pending, "zone")} must be read again`;
  const { changes, seconds } = await lag();
  return seconds > longestLag
    ? `${counted(changes, "change")} behind the log, for ${Math.round(seconds)} s`
    : undefined;
}

function lateSigner({ unsignedSince }: RunningDns): string | undefined {
  const unsigned = performance.now() - (unsignedSince() ?? Number.POSITIVE_INFINITY);
  return unsigned > longestWait
    ? `answers of some zones are outdated: changes have waited for signatures for ${Math.round(unsigned / 1_000)} s`
    : undefined;
}

const printNode = (node: { readonly ready: boolean; readonly isLeading: boolean; readonly lostChanges: number }) =>
  [
    family("moor_ready", "gauge", "1 while the service is ready for requests.", [[{}, Number(node.ready)]]),
    family("moor_leading", "gauge", "1 on the node that leads: it does the work that one node does for all.", [
      [{}, Number(node.isLeading)],
    ]),
    family(
      "moor_lost_changes_total",
      "counter",
      "How often the database lost changes after this node published them.",
      [[{}, node.lostChanges]],
    ),
  ].join("");

function printLag(behind: FollowerLag | undefined): string {
  const lagOf = (of: (lag: FollowerLag) => number): readonly Sample[] =>
    behind === undefined ? [] : [[{ follower: "nameserver" }, of(behind)]];
  return [
    family(
      "moor_follower_lag_changes",
      "gauge",
      "Changes in the log that the follower has not read yet.",
      lagOf((lag) => lag.changes),
    ),
    family(
      "moor_follower_lag_seconds",
      "gauge",
      "Seconds since the oldest unread change was seen in the log.",
      lagOf((lag) => lag.seconds),
    ),
  ].join("");
}

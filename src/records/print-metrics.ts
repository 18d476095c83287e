import { type ParentFault, parentFaultKinds } from "../core/dnssec/parent-view.ts";
import type { Instant } from "../core/instant.ts";
import type { CountedRoute, RequestCounters } from "../lib/http/server.ts";
import type { ConnectionCount } from "../lib/postgres/open.ts";
import { family, histogramFamily, type Sample } from "../process/metrics.ts";
import { within } from "../process/within.ts";
import { type PublishingMetrics, publishingFamilies } from "./front/publishing-metrics.ts";
import type { SigningState } from "./signing/lifecycle/watch-signed.ts";
import type { RecordStore } from "./store/port.ts";

export type RecordMetrics = {
  readonly requests: RequestCounters;
  readonly store: Pick<RecordStore, "counters" | "lastChange">;
  /** How many connections to a database server there are; absent for a file. */
  readonly connections?: (() => ConnectionCount) | undefined;
  /** Open event streams. */
  readonly streams: { readonly open: number };
  /** Absent without TLS. */
  readonly certificates?: Certificates | undefined;
  /** What this node last read about the signed zones. */
  readonly signing: Omit<SigningState, "overdue">;
  readonly publishing?: PublishingMetrics | undefined;
  readonly now: () => Instant;
};

type Certificates = {
  /** By issuer. */
  readonly expiry: () => Readonly<Record<string, Date | undefined>>;
  /** Failed attempts since the last certificate of the ACME authority; absent if none is asked. */
  readonly failures?: () => number;
};

/** Milliseconds. */
const patience = 1_000;

/** The metrics of the record service, in the Prometheus text format. Names no zone, token or caller. */
export async function printRecordMetrics(metrics: RecordMetrics): Promise<string> {
  const { requests, store, connections, streams, certificates, signing, publishing, now } = metrics;
  const routes = requests.routes();
  // The other metrics matter most when the database is down, so they must not depend on it.
  const position = await within(patience, store.lastChange()).catch(() => undefined);
  const { writes, failed, commits, waiting, commitSeconds } = store.counters;
  const perRoute = routes.flatMap(({ method, route, answers }) =>
    answers.map(({ status, count }): Sample => [{ method, route, status: String(status) }, count]),
  );
  return [
    family("moor_http_requests_total", "counter", "Requests answered, by route and status.", perRoute),
    histogramFamily(
      "moor_http_request_seconds",
      "From the request until the start of its answer.",
      routes.map(({ method, route, seconds }) => [{ method, route }, seconds] as const),
    ),
    family("moor_http_rate_limited_total", "counter", "Calls refused with 429, by API.", rateLimited(routes)),
    family("moor_store_writes_total", "counter", "Writes that are on disk.", [[{}, writes]]),
    family("moor_store_failed_writes_total", "counter", "Writes that failed in the database.", [[{}, failed]]),
    family("moor_store_commits_total", "counter", "Transactions; one may hold many writes.", [[{}, commits]]),
    family("moor_store_waiting_writes", "gauge", "Writes waiting for their transaction or the disk.", [[{}, waiting]]),
    histogramFamily("moor_store_commit_seconds", "From the start of a transaction until it is on disk.", [
      [{}, commitSeconds],
    ]),
    ...(connections ? connectionFamilies(connections()) : []),
    family("moor_log_position", "gauge", "The position of the last change in the log.", [
      ...(position === undefined ? [] : [[{}, position] as const]),
    ]),
    family("moor_event_streams", "gauge", "Readers of the stream of changes.", [[{}, streams.open]]),
    ...(certificates ? certificateFamilies(certificates) : []),
    ...signingFamilies(signing, now()),
    ...(publishing ? await publishingFamilies(publishing, now()) : []),
  ].join("");
}

const certificateFamilies = ({ expiry, failures }: Certificates): readonly string[] => [
  family(
    "moor_certificate_expiry_timestamp_seconds",
    "gauge",
    "When the certificate in use expires, by issuer.",
    Object.entries(expiry()).flatMap(([issuer, at]) => (at ? [[{ issuer }, at.getTime() / 1_000] as const] : [])),
  ),
  ...(failures
    ? [family("moor_acme_failed_attempts", "gauge", "Failed orders since the last certificate.", [[{}, failures()]])]
    : []),
];

/** In seconds. No signature is valid for longer. */
const farAway = 21 * 86_400;

const signingFamilies = (
  { zones, expiring, parentFaults, changedInFuture }: RecordMetrics["signing"],
  now: Instant,
) => [
  family("moor_signed_zones", "gauge", "Zones that are signed with DNSSEC.", [[{}, zones]]),
  family(
    "moor_signatures_expire_seconds",
    "gauge",
    "Time until the next expiry of a signature that could not be renewed: negative since it expired, 21 days if there is none.",
    [[{}, Math.min(farAway, ...[...expiring.values()].map((at) => (at - now) / 1_000))]],
  ),
  family("moor_ds_mismatches", "gauge", "Signed zones whose parent has DS records, but none for their keys.", [
    [{}, faultsOf(parentFaults, "wrong-ds")],
  ]),
  family("moor_ds_missing", "gauge", "Signed zones that were secure, but whose parent has no DS record now.", [
    [{}, faultsOf(parentFaults, "no-ds")],
  ]),
  family(
    "moor_parent_faults",
    "gauge",
    "Signed zones with something wrong at their parent, by kind; `moor dnssec status` explains it.",
    parentFaultKinds.map((kind) => [{ kind }, faultsOf(parentFaults, kind)] as const),
  ),
  family("moor_signing_clock_wrong", "gauge", "1 if the last change of a signed zone is in the future.", [
    [{}, Number(changedInFuture.size > 0)],
  ]),
];

const faultsOf = (faults: SigningState["parentFaults"], kind: ParentFault["kind"]): number =>
  [...faults.values()].filter((fault) => fault.kind === kind).length;

const connectionFamilies = ({ used, idle, waiting }: ConnectionCount): readonly string[] => [
  family("moor_database_connections", "gauge", "Connections to the database server, by state.", [
    [{ state: "used" }, used],
    [{ state: "idle" }, idle],
  ]),
  family("moor_database_waiting", "gauge", "Reads and transactions waiting for a connection.", [[{}, waiting]]),
];

const apis = [
  { api: "v1", routes: /^\/api\/v1\// },
  { api: "rrsets", routes: /^\/v1\// },
  { api: "dyndns", routes: /^\/(?:nic\/|v3\/)?update$/ },
  { api: "console", routes: /^\/console\// },
] as const;

const rateLimited = (routes: readonly CountedRoute[]): readonly Sample[] =>
  apis.map(({ api, routes: own }) => {
    const refused = routes.filter(({ route }) => own.test(route)).flatMap(({ answers }) => answers);
    return [{ api }, refused.reduce((sum, { status, count }) => sum + (status === 429 ? count : 0), 0)];
  });

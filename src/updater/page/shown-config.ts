import type { ShownConfig } from "../../contract/updater-page.ts";
import { originOf } from "../../lib/http-client/endpoint.ts";
import type { UpdaterConfig } from "../config/config.ts";
import { type ControlConfig, controlUrl, type HeartbeatConfig, type NotifyConfig } from "../config/outlets.ts";
import { describeInterval } from "../report/describe-interval.ts";
import { describeSources, type ManagedRecord, managedRecordsOf } from "../round/managed-records.ts";
import { sourceNames } from "../sources/sources.ts";
import { targetNames } from "../targets/targets.ts";

/** The config as shown on the page. Only the origin of a URL is shown: the rest of a web hook is secret. */
export function shownConfig(config: UpdaterConfig): ShownConfig {
  return {
    file: config.file,
    stateFile: config.stateFile,
    rhythm: describeInterval(config),
    sources: [...config.sources.values()].map((source) => ({
      name: source.name,
      kind: source.kind,
      called: sourceNames[source.kind] ?? source.kind,
      url: source.url?.origin ?? "—",
      trust: source.trust?.kind ?? "—",
      key: Object.values(source).some((value) => typeof value === "function") ? "hidden" : "—",
    })),
    targets: [...config.targets.values()].map(({ name, url, api, trust }) => ({
      name,
      url: originOf(url),
      api,
      called: targetNames[api] ?? api,
      trust: trust?.kind ?? "none",
      token: "hidden",
    })),
    names: managedRecordsOf(config).map((record) => ({
      name: record.displayName,
      from: describeSources(record),
      to: record.target,
      rules: rulesOf(record),
    })),
    others: [
      ...config.notify.map(shownNotice),
      ...config.heartbeats.map(shownHeartbeat),
      ...(config.control ? [shownControl(config.control)] : []),
    ],
  };
}

const rulesOf = ({ rules, spec, paused }: ManagedRecord): string =>
  [
    paused && "paused",
    spec.ttl !== undefined && `TTL ${spec.ttl}`,
    rules.public === "require" && "public addresses only",
    rules.carpMaster !== undefined && `only as the master of VHID ${rules.carpMaster}`,
    rules.holdDown !== undefined && `writes an address that has been present for ${rules.holdDown / 1_000} s`,
    rules.changesPerHour !== undefined && `at most ${rules.changesPerHour} changes per hour`,
    rules.compare === "record" && "compares addresses with the record",
    rules.verify !== undefined && `verifies every ${rules.verify / 1_000} s`,
    rules.confirm && "checks DNS after a write",
    spec.create && "creates the record if it is missing",
  ]
    .filter(Boolean)
    .join(", ");

type Other = ShownConfig["others"][number];

function shownNotice(notice: NotifyConfig): Other {
  const what = `notified of failures (${notice.kind})`;
  if (notice.kind === "mail") {
    const where = `${notice.to.join(", ")} via ${notice.server.host}`;
    return { what, where, trust: "system", secret: notice.password ? "hidden" : "none" };
  }
  const { url, trust } = notice;
  return { what, where: url.origin, trust: trust.kind, secret: "hidden" };
}

const shownHeartbeat = ({ kind, every, url, trust }: HeartbeatConfig): Other => ({
  what: `heartbeat every ${every / 1_000} s (${kind})`,
  where: url.origin,
  trust: trust.kind,
  secret: "hidden",
});

const shownControl = (control: ControlConfig): Other => ({
  what: "status page and metrics",
  where: controlUrl(control),
  trust: control.password ? "anyone with the password" : "this machine",
  secret: "hidden",
});

import { posix } from "node:path";

/**
 * The doors of each room: the only files that others may import, besides `src/core` and `src/contract`, which are
 * shelves of values. A room is a library, a small feature, or a folder of a large feature. The files at the top of a
 * feature assemble its rooms, so they may import every file of it; other rooms of the feature, `cli` and the tests of
 * other rooms use the doors.
 */
export const doors: Readonly<Record<string, readonly string[]>> = {
  "src/access": [
    "password.ts",
    "secret.ts",
    "session-cookie.ts",
    "session-http.ts",
    "session-store.ts",
    "session-throttle.ts",
    "session.ts",
    "shared-sign-in.ts",
  ],
  "src/access/oidc": ["identity-provider.ts", "settings.ts"],
  "src/access/passkeys": ["passkey-store.ts"],
  "src/cli": [
    "program.ts",
    "init/init.ts",
    "io/command-io.ts",
    "io/help-text.ts",
    "io/small-footprint.ts",
    "io/try-lines.ts",
    "records/watch.ts",
    "verbs/completion.ts",
  ],
  "src/firewall": ["config.ts", "read-config.ts", "start.ts"],
  "src/firewall/access": [
    "audit.ts",
    "keys.ts",
    "privileges.ts",
    "resolve-endpoint.ts",
    "sign-ins.ts",
    "store.ts",
    "users.ts",
  ],
  "src/firewall/http": ["console-link.ts"],
  "src/firewall/kernel": ["about-machine.ts", "probe-gateways.ts", "read-activity.ts"],
  "src/firewall/report": [
    "activity.ts",
    "counters.ts",
    "feed.ts",
    "neighbours.ts",
    "overview.ts",
    "php-json.ts",
    "report.ts",
    "routes.ts",
  ],
  "src/lib/acme": ["http-challenge.ts", "keep-certificate.ts", "obtain-certificate.ts", "plan.ts", "saved.ts"],
  "src/lib/dns": [
    "ask.ts",
    "codes.ts",
    "delegation.ts",
    "edns.ts",
    "message-writer.ts",
    "message.ts",
    "tsig-client.ts",
    "tsig.ts",
  ],
  "src/lib/http": [
    "client-address.ts",
    "listen.ts",
    "metrics-listener.ts",
    "plain-request.ts",
    "schedule-requests.ts",
    "server.ts",
    "static-pages.ts",
    "page-server.ts",
  ],
  "src/lib/http-client": [
    "client.ts",
    "endpoint.ts",
    "event-stream.ts",
    "fetch-certificate.ts",
    "redact-secrets.ts",
    "retry-after.ts",
    "xml.ts",
  ],
  "src/lib/kernel": [
    "best-first.ts",
    "coalesce-triggers.ts",
    "ip-json.ts",
    "read.ts",
    "row.ts",
    "run-ip.ts",
    "run-program.ts",
    "watch.ts",
  ],
  "src/lib/limits": [
    "bounded-map.ts",
    "failure-delay.ts",
    "connection-limit.ts",
    "rate-limit.ts",
    "semaphore.ts",
    "shared-rate-limit.ts",
    "store-busy.ts",
    "fair-schedule.ts",
  ],
  "src/lib/postgres": [
    "commit-marks.ts",
    "faults.ts",
    "migrate.ts",
    "open.ts",
    "session.ts",
    "statement.ts",
    "leader.ts",
    "url.ts",
  ],
  "src/lib/settings": ["mapping.ts", "setting.ts", "yaml-reader.ts"],
  "src/lib/sqlite": ["faults.ts", "migration-steps.ts", "open.ts", "run-sql.ts", "sole.ts", "sql.ts"],
  "src/lib/tls": ["certificates.ts", "issue-certificate.ts", "material.ts", "tls-peer.ts"],
  "src/nameserver": ["start.ts"],
  "src/nameserver/answer": [
    "catch-up.ts",
    "followed-zones.ts",
    "load-limits.ts",
    "loaded-zones.ts",
    "name-key.ts",
    "reply.ts",
    "respond.ts",
    "zone-source.ts",
  ],
  "src/nameserver/listen": ["worker.ts"],
  "src/nameserver/listen/batch": ["batch-listeners.ts"],
  "src/nameserver/metrics": ["metrics.ts"],
  "src/nameserver/transfer": [
    "classify.ts",
    "notify-out.ts",
    "out.ts",
    "dispatch.ts",
    "secondary-refresh.ts",
    "secondary-zones.ts",
  ],
  "src/nameserver/wire": ["edns-options.ts", "read-query.ts", "update-read.ts", "write-sets.ts"],
  "src/process": [
    "data-folder.ts",
    "duties.ts",
    "health.ts",
    "lifecycle.ts",
    "log.ts",
    "metrics.ts",
    "shipped-files.ts",
    "within.ts",
  ],
  "src/providers": [
    "batches.ts",
    "budget.ts",
    "create-provider.ts",
    "last-step.ts",
    "open-provider.ts",
    "provider.ts",
    "provider-calls.ts",
    "read-sets.ts",
  ],
  "src/providers/answers": [
    "json-api.ts",
    "list-in.ts",
    "quota.ts",
    "service-answer.ts",
    "service-fault.ts",
    "write-answer.ts",
  ],
  "src/providers/services": [
    "cloudflare/cloudflare.ts",
    "desec.ts",
    "dns-update/update-calls.ts",
    "hetzner/rrsets.ts",
    "hetzner/v1.ts",
    "netcup-cloud.ts",
    "powerdns.ts",
  ],
  "src/serving": ["await-secondaries.ts", "catalog.ts", "secondaries.ts", "start.ts"],
  "src/records": ["model.ts", "new-id.ts", "open-store.ts", "options.ts", "service.ts", "start.ts"],
  "src/records/api": ["rrsets/routes.ts", "rrsets/wire.ts"],
  "src/records/commands": [
    "edit/check-write.ts",
    "from-dns-update.ts",
    "from-transfer.ts",
    "raise-serial.ts",
    "requests.ts",
    "write.ts",
    "zones/create-delete.ts",
  ],
  "src/records/console": ["make-sign-in-link.ts", "overview.ts"],
  "src/records/front": ["preview.ts", "provider-operations.ts", "state-operations.ts"],
  "src/records/queries": [
    "flat-map-in-parts.ts",
    "all-zones.ts",
    "page-of-sets.ts",
    "read-zone.ts",
    "permitted-view.ts",
    "status.ts",
    "obfuscated-ids.ts",
    "writes.ts",
  ],
  "src/records/signing": [
    "lifecycle/advance-stage.ts",
    "lifecycle/cached-ttl.ts",
    "lifecycle/keep-signed.ts",
    "multi-signer-keys.ts",
    "private-key.ts",
    "signer.ts",
    "signing-of.ts",
    "signing-texts.ts",
  ],
  "src/records/store": [
    "console-store.ts",
    "kept-actions.ts",
    "port.ts",
    "postgres/schema.ts",
    "postgres/store.ts",
    "rows.ts",
    "sqlite/schema.ts",
    "sqlite/store.ts",
  ],
  "src/records/tools": [
    "backup.ts",
    "check/check.ts",
    "copy.ts",
    "keep-history.ts",
    "tables/open.ts",
    "tables/table.ts",
  ],
  "src/records/webhooks": ["deliver.ts", "settings.ts"],
  "src/updater": ["keep-names.ts", "read-config.ts", "updater.ts"],
  "src/updater/config": [
    "config.ts",
    "edit-names.ts",
    "endpoint.ts",
    "kinds.ts",
    "outlets.ts",
    "rules.ts",
    "secret.ts",
    "watch-files.ts",
  ],
  "src/updater/page": ["keep-page.ts", "listener.ts", "passkey-file.ts", "sign-in.ts"],
  "src/updater/report": [
    "describe-interval.ts",
    "describe-round.ts",
    "history.ts",
    "print-metrics.ts",
    "reporter.ts",
    "status.ts",
  ],
  "src/updater/round": [
    "choose-for.ts",
    "circuit-breaker.ts",
    "name-memory.ts",
    "plan.ts",
    "result.ts",
    "schedule.ts",
    "state-file.ts",
    "managed-records.ts",
  ],
  "src/updater/sources": [
    "firewall.ts",
    "gateway/default-gateway.ts",
    "gateway/find-routers.ts",
    "only-connection.ts",
    "routers/recognise-router.ts",
    "source-reader.ts",
    "source.ts",
    "sources.ts",
  ],
  "src/updater/targets": ["confirm-dns.ts", "dyndns2-settings.ts", "target.ts", "targets.ts", "token-target.ts"],
};

export const mostDoors = 8;

/**
 * Folders of tests and benches outside `src`, and the features that they take apart. Everywhere else, they use the
 * doors.
 */
const workshops: Readonly<Record<string, readonly string[]>> = {
  "bench/dns": ["src/serving"],
  scripts: ["src/nameserver"],
  "test/docs": ["src/cli"],
  "test/nameserver": ["src/nameserver", "src/serving", "src/records"],
  "test/nodes": ["src/serving", "src/records"],
  "test/rig/records": ["src/records"],
  "test/providers": ["src/providers"],
  "test/rig/providers": ["src/providers"],
  "test/rig/updater": ["src/updater"],
  "test/store": ["src/serving", "src/records"],
  "test/updater": ["src/updater", "src/cli"],
};

/** The innermost room that a file is in; undefined if it has no doors because everybody may import from it. */
export function roomWithDoors(path: string): string | undefined {
  for (let folder = posix.dirname(path); folder !== "."; folder = posix.dirname(folder))
    if (doors[folder] !== undefined) return folder;
  return undefined;
}

/** Whether this file may import that one, as far as doors are concerned. */
export function mayEnter(path: string, target: string): boolean {
  const room = roomWithDoors(target);
  if (room === undefined || path.startsWith(`${room}/`)) return true;
  const feature = featureOf(room);
  if (posix.dirname(path) === feature || (room === feature && path.startsWith(`${feature}/`))) return true;
  const isTakenApart = Object.entries(workshops).some(
    ([folder, features]) => path.startsWith(`${folder}/`) && features.includes(feature),
  );
  return isTakenApart || doors[room]?.includes(posix.relative(room, target)) === true;
}

/** `src/records` for its rooms, and for itself. */
const featureOf = (room: string): string =>
  room.startsWith("src/lib/") ? room : room.split("/").slice(0, 2).join("/");

/**
 * Faults of the table itself: too many doors, and doors that nobody uses. `imports`: of each file, the files it
 * imports.
 */
export function doorFaults(imports: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const used = new Set<string>();
  for (const [path, targets] of imports)
    for (const target of targets) {
      const room = roomWithDoors(target);
      if (room !== undefined && !path.startsWith(`${room}/`) && posix.dirname(path) !== featureOf(room))
        used.add(target);
    }
  return Object.entries(doors).flatMap(([room, names]) => [
    ...(names.length > mostDoors ? [`${room}: has ${names.length} doors; the maximum is ${mostDoors}`] : []),
    ...names.filter((name) => !used.has(`${room}/${name}`)).map((name) => `${room}: nobody uses the door ${name}`),
  ]);
}

/** Available to every room of `src/core`: results, instants, work in steps, text that is safe to show. */
const coreBasics = ["result.ts", "instant.ts", "steps.ts", "visible-text.ts"];

/**
 * The allowed imports inside a feature, as in docs/architecture.md. For each inner room: the rooms (or single files)
 * of the same feature that it may import from, besides itself. `"."` is the feature's own folder: its files assemble
 * the rooms, so they may import from all of them; a room may import only those files that it names.
 */
export const innerArrows: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "src/core": {
    names: coreBasics,
    addresses: coreBasics,
    rdata: ["names", "addresses", ...coreBasics],
    records: ["names", "addresses", "rdata", ...coreBasics],
    "zone-file": ["names", "rdata", "records", ...coreBasics],
    dnssec: ["names", "rdata", "records", ...coreBasics],
    updates: ["addresses", ...coreBasics],
  },
  "src/process": {
    database: [],
    settings: [],
    dns: [],
    kernel: ["log.ts"],
    sqlite: ["database"],
    postgres: ["database", "log.ts", "data-folder.ts", "duties.ts", "listen-address.ts"],
    tls: ["data-folder.ts", "log.ts"],
    http: ["tls", "listen-address.ts", "health.ts", "metrics.ts", "shipped-files.ts"],
    acme: ["tls", "http", "data-folder.ts", "duties.ts", "listen-address.ts", "log.ts", "version.ts"],
  },
  "src/records": {
    signing: ["model.ts"],
    store: ["signing", "model.ts"],
    "store/sql": ["store", "signing", "model.ts"],
    "store/sqlite": ["store", "store/sql", "signing", "model.ts"],
    "store/postgres": ["store", "store/sql", "signing", "limits", "model.ts"],
    limits: [],
    "service/edit": ["store", "model.ts"],
    service: ["service/commands", "service/edit", "service/zones", "signing", "store", "model.ts"],
    // What each command means; the thread that writes needs no more of the service.
    "service/commands": ["service", "service/edit", "service/zones", "store", "model.ts"],
    // The service assembles its rooms; they use the shared files.
    "service/zones": ["service", "service/edit", "signing", "zone-names", "store", "model.ts"],
    http: ["service", "service/commands", "service/edit", "limits", "store", "model.ts"],
    "http-v1": ["http", "service", "service/commands", "service/zones", "service/edit", "limits", "store", "model.ts"],
    "http-rrsets": [
      "http",
      "service",
      "service/commands",
      "service/zones",
      "service/edit",
      "signing",
      "limits",
      "store",
      "model.ts",
    ],
    // The console is a client of the record-set API, and shows changes as it does.
    console: ["service", "service/zones", "service/edit", "store", "http-rrsets/wire.ts", "model.ts"],
    "zone-names": ["store"],
    account: ["service", "service/edit", "http-rrsets", "zone-names", "store", "model.ts"],
    tools: ["tools/tables", "tools/check"],
    "tools/tables": ["store", "store/sqlite", "store/postgres", "open-store.ts"],
    "tools/check": ["tools/tables", "zone-names", "store", "model.ts"],
  },
  "src/nameserver": {
    metrics: [],
    wire: [],
    answer: ["wire"],
    transfer: ["answer", "wire", "metrics"],
    listen: ["answer", "transfer", "wire", "metrics"],
  },
  "src/firewall": {
    kernel: [],
    report: ["kernel", "config.ts"],
    access: [],
    http: ["access", "report", "kernel", "config.ts"],
  },
  "src/updater": {
    http: [],
    // From sources and targets, only the tables of kinds that a config may name, and the types of their entries.
    config: ["http", "sources/sources.ts", "sources/source.ts", "targets/targets.ts", "targets/target.ts"],
    sources: ["config", "http", "sources/gateway", "sources/routers"],
    // Of the sources, the port and what several kinds share.
    "sources/gateway": ["config", "http", "sources/source.ts", "sources/only-connection.ts"],
    "sources/routers": ["config", "http", "sources/source.ts", "sources/showable.ts"],
    targets: ["targets/providers", "config", "http"],
    // One file per hosted service or server with an HTTP API.
    "targets/providers": ["targets", "config", "http"],
    round: ["sources", "targets", "config", "http"],
    page: ["report", "round", "sources/sources.ts", "sources/source.ts", "targets", "config", "http"],
    report: ["round", "sources/sources.ts", "sources/source.ts", "targets", "config", "http"],
  },
  "src/cli": {
    io: [],
    store: ["io"],
    records: ["io", "store"],
    firewall: ["io", "store"],
    update: ["io"],
    manage: ["io", "store", "records", "update"],
    init: ["init/from", "io", "update"],
    // One file per program whose config can be taken over.
    "init/from": ["init", "io"],
    up: ["io", "store", "records", "firewall", "update"],
    verbs: ["io", "store", "records", "firewall", "update", "manage", "init", "up"],
  },
};

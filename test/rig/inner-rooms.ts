/** Available to every room of `src/core`: results, instants, work in steps, text that is safe to show. */
const coreBasics = ["result.ts", "instant.ts", "steps.ts", "visible-text.ts"];

/** For the rooms of `src/records` that write: the model, new ids, what the service was started with, its key file. */
const recordsBasics = ["model.ts", "new-id.ts", "options.ts", "check-key-file.ts"];

/**
 * The allowed imports inside a feature, as in docs/architecture.md. For each inner room: the rooms (or single files)
 * of the same feature that it may import from, besides itself. `"."` is the feature's own folder: its files assemble
 * the rooms, so they may import from all of them; a room may import only those files that it names.
 */
export const innerArrows: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "src/core": {
    names: coreBasics,
    addresses: coreBasics,
    rdata: ["rdata/types", "rdata/layout", "rdata/fields", "names", "addresses", ...coreBasics],
    "rdata/layout": ["rdata/types", "rdata/fields", "names", "addresses", ...coreBasics],
    "rdata/types": ["rdata/fields", "names", "addresses", ...coreBasics],
    "rdata/fields": ["names", "addresses", ...coreBasics],
    records: ["names", "addresses", "rdata", "rdata/fields", "rdata/layout", "rdata/types", ...coreBasics],
    "zone-file": ["names", "rdata", "rdata/fields", "rdata/types", "records", "labels.ts", ...coreBasics],
    dnssec: ["names", "rdata", "rdata/fields", "rdata/layout", "records", ...coreBasics],
    updates: ["addresses", ...coreBasics],
  },
  "src/records": {
    // Keys and signatures, which the stores use too; `lifecycle` moves signed zones through their stages.
    signing: ["model.ts"],
    "signing/lifecycle": ["signing", "commands", "commands/zones", "queries", "store", ...recordsBasics],
    store: ["signing", "model.ts"],
    "store/sql": ["store", "signing", "model.ts"],
    "store/signed": ["store", "signing", "model.ts"],
    "store/sqlite": ["store", "store/signed", "store/sql", "store/sqlite/signed", "signing", "model.ts"],
    "store/sqlite/signed": ["store", "store/signed", "store/sql", "store/sqlite", "signing", "model.ts"],
    "store/postgres": ["store", "store/signed", "store/sql", "store/postgres/signed", "signing", "model.ts"],
    "store/postgres/signed": ["store", "store/signed", "store/sql", "store/postgres", "signing", "model.ts"],
    // What a caller sees.
    queries: ["store", "model.ts"],
    // What each write means; the thread that writes needs no more of the service.
    commands: ["commands/edit", "commands/zones", "queries", "signing", "store", ...recordsBasics],
    // Of the commands, only the types of requests.
    "commands/edit": ["commands/requests.ts", "store", "model.ts"],
    "commands/zones": ["commands", "commands/edit", "queries", "store", ...recordsBasics],
    // Zones that are published at a provider.
    front: ["commands", "commands/edit", "queries", "signing", "store", ...recordsBasics],
    "api/shared": ["service.ts", "commands/requests.ts", "commands/edit", "queries", "store", "model.ts"],
    "api/dyndns": ["api/shared", "service.ts", "commands", "commands/edit", "queries", "store", "model.ts"],
    "api/v1": [
      "api/shared",
      "service.ts",
      "commands",
      "commands/edit",
      "commands/zones",
      "queries",
      "store",
      "model.ts",
    ],
    "api/rrsets": [
      ...["api/shared", "service.ts", "commands", "commands/edit", "commands/zones", "queries", "signing", "store"],
      ...["front", "model.ts"],
    ],
    // The console is a client of the record-set API, and shows changes as it does.
    console: ["service.ts", "queries", "commands/edit", "store", "api/rrsets/wire.ts", "open-store.ts", "model.ts"],
    // What changed is sent as the record-set API shows it.
    webhooks: ["service.ts", "queries", "store", "api/rrsets/wire.ts", "model.ts"],
    tools: ["tools/tables", "tools/check"],
    "tools/tables": ["store", "store/sqlite", "store/postgres", "open-store.ts"],
    "tools/check": ["tools/tables", "commands/zones", "store", "model.ts"],
  },
  "src/nameserver": {
    metrics: [],
    wire: [],
    answer: ["wire", "metrics"],
    transfer: ["answer", "wire", "metrics"],
    listen: ["answer", "transfer", "wire", "metrics", "listen/batch"],
    "listen/batch": [
      "answer",
      "listen/answer-datagrams.ts",
      "listen/backlog.ts",
      "listen/client.ts",
      "listen/failure.ts",
      "listen/udp.ts",
    ],
  },
  "src/firewall": {
    kernel: [],
    report: ["kernel", "config.ts"],
    access: [],
    http: ["access", "report", "kernel", "config.ts"],
  },
  "src/updater": {
    // The kinds that a config may name are registered from above.
    config: [],
    sources: ["config", "sources/gateway", "sources/routers"],
    // Of the sources, the port and what several kinds share.
    "sources/gateway": ["config", "sources/source.ts", "sources/only-connection.ts"],
    "sources/routers": ["config", "sources/source.ts", "sources/showable.ts", "sources/gateway-status.ts"],
    targets: ["targets/services", "targets/http-call", "config"],
    // One file per hosted service or server with an HTTP API.
    "targets/services": ["targets", "config"],
    "targets/http-call": ["targets", "config"],
    round: ["sources", "targets", "config"],
    page: ["report", "round", "sources/sources.ts", "sources/source.ts", "targets", "config"],
    report: ["round", "sources/sources.ts", "sources/source.ts", "targets", "config"],
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

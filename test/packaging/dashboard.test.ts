import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, request } from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { watchRecords } from "../../src/cli/records/watch.ts";
import { urlOf } from "../../src/lib/http/listen.ts";
import { closeInReverse, type Opened } from "../../src/process/lifecycle.ts";
import { createLog } from "../../src/process/log.ts";
import { startRecords } from "../../src/records/start.ts";
import { startDns } from "../../src/serving/start.ts";
import { repository } from "../rig/namespace.ts";
import { startPostgres } from "../rig/postgres.ts";
import { addressOf } from "../rig/records/postgres.ts";

/**
 * A real service on PostgreSQL, which has the most metrics, must serve all metrics that dashboards, alerts and docs
 * use.
 */

type Panel = { readonly title: string; readonly targets?: readonly { readonly expr: string }[] };
type Rule = { readonly alert: string; readonly expr: string };

const log = createLog({ format: "text", level: "silent", write: () => undefined });
const opened: Opened[] = [];
let folder: string;
let served: Map<string, ReadonlySet<string>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-dashboard-"));
  const at = { host: "127.0.0.1", port: 0 };
  const nameservers = ["ns1.example.net"] as const;
  const acme = { mail: "a@example.net", directory: "https://127.0.0.1:1/", names: ["dns.example.net"], http: at };
  const shared = { dataFolder: folder, names: [], nameservers, log, acme, counted: true };
  const server = await startPostgres();
  opened.push({ name: "database", close: server.stop });
  await server.createDatabase("moor");
  const database = { kind: "postgres", address: addressOf(server.url("moor")) } as const;
  const service = await startRecords({ ...shared, listen: at, database });
  opened.push({ name: "records", close: service.close });
  const dns = await startDns({ listen: [at], store: service.store, nameservers, log });
  opened.push({ name: "dns", close: dns.close });
  const metrics = await watchRecords(service, dns, { at, opened });
  const dispatcher = new Agent({ connect: { ca: await readFile(service.caFile ?? "") } });
  await request(`${service.url}/health/live`, { dispatcher });
  await dispatcher.close();
  const answer = await fetch(`${urlOf(metrics ?? at, "http")}/metrics`);
  served = seriesIn(await answer.text());
});
afterAll(async () => {
  await closeInReverse(opened, log);
  await rm(folder, { recursive: true });
});

/** The names of series, with their labels. */
function seriesIn(text: string): Map<string, ReadonlySet<string>> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const [, name = "", labels = ""] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
      return [name, new Set([...labels.matchAll(/(\w+)="/g)].map(([, label = ""]) => label))];
    }),
  );
}

/** Labels that Prometheus adds. */
const always = ["job", "instance", "le"];

function faultsOf(expr: string): readonly string[] {
  const names = expr.match(/\b(?:moor|process|nodejs)_\w+/g) ?? [];
  const unknown = names.filter((name) => !served.has(name)).map((name) => `no metric ${name}`);
  const known = new Set([...always, ...names.flatMap((name) => [...(served.get(name) ?? [])])]);
  const selected = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(
    ([, inside = ""]) => inside.match(/\w+(?==~?"|!=")/g) ?? [],
  );
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, inside = ""]) => inside.split(/, */));
  const foreign = [...selected, ...grouped].filter((label) => !known.has(label)).map((label) => `no label ${label}`);
  const open = (expr.match(/\(/g)?.length ?? 0) - (expr.match(/\)/g)?.length ?? 0);
  return [...unknown, ...foreign, ...(open === 0 ? [] : ["brackets"])];
}

describe("the service has all metrics", () => {
  it("of every panel of the dashboard", async () => {
    const text = await readFile(join(repository, "packaging", "grafana", "moor.json"), "utf8");
    const { panels } = JSON.parse(text) as { readonly panels: readonly Panel[] };
    const drawn = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
    expect(drawn.length).toBeGreaterThan(20);
    expect(drawn.flatMap(({ title, expr }) => faultsOf(expr).map((fault) => `${title}: ${fault}`))).toEqual([]);
    const all = drawn.map(({ expr }) => expr).join(" ");
    const own = [...served.keys()].filter((name) => /^moor_(?!.*_(?:sum|count)$)/.test(name));
    const undrawn = own.filter((name) => !all.includes(name));
    expect(undrawn).toEqual([]);
  });

  it("of the table in docs/operations.md", async () => {
    const docs = await readFile(join(repository, "docs", "operations.md"), "utf8");
    const named = [...docs.matchAll(/`(moor_[a-z_]+)/g)].map(([, name = ""]) => name);
    const own = [...served.keys()].filter((name) => /^moor_(?!.*_(?:sum|count|bucket)$)/.test(name));
    const isServed = (name: string) => served.has(name) || served.has(`${name}_count`);
    expect(named.filter((name) => !isServed(name))).toEqual([]);
    expect(own.filter((name) => !named.includes(name))).toEqual([]);
  });

  it("of every alert, and each alert is in docs/operations.md", async () => {
    const text = await readFile(join(repository, "packaging", "prometheus", "moor.rules.yml"), "utf8");
    const { groups } = parse(text) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
    const rules = groups.flatMap(({ rules: each }) => each);
    expect(rules.length).toBeGreaterThan(5);
    expect(rules.flatMap(({ alert, expr }) => faultsOf(expr).map((fault) => `${alert}: ${fault}`))).toEqual([]);
    const docs = await readFile(join(repository, "docs", "operations.md"), "utf8");
    expect(rules.map(({ alert }) => alert).filter((alert) => !docs.includes(`**${alert}**`))).toEqual([]);
  });

  it("notices a missing metric", () => {
    expect(faultsOf('rate(moor_gone_total{colour="x"}[5m])')).toEqual(["no metric moor_gone_total", "no label colour"]);
  });
});

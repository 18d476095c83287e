import { createHash, createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { until } from "../../../test/rig/until.ts";
import { wholeAccount } from "../../core/may.ts";
import type { EndWork } from "../../process/duties.ts";
import { createLog } from "../../process/log.ts";
import type { Actor } from "../queries/permitted-view.ts";
import { createRecordService, type RecordService } from "../service.ts";
import { openSqliteStore, type SqliteStore } from "../store/sqlite/store.ts";
import { deliverWebhooks } from "./deliver.ts";
import { readWebhooks, type Webhook } from "./settings.ts";

const secret = "0123456789abcdef";
let folder: string;
let store: SqliteStore;
let service: RecordService;
let zoneId: string;
let server: Server;
let received: { headers: IncomingHttpHeaders; body: string }[];
let status: (body: string) => number;
let logged: string[];
let end: EndWork | undefined;

const owner: Actor = { account: 1, label: "owner", scope: wholeAccount };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-webhooks-"));
  [received, status, logged] = [[], () => 200, []];
  server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      received.push({ headers: request.headers, body });
      response.writeHead(status(body)).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  openStore();
  await store.ensureAccount("main", 1);
  const made = await service.createZone(owner, { name: "example.org", ttl: 60 });
  if (made.kind !== "done") throw new Error("no zone");
  zoneId = made.zone.id;
});
afterEach(async () => {
  await end?.();
  end = undefined;
  store.close();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

function openStore(): void {
  store = openSqliteStore(join(folder, "db"));
  service = createRecordService({ store, now: Date.now, nameservers: ["ns1.example.net"] });
}

const hookFor = (names: readonly string[] = ["home.example.org"]): Webhook => ({
  url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?x=1`),
  names,
  secret: () => secret,
});

/** Begins to send, and waits until the position of a new webhook is stored. */
async function start(...hooks: readonly Webhook[]): Promise<void> {
  const log = createLog({ format: "json", write: (line: string) => void logged.push(JSON.parse(line).msg) });
  const pause = async () => new Promise<void>((resolve) => setImmediate(resolve));
  end = deliverWebhooks(hooks.length > 0 ? hooks : [hookFor()], {
    store,
    log,
    now: () => 1_700_000_000_500,
    random: () => 0,
    pause,
  });
  await until(async () => (await store.findSecret("webhook-positions")) !== undefined);
}

const add = (name: string, value: string) =>
  service.createRecords(owner, [{ zoneId, draft: { type: "A", name, value, text: value, ttl: 60 } }]);
const sent = () =>
  received.flatMap(({ body }) =>
    (
      JSON.parse(body) as { changes: { name: string; kind: string; after: { records: { value: string }[] } }[] }
    ).changes.map(({ name, kind, after }) => `${kind} ${name} ${after.records.map(({ value }) => value).join()}`),
  );

describe("webhooks", () => {
  it("get the changes of their names, signed, and nothing from before", async () => {
    await add("home", "192.0.2.1");
    await start();
    await add("other", "192.0.2.9");
    await add("home", "192.0.2.2");
    await until(() => received.length === 1);
    expect(sent()).toEqual(["replace home 192.0.2.1,192.0.2.2"]);
    const [{ headers, body } = { headers: {}, body: "" }] = received;
    const hash = createHmac("sha256", secret).update(`1700000000.${body}`).digest("hex");
    expect(headers["moor-signature"]).toBe(`t=1700000000,v1=${hash}`);
    expect(body).not.toContain(secret);
  });

  it("get all names below one, in order", async () => {
    await start(hookFor(["*.example.org"]));
    for (const name of ["a", "b", "@", "c"]) await add(name, "192.0.2.1");
    await until(() => sent().length === 3);
    expect(sent()).toEqual(["a", "b", "c"].map((name) => `create ${name} 192.0.2.1`));
  });

  it.each([500, 404, 302])("get a change again until they accept it (%i)", async (refusal) => {
    let tries = 0;
    status = () => (++tries < 4 ? refusal : 204);
    await start();
    await add("home", "192.0.2.1");
    await until(() => logged.includes("the webhook accepts changes again"));
    expect(sent()).toEqual(Array.from({ length: 4 }, () => "create home 192.0.2.1"));
    expect(logged.filter((line) => line.includes("trying again"))).toHaveLength(1);
  });

  it("get what they did not accept after a restart, and nothing twice that they did", async () => {
    await start();
    const first = await store.findSecret("webhook-positions");
    await add("home", "192.0.2.1");
    // The position is stored after the answer.
    await until(async () => (await store.findSecret("webhook-positions")) !== first);
    status = () => 503;
    await add("home", "192.0.2.2");
    await until(() => received.length > 2);
    await end?.();
    store.close();
    received = [];
    status = () => 200;
    openStore();
    await add("home", "192.0.2.3");
    await start();
    const third = "replace home 192.0.2.1,192.0.2.2,192.0.2.3";
    await until(() => sent().includes(third));
    // On a busy machine, a request of the service before the restart may arrive now.
    expect([...new Set(sent())]).toEqual(["replace home 192.0.2.1,192.0.2.2", third]);
  });

  it("that share a URL get every change of their names, also if only one of them is refused", async () => {
    let refused = 0;
    status = (body) => (body.includes('"lab"') && ++refused < 4 ? 503 : 204);
    await start(hookFor(["lab.example.org"]), hookFor(["home.example.org"]));
    await add("lab", "192.0.2.1");
    await until(() => refused > 0);
    await add("home", "192.0.2.2");
    await until(
      () => logged.includes("the webhook accepts changes again") && sent().some((line) => / home /.test(line)),
    );
    expect(refused).toBe(4);
    expect(new Set(sent())).toEqual(new Set(["create lab 192.0.2.1", "create home 192.0.2.2"]));
  });

  it("that share a URL each go on after a restart from where they were", async () => {
    status = (body) => (body.includes('"lab"') ? 503 : 204);
    const hooks = [hookFor(["home.example.org"]), hookFor(["lab.example.org"])];
    await start(...hooks);
    await add("lab", "192.0.2.1");
    await add("home", "192.0.2.2");
    const newest = await store.lastChange();
    const positions = async () => Object.values(JSON.parse((await store.findSecret("webhook-positions")) ?? "{}"));
    await until(async () => (await positions()).includes(newest));
    await end?.();
    received = [];
    status = () => 204;
    await start(...hooks);
    await add("home", "192.0.2.3");
    await until(() => sent().length > 1);
    expect(sent().toSorted()).toEqual(["create lab 192.0.2.1", "replace home 192.0.2.2,192.0.2.3"]);
  });

  it.each([["one"], ["one, with other names"]])("go on from the position of their URL: %s", async (which) => {
    const { url } = hookFor();
    const key = createHash("sha256").update(url.href).digest("hex").slice(0, 16);
    await store.replaceSecret("webhook-positions", JSON.stringify({ [key]: await store.lastChange() }));
    await add("home", "192.0.2.1");
    await start(hookFor(which === "one" ? ["home.example.org"] : ["*.example.org"]));
    await until(() => sent().length === 1);
    const stored = JSON.parse((await store.findSecret("webhook-positions")) ?? "") as Record<string, number>;
    expect(stored[key]).toBeDefined();
  });

  it("get at most 100 changes in a request", async () => {
    await start(hookFor(["*.example.org"]));
    const value = "192.0.2.1";
    const drafts = Array.from(
      { length: 250 },
      (_, i) => ({ type: "A", name: `h${i}`, value, text: value, ttl: 60 }) as const,
    );
    await service.createRecords(
      owner,
      drafts.map((draft) => ({ zoneId, draft })),
    );
    await until(() => sent().length === 250);
    expect(received.map(({ body }) => JSON.parse(body).changes.length)).toEqual([100, 100, 50]);
  });
});

describe("the file", () => {
  const read = (text: string) => {
    writeFileSync(join(folder, "s"), `${secret}\n`);
    writeFileSync(join(folder, "short"), "abc\n");
    const result = readWebhooks(text, "webhooks.yaml", (path) => join(folder, path));
    return result.ok
      ? result.value.map(({ url, names }) => [url.href, ...names])
      : result.faults.map(({ code }) => code);
  };
  const good = 'url: "https://h.example/x", names: [Home.Example.org, "*.example.net"], secretFile: s';
  test.each<[string, readonly unknown[]]>([
    [`webhooks: [{ ${good} }]`, [["https://h.example/x", "home.example.org", "*.example.net"]]],
    [`webhooks: { ${good} }`, [["https://h.example/x", "home.example.org", "*.example.net"]]],
    [`webhooks: [{ ${good.replace("https", "http")} }]`, ["bad-url"]],
    [`webhooks: [{ ${good.replace("secretFile: s", "secretFile: short")} }]`, ["bad-secret"]],
    [`webhooks: [{ ${good.replace("secretFile: s", "secretFile: no")} }]`, ["bad-secret"]],
    [`webhooks: [{ ${good.replace("Home.Example.org", '"a b"')} }]`, ["bad-name"]],
    [`webhooks: [{ url: "https://h.example" }]`, ["missing", "missing"]],
  ])("%s", (text, expected) => expect(read(text)).toEqual(expected));
});

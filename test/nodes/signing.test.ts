import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createAskParent } from "../../src/lib/dns/delegation.ts";
import { noLog } from "../../src/process/log.ts";
import { plainSettings, type Zone } from "../../src/records/model.ts";
import { newRecordId } from "../../src/records/new-id.ts";
import { type OpenStore, openStore } from "../../src/records/open-store.ts";
import { createSigningRound } from "../../src/records/signing/lifecycle/keep-signed.ts";
import { type RunningDns, startDns } from "../../src/serving/start.ts";
import { writtenSets } from "../rig/core/written-sets.suite.ts";
import { isLongRun } from "../rig/long-run.ts";
import { node as nodeProgram } from "../rig/namespace.ts";
import { testLimit } from "../rig/patience.ts";
import { addressOf, type PostgresRig, startPostgresRig } from "../rig/records/postgres.ts";
import { rollKey, signZone } from "../rig/records/sign.ts";
import { createAsk } from "../rig/rehearsal/ask-all.ts";
import { createCachedAnswers } from "../rig/rehearsal/cached-answers.ts";
import { createParentZone, createRegistry } from "../rig/rehearsal/registry.ts";
import { createZoneIn } from "../rig/store/write.ts";
import { until } from "../rig/until.ts";
import type { Step, Stepped } from "./signing-node.ts";

const hour = 3_600_000;
/** How far the clock goes in a step: while a stage waits for TTLs, and while signatures are renewed. */
const [stride, renewalStride] = isLongRun ? [hour / 2, 6 * hour] : [hour, 12 * hour];
const name = "nodes.example";
const text = `@ 3600 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 3600 NS ns1\nns1 3600 A 192.0.2.1\nwww 7200 A 192.0.2.2`;

let folder: string;
let postgres: PostgresRig;
let url: string;
let opened: OpenStore;
let dns: RunningDns;
const nodes: SigningNode[] = [];

type SigningNode = { readonly child: ChildProcess; readonly step: (now: number) => Promise<Stepped> };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-signing-nodes-"));
  postgres = await startPostgresRig();
  url = await postgres.preparedUrl();
  opened = await openStore({ kind: "postgres", address: addressOf(url), keyFile: join(folder, "key") }, noLog);
  const { store } = opened;
  dns = await startDns({ listen: [{ host: "127.0.0.1", port: 0 }], store, nameservers: [], log: noLog });
});
afterAll(async () => {
  for (const { child } of nodes) child.kill("SIGKILL");
  await dns?.close();
  await opened?.close();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function startNode(): Promise<SigningNode> {
  const words = [url, join(folder, "key"), `${dns.addresses[0]?.port}`];
  const child = fork(join(import.meta.dirname, "signing-node.ts"), words, { execPath: nodeProgram, execArgv: [] });
  const ended = once(child, "exit").then(() => ({ worked: undefined }));
  await once(child, "message");
  const node: SigningNode = {
    child,
    step: async (now) => {
      // It may just have been killed.
      child.send({ now } satisfies Step, () => undefined);
      const stepped = once(child, "message").then(([answer]) => answer as Stepped);
      return await Promise.race([stepped, ended]);
    },
  };
  nodes.push(node);
  return node;
}

async function makeZone(now: number, name: string): Promise<Zone> {
  const { store } = opened;
  const { id: account } = await store.ensureAccount("main", now);
  const sets = writtenSets(name, text).map((set) => ({
    ...set,
    records: set.records.map((record) => ({ ...record, id: newRecordId() })),
  }));
  const zone = { account, id: name, name, settings: plainSettings(3_600), serial: 1, created: now, sets };
  const made = await createZoneIn(store, zone, "test");
  if (typeof made === "string") throw new Error(made);
  return made;
}

it("of two nodes, only the leading one replaces the key and renews signatures; when it is killed, the other continues, and no answer is ever bogus", {
  timeout: 10 * testLimit,
}, async () => {
  const { store, signer } = opened;
  let now = Date.UTC(2026, 10, 1);
  const zone = await makeZone(now, name);
  const ask = createAsk(dns.addresses[0]?.port ?? 0, AbortSignal.timeout(10 * testLimit));
  const parent = await createParentZone(store, zone.account, zone, ["ns1.nodes.example."], now);
  const registry = createRegistry(store, parent, name, ask);
  const questions = [
    { name: `www.${name}`, type: 1 },
    { name, type: 6 },
    { name: `nothing.${name}`, type: 1 },
  ];
  const cached = createCachedAnswers(name, questions, ask);
  const works: { readonly node: SigningNode; readonly from: number; readonly to: number }[] = [];
  const counts = { steps: 0, checked: 0, bogus: 0 };
  const stage = async () => (await store.zoneHolding(name))?.settings.dnssec?.stage;
  const followed = async () => {
    const last = await store.lastChange();
    await until(() => dns.followed() >= last, { every: 1 });
  };
  const look = async () => {
    await followed();
    await cached.update(now);
    const { checked, bogus } = cached.check(now);
    counts.checked += checked;
    counts.bogus += bogus.length;
  };
  /** Asks every node until one of them leads and has worked. */
  const step = async () => {
    counts.steps += 1;
    await registry.visit(now);
    await followed();
    await until(async () => {
      const alive = nodes.filter(({ child }) => child.exitCode === null && child.signalCode === null);
      const stepped = await Promise.all(alive.map(async (node) => ({ node, ...(await node.step(now)) })));
      const worked = stepped.flatMap(({ node, worked: at }) => (at ? [{ node, from: at[0], to: at[1] }] : []));
      works.push(...worked);
      return worked.length > 0;
    });
    await look();
  };
  const passUntil = async (wanted: string) => {
    for (let steps = 0; (await stage()) !== wanted; steps++) {
      if (steps > 200) throw new Error(`the stage is ${await stage()}, not ${wanted}`);
      now += stride;
      await step();
    }
  };
  const leader = () => works.at(-1)?.node;

  await look();
  await startNode();
  await startNode();
  const by = () => ({ store, actor: "test", now });
  expect(await signZone(by(), zone, { algorithm: 13, denial: "nsec" }, signer)).toMatchObject({ ok: true });
  await passUntil("secure");
  now += hour;
  const current = (await store.zoneHolding(name)) ?? zone;
  expect(await rollKey(by(), current, undefined, signer)).toMatchObject({ ok: true });
  await passUntil("roll-parent");
  // Killed while it works.
  const first = leader();
  now += stride;
  void first?.step(now);
  first?.child.kill("SIGKILL");
  await passUntil("secure");
  const second = leader();
  expect(second).not.toBe(first);
  await startNode();
  for (const end = now + 13 * 24 * hour; now < end; now += renewalStride) await step();

  expect(counts).toMatchObject({ bogus: 0 });
  expect(counts.checked).toBeGreaterThan(300);
  const expiries = (await store.signedNames(zone, undefined, 100)).map(({ expires }) => expires ?? Infinity);
  expect(Math.min(...expiries) * 1000).toBeGreaterThan(now + 8 * 24 * hour);
  // Two nodes never worked at the same time.
  const together = works.filter((a) => works.some((b) => b.node !== a.node && b.from < a.to && a.from < b.to));
  expect(together).toEqual([]);
});

it("two nodes that renew signatures and replace the key at the same moment replace it once, and no answer is bogus", {
  timeout: 2 * testLimit,
}, async () => {
  const name = "twice.test";
  let now = Date.UTC(2026, 10, 1);
  const keyFile = join(folder, "key");
  const second = await openStore({ kind: "postgres", address: addressOf(url), keyFile }, noLog);
  const both = [opened, second];
  const signing = both.map(({ signChanges }) => signChanges());
  const zone = await makeZone(now, name);
  const ask = createAsk(dns.addresses[0]?.port ?? 0, AbortSignal.timeout(2 * testLimit));
  const parent = await createParentZone(opened.store, zone.account, zone, [`ns1.${name}.`], now);
  const registry = createRegistry(opened.store, parent, name, ask);
  const cached = createCachedAnswers(
    name,
    [
      { name: `www.${name}`, type: 1 },
      { name, type: 6 },
    ],
    ask,
  );
  const askParent = createAskParent([{ host: "127.0.0.1", port: dns.addresses[0]?.port ?? 0, key: undefined }]);
  const rounds = both.map(({ store }) => createSigningRound({ store, askParent, now: () => now, log: noLog }));
  const current = async () => (await opened.store.zoneHolding(name)) ?? zone;
  const bogus: unknown[] = [];
  const step = async () => {
    await registry.visit(now);
    await Promise.all(rounds.map((round) => round(new AbortController().signal)));
    const last = await opened.store.lastChange();
    await until(() => dns.followed() >= last, { every: 1 });
    await cached.update(now);
    bogus.push(...cached.check(now).bogus);
  };
  const passUntil = async (wanted: string) => {
    for (let steps = 0; (await current()).settings.dnssec?.stage !== wanted; steps++) {
      if (steps > 200) throw new Error(`the stage is not ${wanted}`);
      now += stride;
      await step();
    }
  };
  const by = ({ store }: OpenStore) => ({ store, actor: "test", now });
  expect(await signZone(by(opened), zone, { algorithm: 13, denial: "nsec" }, opened.signer)).toMatchObject({
    ok: true,
  });
  await passUntil("secure");
  now += hour;
  const before = await current();
  const rolled = await Promise.all(both.map((each) => rollKey(by(each), before, undefined, each.signer)));
  expect(rolled.filter(({ ok }) => ok)).toHaveLength(1);
  await passUntil("secure");
  // Until all signatures have been renewed.
  for (const end = now + 13 * 24 * hour; now < end; now += renewalStride) await step();
  const keys = (await current()).settings.dnssec?.keys ?? [];
  expect(keys).toHaveLength(before.settings.dnssec?.keys.length ?? 0);
  expect(keys.map(({ id }) => id)).not.toEqual(before.settings.dnssec?.keys.map(({ id }) => id));
  expect(bogus).toEqual([]);
  for (const { end } of signing) await end();
  await second.close();
});

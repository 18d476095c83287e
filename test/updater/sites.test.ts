import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/updater/read-config.ts";
import { openStateFile } from "../../src/updater/round/state-file.ts";
import { openUpdater } from "../../src/updater/updater.ts";
import { rowsOf } from "../rig/long-run.ts";
import { moorToken, openMoorPeer } from "../rig/updater/moor-peer.ts";
import { hasZone, recordsAt } from "../rig/updater/records-at.ts";
import { startServer, wanWith } from "../rig/updater/services.ts";
import { pdnsKey, startUpdateServer, tsigSecret, type UpdateServerName } from "../rig/updater/update-servers.ts";

/** A real nameserver with the zone example.org: how to write to it, and the port that answers DNS. */
type Place = {
  readonly target: string;
  readonly secret: string;
  readonly port: number;
  readonly close: () => Promise<void>;
};

async function byUpdate(name: UpdateServerName): Promise<Place> {
  const { port, close } = await startUpdateServer(name, hasZone);
  const secret = `key "home" { algorithm hmac-sha256; secret "${tsigSecret}"; };`;
  return { target: `{ api: rfc2136, server: "127.0.0.1:${port}", keyFile: secret }`, secret, port, close };
}

async function byPowerdnsApi(): Promise<Place> {
  let url = "";
  const { port, close } = await startUpdateServer("PowerDNS", async (_, http) => {
    url = `http://127.0.0.1:${http}`;
    return (await fetch(`${url}/api`).catch(() => undefined)) !== undefined;
  });
  const headers = { "x-api-key": pdnsKey, "content-type": "application/json" };
  const body = JSON.stringify({ soa_edit_api: "INCREASE" });
  await fetch(`${url}/api/v1/servers/localhost/zones/example.org.`, { method: "PUT", headers, body });
  const target = `{ api: powerdns, url: "${url}", token: { file: secret } }`;
  return { target, secret: pdnsKey, port, close };
}

async function byMoor(): Promise<Place> {
  let port = 0;
  const peer = await openMoorPeer((dns) => {
    port = dns;
    return "";
  });
  const server = await startServer(async (asked) => (await peer.reply?.(asked)) ?? {});
  const close = async () => {
    await server.close();
    await peer.close();
  };
  return { target: `{ api: rrsets, url: "${server.url}", token: { file: secret } }`, secret: moorToken, port, close };
}

const serialAt = async (port: number) =>
  Number((await recordsAt(port, [["example.org", "SOA"]]))[0]?.value.split(" ")[2]);

const count = 200;
const hosts = Array.from({ length: count }, (_, i) => `host${i + 1}`);
const hostPart = (at: number) => `::${(at + 1).toString(16)}`;
const addressesWith = (prefix: string) => hosts.map((_, at) => `${prefix}${hostPart(at)}`);

/** A firewall whose prefix changes, and an updater that keeps the records of 200 machines behind it. */
async function openSite({ target, secret }: Place) {
  const folder = mkdtempSync(join(tmpdir(), "moor-site-"));
  let prefix = "2a00:1";
  const firewall = await startServer(() => ({ body: { igb0: wanWith([], [`${prefix}::1`]) } }));
  writeFileSync(join(folder, "key"), "key=thekey\nsecret=thesecret\n", { mode: 0o600 });
  writeFileSync(join(folder, "secret"), secret, { mode: 0o600 });
  const machines = hosts.map((host, at) => `      ${host}: ${hostPart(at)}\n`).join("");
  writeFileSync(
    join(folder, "moor.yaml"),
    `sources: { home: { url: "${firewall.url}", keyFile: key } }
targets: { dns: ${target} }
hosts:
  - zone: example.org
    interface: igb0
    create: true
    ttl: 60
    names:
${machines}`,
  );
  const config = readConfig("moor.yaml", {}, folder);
  if (!config.ok) throw new Error(JSON.stringify(config.faults));
  const state = await openStateFile(config.value.stateFile, Date.now(), { write: true });
  if (state.kind !== "open") throw new Error(state.because);
  const updater = await openUpdater(config.value, { state: state.state, now: Date.now, random: () => 0 });
  return {
    async moveTo(next: string) {
      prefix = next;
      const { results } = await updater.round(new AbortController().signal);
      return results.filter(({ outcome }) => outcome?.kind === "done").length;
    },
    async close() {
      updater.close();
      await firewall.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The first host, the last one, and every tenth between: a client that sees a mix of old and new need not ask more. */
const isWatched = (at: number) => at % 10 === 0 || at === count - 1;
const questionsFor = (names: readonly string[]) => names.map((name) => [`${name}.example.org`, "AAAA"] as const);
const watched = hosts.filter((_, at) => isWatched(at));
const watchedWith = (prefix: string) => addressesWith(prefix).filter((_, at) => isWatched(at));

/**
 * Asks for the watched hosts in turn, again and again: once before it returns, and once more when stopped, which
 * returns the answers.
 */
async function keepAsking(port: number) {
  const answers: string[] = [];
  let isOver = false;
  const ask = async () =>
    void answers.push(...(await recordsAt(port, questionsFor(watched))).map(({ value }) => value));
  await ask();
  const asking = (async () => {
    while (!isOver) await ask();
    await ask();
  })();
  return async () => {
    isOver = true;
    await asking;
    return answers;
  };
}

const places: readonly (readonly [string, () => Promise<Place>])[] = [
  ["moor records", byMoor],
  ["BIND by UPDATE", () => byUpdate("BIND")],
  ["Knot by UPDATE", () => byUpdate("Knot")],
  ["PowerDNS by UPDATE", () => byUpdate("PowerDNS")],
  ["PowerDNS by its API", byPowerdnsApi],
];

// target-powerdns.test.ts: one write, and one serial, also for several records.
describe.each(rowsOf(places, "moor records", "BIND by UPDATE"))("a site of 200 hosts at %s", (_, open) => {
  it("moves to a new prefix under one serial, and no query sees a mix", async () => {
    const place = await open();
    const site = await openSite(place);
    try {
      expect(await site.moveTo("2a00:1")).toBe(count);
      const before = await serialAt(place.port);
      const stopAsking = await keepAsking(place.port);
      expect(await site.moveTo("2a00:2")).toBe(count);
      const answers = await stopAsking();
      expect(await serialAt(place.port)).toBe(before + 1);
      expect(answers.slice(0, watched.length)).toEqual(watchedWith("2a00:1"));
      const firstNew = answers.findIndex((answer) => answer.startsWith("2a00:2"));
      expect(answers.slice(firstNew).filter((answer) => !answer.startsWith("2a00:2"))).toEqual([]);
      expect(answers.slice(-watched.length)).toEqual(watchedWith("2a00:2"));
      expect((await recordsAt(place.port, questionsFor(hosts))).map(({ value }) => value)).toEqual(
        addressesWith("2a00:2"),
      );
    } finally {
      await site.close();
      await place.close();
    }
  });
});

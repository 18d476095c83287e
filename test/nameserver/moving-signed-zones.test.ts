import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDnskeys } from "../../src/records/signing/multi-signer-keys.ts";
import { dsText } from "../../src/records/signing/signing-texts.ts";
import { isLongRun, rowsOf } from "../rig/long-run.ts";
import { testLimit } from "../rig/patience.ts";
import { until } from "../rig/until.ts";
import { digAt, type MovingRig, parentName, startBindWithPolicy, startMovingRig, zoneFile } from "./moving-rig.ts";
import { type Signer, startKnotSigner } from "./signing-servers.ts";

const named = (label: string) => `${label}.${parentName}`;
const [bindKey, knotKey, into, careless] = [named("bind-key"), named("knot-key"), named("into"), named("careless")];
const [away, awayKey] = [named("away"), named("away-key")];

let rig: MovingRig;
let bind: Awaited<ReturnType<typeof startBindWithPolicy>>;
/** Only in a long run. */
let knot: Signer | undefined;
beforeAll(async () => {
  rig = await startMovingRig();
  // The zones that move away are signed here, and BIND finds the key of one of them.
  for (const zone of [away, awayKey]) {
    await rig.makeZone(zone);
    await rig.moor(`moor dnssec on ${zone}`);
  }
  await rig.moor(`moor dnssec export ${awayKey} --to bind`);
  bind = await startBindWithPolicy(join(rig.folder, "bind"), [
    { name: bindKey, policy: "two" },
    { name: into, policy: "two" },
    ...[away, awayKey, careless].map((name) => ({ name, policy: "default" as const })),
  ]);
  if (isLongRun)
    knot = await startKnotSigner([{ name: knotKey, chain: "nsec3", text: zoneFile(knotKey) }], rig.dns.port);
}, 4 * testLimit);
afterAll(async () => {
  await Promise.all([knot?.close(), bind?.close()]);
  await rig?.close();
});

/** The DS records for a zone that the server at that port signs. */
async function dsAt(port: number, zone: string): Promise<readonly string[]> {
  const read = readDnskeys(await digAt(port, zone, "DNSKEY"));
  return read.ok
    ? read.value.filter(({ flags }) => flags === 257).map((key) => dsText({ ...key, added: 0 }, zone))
    : [];
}

const keysAt = async (port: number, zone: string): Promise<readonly string[]> =>
  (await digAt(port, zone, "DNSKEY")).split("\n").sort();

async function saveKeys(port: number, zone: string): Promise<string> {
  const file = `${zone}.keys`;
  writeFileSync(join(rig.folder, file), await digAt(port, zone, "DNSKEY"));
  return file;
}

const nothingBad = { bad: [], asked: expect.any(Number), checked: expect.any(Number) };
const limit = { timeout: 20 * testLimit };

describe("a signed zone moves here", () => {
  const privateKeys = [
    ["BIND, with a KSK and a ZSK", bindKey, () => bind.port, () => kskFile(join(rig.folder, "bind"), bindKey)],
    ["Knot, with one key", knotKey, () => knot?.port ?? 0, () => onlyFile(join(knot?.folder ?? "", "keys", "keys"))],
  ] as const;
  // Knot hands over its only key: the same steps, without the key that is withdrawn at the end.
  it.each(rowsOf(privateKeys, "BIND, with a KSK and a ZSK"))(
    "with its key from %s",
    limit,
    async (_, zone, portOf, fileOf) => {
      const old = portOf();
      const ds = await dsAt(old, zone);
      await rig.register(zone, ds);
      const watched = await rig.watch(zone);
      await watched.delegate(old);
      await watched.pass(1);
      await rig.importFrom(old, zone);
      const said = await rig.moor(
        `moor dnssec on ${zone} --key ${fileOf()} --also-publish ${await saveKeys(old, zone)}`,
      );
      expect(said).toContain(ds[0]);
      await until(async () => (await keysAt(rig.dns.port, zone)).join() === (await keysAt(old, zone)).join());
      await watched.delegate(old, rig.dns.port);
      await watched.pass(2);
      await watched.delegate(rig.dns.port);
      await watched.pass(3);
      if (zone === bindKey) await rig.moor(`moor dnssec withdraw ${zone}`);
      await until(async () => (await keysAt(rig.dns.port, zone)).length === 1);
      await watched.pass(26);
      expect(await watched.end()).toEqual(nothingBad);
    },
  );

  it("without its key, from BIND", limit, async () => {
    const old = await dsAt(bind.port, into);
    await rig.register(into, old);
    const watched = await rig.watch(into);
    await watched.delegate(bind.port);
    await watched.pass(1);
    await rig.importFrom(bind.port, into);
    const said = await rig.moor(`moor dnssec on ${into} --also-publish ${await saveKeys(bind.port, into)}`);
    await publishAtBind(into, said);
    await watched.pass(1);
    const both = [...said.matchAll(/^ +(.* IN DS .*)$/gm)].map(([, ds = ""]) => ds);
    expect(both).toHaveLength(2);
    expect(await rig.askParents()).toEqual([]);
    await rig.register(into, both);
    expect(await rig.askParents()).toEqual([]);
    expect(await rig.moor(`moor dnssec status ${into}`)).toContain("Stage secure");
    await watched.pass(25);
    await watched.delegate(bind.port, rig.dns.port);
    await watched.pass(2);
    await watched.delegate(rig.dns.port);
    await watched.pass(3);
    await rig.moor(`moor dnssec withdraw ${into}`);
    await until(async () => (await keysAt(rig.dns.port, into)).length === 1);
    await watched.pass(2);
    await rig.register(
      into,
      both.filter((ds) => !old.includes(ds)),
    );
    await watched.pass(26);
    expect(await watched.end()).toEqual(nothingBad);
  });

  it("and the check finds bogus answers if the other server's keys are not published", limit, async () => {
    await rig.makeZone(careless);
    await rig.moor(`moor dnssec on ${careless}`);
    await until(async () => (await keysAt(rig.dns.port, careless)).join().includes("DNSKEY"));
    await rig.register(careless, [...(await dsAt(bind.port, careless)), ...(await dsAt(rig.dns.port, careless))]);
    const watched = await rig.watch(careless);
    await watched.delegate(bind.port, rig.dns.port);
    await watched.pass(1);
    expect((await watched.end()).bad).toContain(`a cache: www.${careless} 1`);
  });
});

describe("a signed zone moves away to BIND", () => {
  it("without its key", limit, async () => {
    const own = await dsAt(rig.dns.port, away);
    await rig.register(away, own);
    expect(await rig.askParents()).toEqual([]);
    const watched = await rig.watch(away);
    await watched.delegate(rig.dns.port);
    await watched.pass(1);
    const said = await rig.moor(`moor dnssec publish ${away} ${await saveKeys(bind.port, away)}`);
    await publishAtBind(away, said);
    await watched.pass(1);
    // The parent may act on CDS records of moor.
    const both = (await digAt(rig.dns.port, away, "CDS"))
      .split("\n")
      .map((line) => line.replace(/.*CDS\s+/, `${away}. IN DS `));
    expect(both).toHaveLength(2);
    await rig.register(away, both);
    await watched.pass(25);
    await watched.delegate(rig.dns.port, bind.port);
    await watched.pass(2);
    await watched.delegate(bind.port);
    await watched.pass(3);
    const others = await dsAt(bind.port, away);
    await bind.nsupdate(
      away,
      dnskeysIn(said)
        .map((record) => `update delete ${record.replace("3600 IN", "")}`)
        .join("\n"),
    );
    await until(async () => (await keysAt(bind.port, away)).length === 1);
    await rig.register(
      away,
      others.filter((ds) => !own.includes(ds)),
    );
    await watched.pass(26);
    expect(await watched.end()).toEqual(nothingBad);
  });

  it("with its key", limit, async () => {
    expect(await keysAt(bind.port, awayKey)).toEqual(await keysAt(rig.dns.port, awayKey));
    await rig.register(awayKey, await dsAt(rig.dns.port, awayKey));
    const watched = await rig.watch(awayKey);
    await watched.delegate(rig.dns.port);
    await watched.pass(1);
    await watched.delegate(rig.dns.port, bind.port);
    await watched.pass(2);
    await watched.delegate(bind.port);
    await watched.pass(26);
    expect(await watched.end()).toEqual(nothingBad);
  });
});

const dnskeysIn = (said: string): readonly string[] => said.match(/\S+ 3600 IN DNSKEY .*/g) ?? [];

/** The records that moor has printed for the other server. */
async function publishAtBind(zone: string, said: string): Promise<void> {
  const before = (await keysAt(bind.port, zone)).length;
  await bind.nsupdate(
    zone,
    dnskeysIn(said)
      .map((record) => `update add ${record}`)
      .join("\n"),
  );
  await until(async () => (await keysAt(bind.port, zone)).length === before + 1);
}

function kskFile(folder: string, zone: string): string {
  const names = readdirSync(folder).filter((name) => name.startsWith(`K${zone}.`) && name.endsWith(".key"));
  const ksk = names.find((name) => readFileSync(join(folder, name), "utf8").includes("DNSKEY 257")) ?? "";
  return join(folder, ksk.replace(/key$/, "private"));
}

function onlyFile(folder: string): string {
  return join(folder, readdirSync(folder)[0] ?? "");
}

import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { writtenSets } from "../../../test/rig/core/written-sets.suite.ts";
import { dsAt, parentWith } from "../../../test/rig/records/parent-with.ts";
import { createZoneIn } from "../../../test/rig/store/write.ts";
import { plainSettings, type Zone } from "../../records/model.ts";
import { recordsDatabase, signingKeyFile } from "../../records/open-store.ts";
import { advanceStage, noteParentFault } from "../../records/signing/lifecycle/advance-stage.ts";
import { KeyFileSigner } from "../../records/signing/signer.ts";
import { migrations } from "../../records/store/sqlite/schema.ts";
import { openSqliteStore } from "../../records/store/sqlite/store.ts";
import { runMoor } from "../program.ts";
import { notePublisher } from "./publisher.ts";

let cwd: string;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "moor-dnssec-"));
  await moor("token", "add", "--new", "--to", "token");
  await makeZone("example.org", "@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 60 NS ns1\nns1 60 A 192.0.2.1");
});

async function moor(...words: readonly string[]) {
  const { io, printed } = openTerminal(cwd);
  return { code: await runMoor([...words, "--data", "data"], io), ...printed };
}

async function makeZone(name: string, text: string): Promise<void> {
  const store = openSqliteStore(recordsDatabase(join(cwd, "data")));
  const { id: account } = await store.ensureAccount("main", 1);
  const sets = writtenSets(name, text).map((set, i) => ({
    ...set,
    records: set.records.map((record) => ({ ...record, id: `${name} ${i}` })),
  }));
  await createZoneIn(store, { account, id: name, name, settings: plainSettings(60), serial: 1, created: 1, sets }, "a");
  store.close();
}

const { privateKey: rsa } = generateKeyPairSync("rsa", { modulusLength: 1024 });
const rsaKey = rsa.export({ type: "pkcs8", format: "pem" }).toString();

/** The keys in RFC 6605 section 6.1 (flags 257), and of cloudflare.com (other flags). */
const otherKey = (zone: string, flags = 257): string =>
  `${zone}. 3600 IN DNSKEY ${flags} 3 13 ${flags === 257 ? "GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==" : "mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ=="}`;

describe("moor dnssec", () => {
  it("signs a zone, shows what the registrar needs in every form, and lists the zone", async () => {
    const on = await moor("dnssec", "on", "example.org");
    const ds = /^example\.org\. 3600 IN DS (\d+) 13 2 ([0-9A-F]{64})$/m.exec(on.out);
    expect(on.code).toBe(0);
    const { out } = await moor("dnssec", "status", "example.org");
    const [, next = ""] = /^The next stage begins at (.*) UTC, or within minutes after that\.$/m.exec(out) ?? [];
    expect(Date.parse(`${next}Z`)).toBeGreaterThan(Date.now());
    expect(out).toContain(`For the registrar, at the stage new-parent, as a DS record:\n  ${ds?.[0]}\n`);
    expect(out).toMatch(new RegExp(`Key tag +${ds?.[1]}\n`));
    expect(out).toMatch(new RegExp(`Digest +${ds?.[2]}\n`));
    expect(out).toMatch(/example\.org\. 3600 IN DNSKEY 257 3 13 \S{88}\n/);
    expect((await moor("dnssec", "status")).out).toMatch(
      new RegExp(`example\\.org +new +\\S+ \\S+ +${ds?.[1]} +signed; waiting until unsigned records have expired\\b`),
    );
    expect(JSON.parse((await moor("dnssec", "status", "example.org", "--json")).out)).toMatchObject({
      zone: "example.org",
      stage: "new",
      until: expect.stringContaining(next.replace(" ", "T")),
      keys: [{ tag: Number(ds?.[1]), ds: ds?.[0], published: true, signs: true, dsWanted: true }],
    });
  });

  it("changes between NSEC and NSEC3 while the zone stays signed", async () => {
    expect((await moor("dnssec", "denial", "example.org", "nsec3")).err).toContain("is not signed");
    await moor("dnssec", "on", "example.org");
    const { code, out } = await moor("dnssec", "denial", "example.org", "nsec3");
    expect([code, out]).toEqual([0, "example.org now uses NSEC3. It stays signed with the same keys.\n"]);
    expect((await moor("dnssec", "status", "example.org")).out).toMatch(
      /^example\.org is signed, with NSEC3\nStage new,/,
    );
    expect((await moor("dnssec", "denial", "example.org", "nsec3")).err).toContain("already uses NSEC3");
    expect((await moor("dnssec", "denial", "example.org", "nsec4")).code).not.toBe(0);
  });

  it("says what is wrong at the parent, and since when", async () => {
    await moor("dnssec", "on", "example.org");
    const signer = new KeyFileSigner(signingKeyFile(join(cwd, "data")));
    const store = openSqliteStore(recordsDatabase(join(cwd, "data")), migrations, signer);
    const zone = await store.zoneHolding("example.org");
    if (zone?.settings.dnssec === undefined) throw new Error("the zone is not signed");
    const at = Math.ceil(Date.now() / 60_000) * 60_000;
    const since = new Date(at).toISOString();
    const by = { store, actor: "test", now: at };
    const parent = parentWith(zone.settings.dnssec.keys.flatMap((key) => dsAt(zone.name, key)));
    expect(await advanceStage(by, zone, parent, 60)).toMatchObject({ stage: "secure" });
    await noteParentFault(by, zone, { kind: "no-ds", text: "the parent has no DS record of the zone" });
    store.close();
    expect((await moor("dnssec", "ignore-silent", "example.org")).err).toContain("does not wait for its parent");
    const { out } = await moor("dnssec", "status", "example.org");
    expect(out).toMatch(/^Stage secure, .*: the zone was secure, but now the parent has no DS record of the zone$/m);
    expect(out).toContain(
      `\nAt the parent, since ${since.slice(0, 16).replace("T", " ")} UTC: the parent has no DS record of the zone, so resolvers do not validate the zone; if`,
    );
    expect((await moor("dnssec", "status")).out).toContain("but now the parent has no DS record of the zone");
    expect(JSON.parse((await moor("dnssec", "status", "example.org", "--json")).out)).toMatchObject({
      parentFault: { kind: "no-ds", since },
    });
  });

  it("keeps private keys encrypted with a file that only its owner can read", async () => {
    await moor("dnssec", "on", "example.org");
    const file = signingKeyFile(join(cwd, "data"));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { out } = await moor("dnssec", "export", "example.org");
    const secret = /PrivateKey: (\S{44})\n/.exec(out)?.[1] ?? "none";
    const database = readFileSync(recordsDatabase(join(cwd, "data")));
    expect(database.includes(Buffer.from(secret, "base64"))).toBe(false);
    expect(database.includes(secret)).toBe(false);
    renameSync(file, `${file}.away`);
    const without = await moor("dnssec", "export", "example.org");
    expect([without.code, without.err]).toEqual([1, expect.stringContaining("records.dnssec-key is missing")]);
    await makeZone("example.net", "@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 60 NS ns1.example.org.");
    const second = await moor("dnssec", "on", "example.net");
    expect([second.code, second.err]).toEqual([1, expect.stringContaining("records.dnssec-key is missing")]);
    expect(existsSync(file), "a second key file").toBe(false);
    writeFileSync(file, Buffer.alloc(32, 7).toString("base64"));
    expect((await moor("dnssec", "export", "example.org")).err).toContain("were encrypted with another file");
  });

  it("moves a zone to another server with its key", async () => {
    await moor("dnssec", "on", "example.org", "--algorithm", "ed25519");
    const exported = await moor("dnssec", "export", "example.org", "--to", "keys");
    expect(exported.out).toMatch(/^keys\/Kexample\.org\.\+015\+\d{5}\.private\n$/);
    const file = exported.out.trim();
    expect(statSync(join(cwd, file)).mode & 0o777).toBe(0o600);
    expect((await moor("dnssec", "export", "example.org", "--to", "keys")).err).toContain("already exists");
    await makeZone("example.net", "@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 60 NS ns1.example.org.");
    const on = await moor("dnssec", "on", "example.net", "--key", file);
    expect([on.code, on.out]).toEqual([0, expect.stringContaining("is signed with the given key")]);
    const keyOf = async (zone: string) => {
      const [key] = JSON.parse((await moor("dnssec", "status", zone, "--json")).out).keys;
      return [key.tag, key.dnskey];
    };
    expect(await keyOf("example.net")).toEqual(await keyOf("example.org"));
  });

  it("publishes the keys of another server, and withdraws them", async () => {
    const asked = await moor("dnssec", "on", "example.org", "--also-publish", otherKey("example.org"));
    expect([asked.code, asked.err]).toEqual([0, ""]);
    const keys = async () => JSON.parse((await moor("dnssec", "status", "example.org", "--json")).out);
    const [own, other] = [(await keys()).keys[0], (await keys()).otherKeys[0]];
    // The zone was signed before, so caches have no unsigned records.
    expect((await keys()).stage).toBe("new-parent");
    expect(other).toMatchObject({ algorithm: 13, dsWanted: true, dnskey: otherKey("").replace(/.*DNSKEY /, "") });
    expect(asked.out).toContain(`example.org. 3600 IN DNSKEY ${own.dnskey}`);
    expect(asked.out).toMatch(
      new RegExp(`${own.ds.replaceAll(".", "\\.")}\n +example\\.org\\. 3600 IN DS ${other.tag} 13`),
    );
    // The DNSKEY set of the other server, which publishes the key of this one already.
    const set = `; of dig\nexample.org. 60 IN DNSKEY ${own.dnskey}\n${otherKey("example.org", 256)}
      example.org. 60 IN RRSIG DNSKEY 13 3 60 20261201000000 20261101000000 1 example.org. AAAA\n`;
    writeFileSync(join(cwd, "set"), set);
    expect((await moor("dnssec", "publish", "example.org", "set")).code).toBe(0);
    expect((await keys()).otherKeys).toMatchObject([other, { dsWanted: false }]);
    expect((await moor("dnssec", "status", "example.org")).out).toMatch(
      new RegExp(`${other.tag}, .*: published, needs a DS record at the parent\n`),
    );
    expect((await moor("dnssec", "off", "example.org")).err).toContain("another server signs example.org too");
    const [, zoneKey] = (await keys()).otherKeys;
    expect((await moor("dnssec", "withdraw", "example.org", "1")).err).toContain(
      "publishes no key 1 of another server",
    );
    expect((await moor("dnssec", "withdraw", "example.org", `${zoneKey.tag}`)).out).toContain(
      `still publishes these keys of the other server: ${other.tag}.`,
    );
    expect((await moor("dnssec", "withdraw", "example.org")).out).toContain(
      "no longer publishes keys of another server",
    );
    expect((await keys()).otherKeys).toEqual([]);
  });

  it.each([
    ["--key", rsaKey, "the key uses algorithm 8 (RSASHA256)"],
    [
      "--key",
      "Private-key-format: v1.3\nAlgorithm: 14 (ECDSAP384SHA384)\nPrivateKey: c2VjcmV0\n",
      "algorithm 14 (ECDSAP384SHA384)",
    ],
    [
      "--key",
      "Private-key-format: v1.3\nAlgorithm: 13 (ECDSAP256SHA256)\nLabel: cGtjczExOg==\n",
      "in a hardware module (HSM)",
    ],
    ["--key", "Private-key-format: v1.3\nAlgorithm: 13 (ECDSAP256SHA256)\nPrivateKey: c2VjcmV0\n", "not a private key"],
    ["--key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nc2VjcmV0\n", "encrypted with a password"],
    ["--key", "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n", "not a private key"],
    ["--also-publish", "example.org. IN DNSKEY 257 3 8 AwEAAc2VjcmV0", "the key uses algorithm 8 (RSASHA256)"],
    [
      "--also-publish",
      "example.org. IN DNSKEY 257 3 15 3+FYD4XA+lhAgCE4qB+QGm8BUnh+SRgz2T1BxRv4Yp8=",
      "need the same algorithm",
    ],
    ["--also-publish", "example.org. IN DNSKEY 257 3 13 c2VjcmV0", "a DNSKEY record is not complete"],
    ["--also-publish", "example.org. IN DNSKEY 385 3 13 c2VjcmV0", "has flags 385"],
    ["--also-publish", "c2VjcmV0", "there is no DNSKEY record"],
    ["--also-publish", otherKey("example.com"), "belongs to example.com, not to example.org"],
    ["--also-publish", otherKey("example.org").replace("Goj", "Hoj"), "is not a point of its curve"],
    [
      "--key",
      `Private-key-format: v1.3\nAlgorithm: 13\nPrivateKey: ${Buffer.alloc(32, 255).toString("base64")}`,
      "not a number in the range of the curve",
    ],
  ])("%s %# is refused, and no message quotes the file", async (option, text, because) => {
    writeFileSync(join(cwd, "given"), text);
    const { code, out, err } = await moor("dnssec", "on", "example.org", option, "given");
    expect([code, out, err]).toEqual([1, "", expect.stringContaining(because)]);
    expect(err).not.toContain("c2VjcmV0");
    expect((await moor("dnssec", "status", "example.org")).out).toBe("example.org is not signed.\n");
  });

  it.each([
    ["another key", otherKey("example.org"), "belongs to a different key"],
    ["a ZSK", "", "is a ZSK (flags 256)"],
  ])("a .private file next to the .key file of %s is refused", async (_, text, because) => {
    await moor("dnssec", "on", "example.org");
    const file = (await moor("dnssec", "export", "example.org", "--to", "keys")).out.trim();
    const beside = join(cwd, file.replace(/private$/, "key"));
    writeFileSync(beside, text || readFileSync(beside, "utf8").replace(" 257 ", " 256 "));
    await makeZone("example.net", "@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ 60 NS ns1.example.org.");
    expect((await moor("dnssec", "on", "example.net", "--key", file)).err).toContain(because);
  });

  it.each(["--key", "--also-publish"])("%s with a missing file is refused", async (option) => {
    const { code, err } = await moor("dnssec", "on", "example.org", option, "missing");
    expect([code, err]).toEqual([1, expect.stringContaining("the file does not exist")]);
  });

  it.each([
    ["roll", "example.org", 1, /^the zone example\.org is not signed\n/],
    ["off", "example.org", 1, /^the zone example\.org is not signed\n/],
    ["on", "missing.org", 1, /^There is no zone missing\.org; create it first/],
    ["on", "nolabel", 2, /at least two labels/],
  ])("%s %s is refused", async (verb, zone, code, because) => {
    expect(await moor("dnssec", verb, zone)).toMatchObject({ code, err: expect.stringMatching(because) });
  });

  it("refuses to sign a zone twice, and to replace a key before the parent has its DS record", async () => {
    await moor("dnssec", "on", "example.org");
    expect((await moor("dnssec", "on", "example.org")).err).toContain("is already signed");
    expect((await moor("dnssec", "roll", "example.org")).err).toMatch(
      /example\.org cannot be replaced at the stage new\b.*wait for the stage new-parent, and give the DS record/s,
    );
  });

  it("gives a zone without NS records the nameservers of the service, as the v1 API shows them", async () => {
    await notePublisher(join(cwd, "data"), { nameservers: ["ns1.example.net", "ns2.example.net"] });
    await makeZone("bare.org", "@ 60 SOA ns1 hostmaster 1 7200 900 1209600 300");
    expect(await moor("dnssec", "on", "bare.org")).toMatchObject({ code: 0, err: "" });
    const store = openSqliteStore(recordsDatabase(join(cwd, "data")));
    const zone = await store.zoneHolding("bare.org");
    const { items } = await store.setPage(zone as Zone, { types: ["NS"], page: 1, perPage: 10 });
    store.close();
    const values = items.flatMap(({ records }) => records.map(({ rdata }) => rdata));
    expect(values).toEqual(["ns1.example.net.", "ns2.example.net."]);
  });

  it("stays signed until the parent has removed the DS record, or is unsigned immediately with --now", async () => {
    await moor("dnssec", "on", "example.org");
    expect((await moor("dnssec", "off", "example.org")).out).toContain("stays signed until");
    expect((await moor("dnssec", "status", "example.org")).out).toContain("Stage leaving");
    expect((await moor("dnssec", "off", "example.org", "--now")).out).toBe("example.org is no longer signed.\n");
    expect((await moor("dnssec", "status", "example.org")).out).toBe("example.org is not signed.\n");
  });

  it("stays signed after all with --cancel", async () => {
    await moor("dnssec", "on", "example.org");
    expect((await moor("dnssec", "off", "example.org", "--cancel")).err).toContain("is not being unsigned");
    await moor("dnssec", "off", "example.org");
    expect((await moor("dnssec", "off", "example.org", "--cancel")).out).toMatch(/^example\.org stays signed: /);
    expect((await moor("dnssec", "status", "example.org")).out).toContain("Stage new,");
    expect((await moor("dnssec", "off", "example.org", "--cancel", "--now")).code).toBe(2);
  });

  it("an export contains no keys; an import reports what it did not sign, and keeps the keys of a zone that it replaces", async () => {
    await moor("dnssec", "on", "example.org");
    const status = async () => {
      // When the stage ends depends on the zone's TTL, which the import changes.
      const { until: _, ...kept } = JSON.parse((await moor("dnssec", "status", "example.org", "--json")).out);
      return kept;
    };
    const before = await status();
    expect(await moor("zone", "export", "example.org", "--to", "saved.zone")).toMatchObject({ code: 0 });
    const file = join(cwd, "saved.zone");
    const text = readFileSync(file, "utf8");
    expect(text).toContain("; moor: zone signed\n");
    expect(text).not.toMatch(/TYPE4|DNSKEY|publicKey/);
    writeFileSync(file, `${text}new\t60\tA\t192.0.2.1\n`);
    const imported = () => moor("zone", "import", "example.org", "saved.zone", "--yes");
    expect(await imported()).toMatchObject({ code: 0, err: "", out: expect.stringMatching(/imported/) });
    expect(await status()).toEqual(before);
    renameSync(join(cwd, "data"), join(cwd, "old"));
    await moor("token", "add", "--new", "--to", "unused");
    expect((await imported()).out).toContain("example.org: it was signed where it was exported");
    expect((await moor("dnssec", "status", "example.org")).out).toBe("example.org is not signed.\n");
  });
});

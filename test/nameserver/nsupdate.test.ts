import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Zone } from "../../src/records/model.ts";
import { type MoorDns, run, startMoorDns } from "./moor-dns.ts";

let moor: MoorDns;
let zone: Zone;
let keys: Record<"all" | "reader" | "scoped" | "foreign", string>;

beforeAll(async () => {
  moor = await startMoorDns();
  zone = await moor.makeZone("example.org");
  await moor.makeZone("locked.example", "", { mode: "secondary" });
  const other = await moor.store.ensureAccount("other", 1);
  keys = {
    all: await moor.makeKey("all"),
    reader: await moor.makeKey("reader", { access: "read" }),
    scoped: await moor.makeKey("scoped", { access: "write", sets: [{ owner: "home", types: ["A", "AAAA"] }] }),
    foreign: await moor.makeKey("foreign", { access: "write" }, other.id),
  };
});
afterAll(() => moor?.close());
beforeEach(() =>
  moor.write(zone, "@ 600 NS ns1\nwww 600 A 192.0.2.1\nwww 600 A 192.0.2.2\nwww 600 TXT hello\nalias 600 CNAME www"),
);

const nsupdate = (lines: string, key: string | undefined = keys.all, name = "example.org", ...flags: string[]) =>
  run(
    "nsupdate",
    [...flags, ...(key ? ["-y", key] : [])],
    `server 127.0.0.1 ${moor.port}\nzone ${name}\n${lines}\nsend\n`,
  );

const sets = async (): Promise<readonly string[]> =>
  (await moor.store.sets(zone, {}))
    .filter((set) => set.type !== "SOA")
    .map(
      (set) =>
        `${set.owner} ${set.ttl} ${set.type} ${set.records
          .map((record) => record.rdata)
          .sort()
          .join(" ")}`,
    )
    .sort();

const before = ["@ 600 NS ns1.example.org.", "alias 600 CNAME www.example.org."];

describe("nsupdate", () => {
  it.each([
    ["adds a set", "update add new.example.org 300 A 192.0.2.9", { "new 300 A": "192.0.2.9" }],
    [
      "adds a record to its set, with its TTL",
      "update add www.example.org 300 A 192.0.2.3",
      {
        "www 300 A": "192.0.2.1 192.0.2.2 192.0.2.3",
      },
    ],
    [
      "adds an existing record, to change its TTL",
      "update add www.example.org 60 A 192.0.2.1",
      {
        "www 60 A": "192.0.2.1 192.0.2.2",
      },
    ],
    [
      "replaces a set",
      "update delete www.example.org A\nupdate add www.example.org 300 A 192.0.2.8",
      {
        "www 300 A": "192.0.2.8",
      },
    ],
    ["deletes a set", "update delete www.example.org A", { "www 600 A": undefined }],
    ["deletes a record", "update delete www.example.org A 192.0.2.1", { "www 600 A": "192.0.2.2" }],
    ["deletes a name", "update delete www.example.org", { "www 600 A": undefined, "www 600 TXT": undefined }],
    [
      "replaces an alias",
      "update add alias.example.org 600 CNAME other.example.org",
      {
        "alias 600 CNAME": "other.example.org.",
      },
    ],
    ["adds no alias beside other records", "update add www.example.org 600 CNAME other.example.org", {}],
    ["adds no other records beside an alias", "update add alias.example.org 600 A 192.0.2.1", {}],
    ["keeps the last nameserver", "update delete example.org NS ns1.example.org", {}],
    ["keeps the SOA and NS records if everything at the zone's name is deleted", "update delete example.org", {}],
    ["keeps the SOA", "update delete example.org SOA", {}],
    [
      "writes an unknown type",
      "update add any.example.org 60 TYPE65400 \\# 2 abcd",
      {
        "any 60 TYPE65400": "\\# 2 abcd",
      },
    ],
  ])("%s", async (_, lines, expected: Record<string, string | undefined>) => {
    expect(await nsupdate(lines)).toBe("");
    const plain = { "www 600 A": "192.0.2.1 192.0.2.2", "www 600 TXT": '"hello"' };
    const changed = Object.keys(expected).map((key) => key.replace(/ \d+ /, " "));
    const kept = [...before, ...Object.entries(plain).map(([key, value]) => `${key} ${value}`)].filter(
      (line) => !changed.some((key) => line.replace(/ \d+ /, " ").startsWith(`${key} `)),
    );
    const added = Object.entries(expected).flatMap(([key, value]) => (value === undefined ? [] : [`${key} ${value}`]));
    expect(await sets()).toEqual([...kept, ...added].sort());
  });

  it.each([
    ["yxdomain nobody.example.org", "NXDOMAIN"],
    ["nxdomain www.example.org", "YXDOMAIN"],
    ["yxrrset www.example.org MX", "NXRRSET"],
    ["nxrrset www.example.org A", "YXRRSET"],
    ["yxrrset www.example.org A 192.0.2.1", "NXRRSET"],
  ])("does nothing when %s does not hold", async (condition, code) => {
    const earlier = await sets();
    expect(await nsupdate(`prereq ${condition}\nupdate add new.example.org 60 A 192.0.2.9`)).toContain(code);
    expect(await sets()).toEqual(earlier);
  });

  it.each([
    "yxdomain www.example.org",
    "nxdomain new.example.org",
    "yxrrset www.example.org A",
    "nxrrset www.example.org MX",
    "yxrrset www.example.org A 192.0.2.1\nprereq yxrrset www.example.org A 192.0.2.2",
  ])("continues when %s holds", async (condition) => {
    expect(await nsupdate(`prereq ${condition}\nupdate add new.example.org 60 A 192.0.2.9`)).toBe("");
    expect(await sets()).toContain("new 60 A 192.0.2.9");
  });

  it("is one write, under the name of the key, and visible immediately", async () => {
    const at = await moor.store.lastChange();
    await nsupdate("update add a.example.org 60 A 192.0.2.9\nupdate add b.example.org 60 A 192.0.2.9");
    const rows = await moor.store.changesAfter(at, 10);
    expect(rows.map((row) => [row.actor, row.change.kind])).toEqual([
      ["key all", "create"],
      ["key all", "create"],
    ]);
    expect(new Set(rows.map((row) => row.serial)).size).toBe(1);
    expect(await moor.dig("+short", "b.example.org", "A")).toBe("192.0.2.9");
  });

  it("works over TCP", async () => {
    expect(await nsupdate("update add tcp.example.org 60 A 192.0.2.9", keys.all, "example.org", "-v")).toBe("");
    expect(await sets()).toContain("tcp 60 A 192.0.2.9");
  });

  it.each([
    ["without a key", "", "example.org", "new", "REFUSED"],
    ["with a key that may only read", "reader", "example.org", "new", "REFUSED"],
    ["outside of the key's scope", "scoped", "example.org", "new", "REFUSED"],
    ["with the key of another account", "foreign", "example.org", "new", "REFUSED"],
    ["for a zone that comes from elsewhere", "all", "locked.example", "new", "REFUSED"],
    ["for a zone that is not here", "all", "example.net", "new", "NOTAUTH"],
  ] as const)("is refused %s", async (_, key, name, owner, code) => {
    const secret = key === "" ? "" : keys[key];
    const said = await nsupdate(`update add ${owner}.${name} 60 A 192.0.2.9`, secret, name);
    expect(said).toContain(code);
    expect((await sets()).some((line) => line.startsWith("new "))).toBe(false);
  });

  it("is refused for a new NS record at a wildcard name, because BIND would reject the whole zone", async () => {
    expect(await nsupdate("update add *.w.example.org 60 NS ns1.example.net.")).toContain("REFUSED");
    expect((await sets()).some((line) => line.startsWith("*"))).toBe(false);
  });

  it("is allowed within the key's scope", async () => {
    expect(await nsupdate("update add home.example.org 60 A 192.0.2.9", keys.scoped)).toBe("");
    expect(await sets()).toContain("home 60 A 192.0.2.9");
  });

  it.each([
    ["a key that moor does not know", "hmac-sha256:nobody:AAAABBBBCCCCDDDDEEEEFFFF", "NOTAUTH(BADKEY)"],
    ["a wrong secret", "hmac-sha256:all:AAAABBBBCCCCDDDDEEEEFFFF", "NOTAUTH(BADSIG)"],
  ])("reports %s", async (_, key, words) => {
    const said = await nsupdate("update add new.example.org 60 A 192.0.2.9", key);
    expect(said.replaceAll(" ", "")).toContain(words);
  });
});

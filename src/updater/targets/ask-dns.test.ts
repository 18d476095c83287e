import type { Resolver } from "node:dns/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MoorDns, startMoorDns } from "../../../test/nameserver/moor-dns.ts";
import { askDns } from "./ask-dns.ts";
import { authoritative } from "./confirm-dns.ts";

const never = new AbortController().signal;

describe("what the nameservers of a zone return", () => {
  let old: MoorDns;
  let current: MoorDns;
  beforeAll(async () => {
    [old, current] = [await startMoorDns(), await startMoorDns()];
    await old.makeZone("example.org", "home 60 A 192.0.2.1\nsame 60 AAAA 2001:db8::1\n");
    await current.makeZone("example.org", "home 60 A 192.0.2.2\nsame 60 AAAA 2001:db8:0::1\n");
  });
  afterAll(async () => {
    await old?.close();
    await current?.close();
  });
  const ask = (name: string, family: "ipv4" | "ipv6", ports: readonly number[]) =>
    askDns({ zone: "example.org", name, family, servers: ports.map((port) => `127.0.0.1:${port}`) }, never);

  it("is known if they agree", async () => {
    expect(await ask("same.example.org", "ipv6", [old.port, current.port])).toEqual({
      kind: "found",
      value: { values: ["2001:db8::1"], ttl: null },
    });
  });

  it("is unknown if they differ", async () => {
    expect(await ask("home.example.org", "ipv4", [old.port, current.port])).toMatchObject({
      kind: "later",
      because: "the nameservers of example.org differ: 192.0.2.1, 192.0.2.2",
    });
  });

  it("is known if one of them is silent", async () => {
    expect(await ask("home.example.org", "ipv4", [1, current.port])).toMatchObject({
      value: { values: ["192.0.2.2"] },
    });
  });

  it.each(["new.example.org", "same.example.org"])("is missing if there is no A record %s", async (name) => {
    expect(await ask(name, "ipv4", [current.port])).toMatchObject({ kind: "missing" });
  });
});

it("the nameservers of a name that is not a zone are those of the zone above, but never those of a top-level domain", async () => {
  const asked: string[] = [];
  const resolver = {
    resolveNs: async (name: string) => {
      asked.push(name);
      if (name !== "example.org") throw new Error("no such zone");
      return ["ns1.example.net"];
    },
    resolve4: async () => ["192.0.2.53"],
    resolve6: async () => ["2001:db8::53"],
  } as unknown as Resolver;
  expect(await authoritative("my.home.example.org", resolver)).toEqual([["192.0.2.53", "[2001:db8::53]"]]);
  expect(await authoritative("example.com", resolver)).toEqual([]);
  expect(asked).toEqual(["my.home.example.org", "home.example.org", "example.org", "example.com"]);
});

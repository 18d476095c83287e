import { describe, expect, it } from "vitest";
import { deviceNames, isLoopback, type SetupInput, setupFor, typedOrigin } from "./device-setups.ts";
import { firstUpdate } from "./first-update.ts";
import { ownerIn, zoneIn } from "./typed-name.ts";

/** The rules of the page for a new dynamic name. */

const input: SetupInput = {
  ...{ origin: "https://dns.example.org:8053", zone: "example.org", owner: "home" },
  secret: "0123456789abcdef0123456789abcdef",
};

describe("what to enter in a device", () => {
  it.each(deviceNames)("$label: has the server, the name and the token", ({ value }) => {
    const { fields, text } = setupFor(value, input);
    const shown = `${fields.map((field) => field.value).join("\n")}\n${text?.content ?? ""}`;
    expect(shown).toContain("dns.example.org:8053");
    expect(shown).toContain(input.secret);
    expect(shown).toMatch(value === "moor" ? /name: "home", zone: example\.org/ : /home\.example\.org/);
  });

  it("a name at the top of the zone is the zone's", () => {
    const { fields } = setupFor("fritzbox", { ...input, owner: "@" });
    expect(fields.find(({ label }) => label === "Domain name")?.value).toBe("example.org");
  });
});

describe("the zone of a name that was typed as a whole", () => {
  const zones = ["example.org", "sub.example.org", "xn--mnchen-3ya.test"];
  it.each([
    ["home.example.org", "example.org", "home"],
    ["Home.Sub.example.org.", "sub.example.org", "home"],
    ["example.org", "example.org", "@"],
    ["büro.münchen.test", "xn--mnchen-3ya.test", "xn--bro-hoa"],
    ["home", undefined, undefined],
    ["notexample.org", undefined, undefined],
  ])("%s is in %s", (typed, zone, owner) => {
    expect(zoneIn(typed, zones)).toBe(zone);
    if (zone !== undefined) expect(ownerIn(typed, zone)).toMatchObject({ ok: true, value: owner });
  });
});

describe("the address of the service, as somebody types it", () => {
  it.each([
    ["https://dns.example.org:8053", "https://dns.example.org:8053"],
    ["https://dns.example.org/zones?x", "https://dns.example.org"],
    [" dns.example.org:8053 ", "https://dns.example.org:8053"],
    ["https://[2001:db8::1]:8053/", "https://[2001:db8::1]:8053"],
    ["http://dns.example.org", undefined],
    ["ftp://dns.example.org", undefined],
    ["https://", undefined],
    ["", undefined],
    ["two words", undefined],
  ])("%j is %j", (typed, origin) => expect(typedOrigin(typed)).toBe(origin));

  it.each([
    ["https://127.0.0.1:8053", true],
    ["https://localhost", true],
    ["https://[::1]:8053", true],
    ["https://192.168.7.2:8053", false],
    ["https://localhost.example.org", false],
  ])("%s: only this machine can reach it: %s", (origin, is) => expect(isLoopback(origin)).toBe(is));
});

describe("the first update", () => {
  const used = { lastUsed: "2026-11-18T10:00:00Z" };
  const unused = { lastUsed: null };
  it.each([
    ["has not arrived", [], [], unused, { kind: "waiting" }],
    ["is not known yet", [], undefined, used, { kind: "waiting" }],
    ["created the record", [], ["192.0.2.1"], used, { kind: "arrived", addresses: ["192.0.2.1"] }],
    ["arrived before the use of the token was noted", [], ["192.0.2.1"], unused, { kind: "arrived" }],
    ["changed the address", ["192.0.2.9"], ["192.0.2.1"], used, { kind: "arrived", addresses: ["192.0.2.1"] }],
    ["added a family", ["192.0.2.9"], ["192.0.2.9", "2001:db8::1"], used, { kind: "arrived" }],
    ["was the same address", ["192.0.2.9"], ["192.0.2.9"], used, { kind: "same", addresses: ["192.0.2.9"] }],
    ["was for another name", [], [], used, { kind: "no-address" }],
    ["has not arrived, and somebody deleted the record", ["192.0.2.9"], [], unused, { kind: "waiting" }],
  ] as const)("%s", (_, before, now, token, expected) =>
    expect(firstUpdate(before, now, token)).toMatchObject(expected),
  );
});

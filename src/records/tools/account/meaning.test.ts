import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readAccount } from "./import.ts";

const file = "@ IN SOA ns1.example.net. hostmaster.example.net. 1 7200 900 1209600 300\nwww IN A 192.0.2.1\n";

const zone = {
  name: "example.org",
  files: [{ path: "zones/example.org.zone", sha256: hash("sha256", file, "hex") }],
  mode: "primary",
  ttl: 3_600,
  labels: { team: "web" },
  locked: false,
  primaries: [{ address: "192.0.2.53", port: 53, tsig: { algorithm: "hmac-sha256" } }],
  sets: [{ owner: "www", type: "A", labels: { "example.org/role": "" } }],
};
const scope = { access: "write", zones: ["example.org"], sets: [{ owner: "www", types: ["A"] }], networks: ["::/0"] };
const manifest = { format: "moor account", version: 1, zones: [zone], tokens: [{ name: "updater", scope }] };

const withZone = (change: object) => ({ ...manifest, zones: [{ ...zone, ...change }] });
const withScope = (change: object) => ({ ...manifest, tokens: [{ name: "updater", scope: { ...scope, ...change } }] });
const read = (value: unknown) =>
  readAccount(async (path) => (path === "manifest.json" ? JSON.stringify(value) : file), { edited: false });

describe("a manifest", () => {
  it("is read, with canonical names", async () => {
    const found = await read(withScope({ zones: ["Example.ORG."] }));
    expect(found).toMatchObject({ ok: true, value: { tokens: [{ name: "updater", scope }] } });
  });

  const cases: [what: string, value: unknown, where: string, message: string][] = [
    ["an invalid network", withScope({ networks: ["garbage"] }), "tokens/0/scope/networks[0]", "not a network"],
    ["an invalid zone of a token", withScope({ zones: ["../x"] }), "tokens/0/scope/zones[0]", "not a zone name"],
    [
      "an unknown type",
      withScope({ sets: [{ types: ["NOPE"] }] }),
      "tokens/0/scope/sets[0]",
      "not a rule for record sets",
    ],
    [
      "an invalid owner",
      withScope({ sets: [{ owner: "a..b" }] }),
      "tokens/0/scope/sets[0]",
      "not a rule for record sets",
    ],
    ["an invalid expiry", withScope({ expires: -1 }), "tokens/0/scope/expires", "a time"],
    [
      "an invalid primary server",
      withZone({ primaries: [{ address: "not an address", port: 53 }] }),
      "zones/0/primaries/0/address",
      "not an IP address",
    ],
    [
      "an address that is not in canonical form",
      withZone({ primaries: [{ address: "2001:DB8::1", port: 53 }] }),
      "zones/0/primaries/0/address",
      "2001:db8::1",
    ],
    [
      "an address that is not on the internet",
      withZone({ primaries: [{ address: "10.0.0.1", port: 53 }] }),
      "zones/0/primaries/0/address",
      "10.0.0.1 is not a public address",
    ],
    [
      "an unknown algorithm",
      withZone({ primaries: [{ address: "192.0.2.53", port: 53, tsig: { algorithm: "rot13" } }] }),
      "zones/0/primaries/0/tsig/algorithm",
      "one of hmac-md5",
    ],
    ["an invalid label", withZone({ labels: { "bad key!!": "" } }), "zones/0/labels.bad key!!", "not a label key"],
    [
      "an invalid label of a set",
      withZone({ sets: [{ owner: "www", type: "A", labels: { a: "b c" } }] }),
      "zones/0/sets/0/labels.a",
      "not a label value",
    ],
    ["an unknown field", { ...manifest, versionX: 1 }, "", "unknown key versionX"],
    ["a missing field", withZone({ mode: undefined }), "zones/0", "mode is missing"],
    ["a field of the wrong type", withZone({ locked: "no" }), "zones/0/locked", "it must be true or false"],
    ["a value that is not in the list", withZone({ mode: "both" }), "zones/0/mode", "one of primary, secondary"],
    ["a number that is too large", withZone({ ttl: 2 ** 40 }), "zones/0/ttl", "2147483647 or less"],
    ["a newer version", { ...manifest, version: 2, more: [] }, "", "written by a newer moor"],
    ["another format", { name: "x" }, "", "not a manifest of moor export"],
    ["null", null, "", "not a manifest of moor export"],
  ];
  it.each(cases)("is refused with %s", async (_, value, where, message) => {
    expect(await read(value)).toEqual({
      ok: false,
      faults: [
        {
          code: expect.any(String),
          where: `manifest.json${where === "" ? "" : ` at ${where}`}`,
          message: expect.stringContaining(message),
          todo: expect.any(String),
        },
      ],
    });
  });
});

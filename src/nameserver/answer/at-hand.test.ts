import { expect, it } from "vitest";
import { queryFor } from "../../../test/nameserver/ask-over-tcp.ts";
import { mutate, seedMessages } from "../../../test/nameserver/mutate.ts";
import { zonesInMemory } from "../../../test/nameserver/zones-in-memory.ts";
import { signedZone } from "../../../test/rig/core/signed-zone.suite.ts";
import { writtenZone } from "../../../test/rig/core/written-sets.suite.ts";
import { createRandom } from "../../../test/rig/random.ts";
import { types } from "../../lib/dns/codes.ts";
import { encodeMessage } from "../../lib/dns/message.ts";
import { LoadedZones } from "./loaded-zones.ts";
import { createResponder } from "./respond.ts";

const text = [
  "@ - NS ns1",
  "ns1 - A 192.0.2.1",
  "www - A 192.0.2.2",
  "alias - CNAME www",
  `long - TXT ${'"0123456789012345678901234567890123456789" '.repeat(20)}`,
  "sub - NS ns.sub",
  "ns.sub - A 192.0.2.3",
].join("\n");
const names = ["www", "WwW", "alias", "long", "no-1", "No-2", "host.sub", "x.y.no", "ns1"].map(
  (name) => `${name}.z.example`,
);
const asked = [...names, "z.example", "elsewhere.example"];

const edns = [
  undefined,
  ...[0, 512, 1_232, 4_096].flatMap((size) => [false, true].map((dnssecOk) => ({ size, dnssecOk }))),
];

function queries(): Buffer[] {
  return asked.flatMap((name) =>
    [1, 16, types.ds, types.any].flatMap((type) =>
      edns.map((each) => {
        const flat = { udpSize: each?.size ?? 0, version: 0, dnssecOk: each?.dnssecOk ?? false, options: [] };
        return encodeMessage({ ...queryFor({ name, type }, 77), edns: each && flat });
      }),
    ),
  );
}

/** The query is followed by what an earlier, longer one has left in the memory. */
const dirty = (query: Buffer): Buffer => Buffer.concat([query, Buffer.alloc(100, 0xa7)]);

it.each([
  ["an unsigned zone", writtenZone("z.example", text)],
  ["NSEC", signedZone("z.example", text, { kind: "nsec", bytes: 64 })],
  ["NSEC3", signedZone("z.example", text, { kind: "nsec3", bytes: 64 })],
])("a reply at hand is the one that is made without it: %s", async (_, zone) => {
  const random = createRandom(7);
  const zones = new LoadedZones(zonesInMemory(zone));
  await zones.readNames();
  const respond = createResponder({ zones, onTrouble: (error) => expect.unreachable(String(error)) });
  const plain = queries();
  const seeds = seedMessages(names);
  const damaged = Array.from({ length: 3_000 }, () => mutate(random, seeds).subarray(0, 2_000));
  const reply = Buffer.alloc(65_536);
  const others: string[] = [];
  let atHand = 0;
  for (const query of [...plain, ...plain, ...damaged]) {
    const expected = await respond(query, "udp");
    const length = respond.atHand(dirty(query), query.length, reply.fill(0x55, 0, 1_300));
    if (length === 0) continue;
    atHand += 1;
    if (expected?.compare(reply, 0, length) !== 0) others.push(query.toString("hex"));
  }
  expect(others).toEqual([]);
  // Neither referrals with their answers shortened nor names elsewhere.
  expect(atHand).toBeGreaterThan(plain.length);
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { queryFor } from "../../../test/nameserver/ask-over-tcp.ts";
import { zonesInMemory } from "../../../test/nameserver/zones-in-memory.ts";
import { type Chaining, signedZone } from "../../../test/rig/core/signed-zone.suite.ts";
import { dnameTo, writtenSets, writtenZone } from "../../../test/rig/core/written-sets.suite.ts";
import { runs } from "../../../test/rig/long-run.ts";
import { typeCode } from "../../core/rdata/table.ts";
import { types } from "../../lib/dns/codes.ts";
import { encodeMessage } from "../../lib/dns/message.ts";
import { LoadedZones } from "./loaded-zones.ts";
import { createResponder } from "./respond.ts";

const zone = "example.org";
const child = "b.example.org";
const soa = "@ 3600 SOA ns1 hostmaster 1 7200 900 1209600 300\n@ - NS ns1";

const asking = (name: string, type: number, dnssecOk = false): Buffer => {
  const bytes: Buffer = encodeMessage(queryFor({ name, type, dnssecOk }, 1));
  return bytes;
};

const owner = fc.constantFrom("a", "b", "a.a", "a.b", "a.b", "*", "*.b", "a.a.c");
const line = fc.oneof(
  owner.map((name) => `${name} - A 192.0.2.1`),
  owner.map((name) => `${name} - A 192.0.2.2`),
  fc.constantFrom("a", "b", "a.a").map((name) => `${name} - NS ns1.example.net.`),
  fc.constant("c - CNAME nowhere"),
  fc.constant(`d - ${dnameTo("b.example.org")}`),
);
const step = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      write: fc.array(line, { maxLength: 4 }),
      chain: fc.constantFrom(undefined, "none", "nsec", "nsec3", "nsec3"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ child: fc.boolean() }) },
  {
    weight: 9,
    arbitrary: fc.record({
      ask: fc.constantFrom("a", "b", "c", "d", "a.a", "b.a", "a.b", "c.b", "d.b", "a.c", "b.a.c", "c.a.c", "d.d"),
      type: fc.constantFrom(typeCode("A"), typeCode("NS"), types.ds),
      dnssecOk: fc.boolean(),
    }),
  },
);

const responderFor = async (source: ReturnType<typeof zonesInMemory>) => {
  const zones = new LoadedZones(source);
  await zones.readNames();
  const respond = createResponder({ zones, onTrouble: (error) => expect.unreachable(String(error)) });
  return { zones, respond };
};

const setsOf = (text: string, chain: Chaining["kind"] | undefined) =>
  chain ? signedZone(zone, text, { kind: chain }).sets : writtenSets(zone, text);

it("gives the same answer as a new server, whatever was asked and changed before", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      const source = zonesInMemory(writtenZone(zone, "@ - NS ns1"));
      const { zones, respond } = await responderFor(source);
      source.follow(zones.apply);
      for (const each of steps) {
        if ("write" in each) source.write(zone, setsOf([soa, ...new Set(each.write)].join("\n"), each.chain));
        else if ("child" in each && each.child) source.put(writtenZone(child, "@ - NS ns1\na - A 192.0.2.3"));
        else if ("child" in each) source.remove(child);
        else {
          const query = asking(`${each.ask}.${zone}`, each.type, each.dnssecOk);
          const afresh = await (await responderFor(source)).respond(query, "udp");
          expect((await respond(query, "udp"))?.toString("hex")).toBe(afresh?.toString("hex"));
        }
      }
    }),
    runs(20),
  );
});

it("answers below a DNAME record after its invalid target was corrected", async () => {
  const source = zonesInMemory(writtenZone(zone, "@ - NS ns1\nmoved - TYPE39 \\# 1 ff"));
  const { zones, respond } = await responderFor(source);
  source.follow(zones.apply);
  const asked = async (name: string) =>
    (await respond(asking(`${name}.${zone}`, typeCode("A")), "udp"))?.readUInt16BE(6);
  expect(await asked("a.moved")).toBe(0);
  source.write(zone, writtenSets(zone, `${soa}\nmoved - ${dnameTo("example.net")}`));
  expect(await asked("nowhere")).toBe(0);
  expect(await asked("b.moved")).toBe(2);
});

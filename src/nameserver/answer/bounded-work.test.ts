import { decode } from "dns-packet";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { attacks, type HostileZone, packetOf } from "../../../test/nameserver/hostile-zones.ts";
import { inventedZone } from "../../../test/nameserver/invented-zone.ts";
import { zonesInMemory } from "../../../test/nameserver/zones-in-memory.ts";
import { createZoneView } from "../../../test/rig/core/written-sets.suite.ts";
import { runs } from "../../../test/rig/long-run.ts";
import { createRandom, type Random } from "../../../test/rig/random.ts";
import { labelsOf } from "../../core/names/name.ts";
import { typeCode, typeFromCode } from "../../core/rdata/table.ts";
import { answerQuestion } from "../../core/records/answer.ts";
import { noWork } from "../../core/records/answer-work.ts";
import { countRecords, type ZoneNode, type ZoneView } from "../../core/records/zone-view.ts";
import { flags, rcodes } from "../../lib/dns/codes.ts";
import { ednsUdpSize } from "../../lib/dns/edns.ts";
import { decodeMessage } from "../../lib/dns/message.ts";
import { compressibleLayout } from "../../lib/dns/message-writer.ts";
import { LoadedZones } from "./loaded-zones.ts";
import { createResponder } from "./respond.ts";

/** What any answer may cost, whatever is in the zone. An ordinary one needs a handful of each. */
const most = { lookups: 1_000, blocks: 230, sets: 110, records: 250 };

describe("the work of an answer has a bound that does not depend on the zone", () => {
  it.each(Object.entries(attacks))("%s", async (_, make) => {
    const hostile = make();
    const view = expectBounded(hostile, createRandom(1), 40);
    await expectSound(hostile, view, createRandom(2), 10);
  });

  it("law: in any hostile zone, for any question", { timeout: 120_000 }, async () => {
    const property = fc.asyncProperty(fc.integer({ min: 1, max: 1e9 }), async (seed) => {
      const random = createRandom(seed);
      const hostile = inventedZone(random);
      const view = expectBounded(hostile, random, 30);
      await expectSound(hostile, view, random, 10);
    });
    await fc.assert(property, runs(8));
  });
});

/** Returns the view of the zone: a large one takes long to make. */
function expectBounded({ zone, ask }: HostileZone, random: Random, questions: number): ZoneView {
  const view = createZoneView(zone);
  const counts = countLookups(view);
  for (let i = 0; i < questions; i++) {
    const { name, type, dnssecOk } = ask(random);
    const work = noWork();
    counts.lookups = 0;
    const { answer, authority, additional } = answerQuestion(view, labelsOf(name), typeOf(type), dnssecOk, work);
    const sets = [...answer, ...authority, ...additional];
    // Larger sets are encoded once, and copied.
    const records = sets.map(({ set }) => {
      const isCopied = countRecords(set) >= (compressibleLayout(typeCode(set.type)) ? 64 : 4);
      return isCopied ? 1 : countRecords(set);
    });
    const cost = {
      lookups: counts.lookups,
      blocks: work.blocks,
      sets: sets.length,
      records: records.reduce((sum, count) => sum + count, 0),
    };
    for (const [what, count] of Object.entries(cost)) {
      const limit = most[what as keyof typeof most];
      if (count > limit) throw new Error(`${name} TYPE${type} takes ${count} ${what}; at most ${limit}`);
    }
  }
  return view;
}

const typeOf = (code: number) => (code === 255 ? "ANY" : typeFromCode(code));

/** Counts how often a name is looked up in the tree. */
function countLookups(view: ZoneView): { lookups: number } {
  const counts = { lookups: 0 };
  class Counted extends Map<string, ZoneNode> {
    override get(label: string): ZoneNode | undefined {
      counts.lookups += 1;
      return super.get(label);
    }
  }
  const waiting = [view.apex, view.hashed];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    for (const child of node.children?.values() ?? []) waiting.push(child);
    if (node.children) node.children = new Counted(node.children);
  }
  return counts;
}

/**
 * Every reply can be read, and is no longer than its transport allows; over TCP it has all records, or says that it
 * cannot.
 */
async function expectSound(
  { zone, ask }: HostileZone,
  view: ZoneView,
  random: Random,
  questions: number,
): Promise<void> {
  const loaded = new LoadedZones(zonesInMemory(zone));
  const troubles: unknown[] = [];
  const respond = createResponder({ zones: loaded, onTrouble: (error) => troubles.push(error) });
  for (let i = 0; i < questions; i++) {
    const question = ask(random);
    const { name, type, dnssecOk, transport } = question;
    const reply = await respond(packetOf(question), transport);
    if (reply === undefined) throw new Error(`${name} TYPE${type}: no reply`, { cause: troubles[0] });
    expect(reply.length).toBeLessThanOrEqual(transport === "udp" ? ednsUdpSize : 65_535);
    if ((reply.readUInt16BE(2) & flags.truncated) > 0 || (reply.readUInt16BE(2) & 15) === rcodes.servFail) continue;
    const decoded = decodeMessage(reply);
    // Our reader refuses a message whose compressed names are eight times as long as the whole.
    const answers = decoded.ok ? decoded.message.answers : decode(reply).answers;
    const expected = answerQuestion(view, labelsOf(name), typeOf(type), dnssecOk).answer;
    expect(answers).toHaveLength(expected.reduce((sum, { set }) => sum + countRecords(set), 0));
  }
  expect(troubles).toEqual([]);
}

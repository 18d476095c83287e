import { beforeEach, expect, it } from "vitest";
import { type ZonesInMemory, zonesInMemory } from "../../../test/nameserver/zones-in-memory.ts";
import { writtenSets, writtenZone } from "../../../test/rig/core/written-sets.suite.ts";
import { decodeMessage, emptyMessage, encodeMessage } from "../../lib/dns/message.ts";
import { LoadedZones } from "./loaded-zones.ts";
import { createResponder, type Respond, type Responder } from "./respond.ts";

const soaLine = "@ 3600 SOA ns1 hostmaster 1 7200 900 1209600 300\n";

let source: ZonesInMemory;
let respond: Responder;
beforeEach(async () => {
  source = zonesInMemory(writtenZone("a.example", "www - A 192.0.2.1"), writtenZone("b.example", "www - A 192.0.2.1"));
  const zones = new LoadedZones(source);
  source.follow(zones.apply);
  await zones.readNames();
  respond = createResponder({ zones, onTrouble: () => undefined });
  // Everything is cached.
  for (const name of ["www.a.example", "no.a.example", "other.a.example", "www.b.example"])
    await respond(query(name), "udp");
});

const query = (name: string) => encodeMessage({ ...emptyMessage, id: 1, questions: [{ name, type: 1, class: 1 }] });

const addressesIn = (reply: Awaited<ReturnType<Respond>>) => {
  const decoded = reply && decodeMessage(reply);
  return decoded?.ok ? decoded.message.answers.map(({ data }) => Buffer.from(data).join(".")) : "no reply";
};
const isLater = (name: string) => {
  const bytes = query(name);
  const reply = respond(bytes, "udp");
  const hasNone = respond(bytes, "udp", "no-wait") === undefined && respond(bytes, "udp", "cached-only") === undefined;
  const isAtHand = respond.atHand(bytes, bytes.length, Buffer.alloc(512)) > 0;
  expect([hasNone, isAtHand]).toEqual([reply instanceof Promise, !(reply instanceof Promise)]);
  return reply instanceof Promise;
};
const write = (address: string) => source.write("a.example", writtenSets("a.example", `${soaLine}www - A ${address}`));
const isSettled = async (reply: ReturnType<Respond>) => {
  let isOver = false;
  void Promise.resolve(reply).then(() => {
    isOver = true;
  });
  await new Promise(setImmediate);
  return isOver;
};

it("queries wait until what was written to their zone before them is signed; other zones answer", async () => {
  source.tell({ kind: "unsigned", zone: "a.example", through: 5 });
  expect(["www.a.example", "no.a.example", "www.b.example"].map(isLater)).toEqual([true, true, false]);
  const first = respond(query("www.a.example"), "udp");
  source.tell({ kind: "unsigned", zone: "a.example", through: 6 });
  const second = respond(query("www.a.example"), "udp");
  write("192.0.2.5");
  source.tell({ kind: "signed", zone: "a.example", through: 5 });
  expect(addressesIn(await first)).toEqual(["192.0.2.5"]);
  expect(await isSettled(second)).toBe(false);
  expect(isLater("www.a.example")).toBe(true);
  write("192.0.2.6");
  source.tell({ kind: "signed", zone: "a.example", through: 6 });
  expect(addressesIn(await second)).toEqual(["192.0.2.6"]);
  expect(isLater("www.a.example")).toBe(false);
});

it("a zone that is loaded meanwhile waits too, and one that is replaced is loaded first", async () => {
  source.tell({ kind: "unsigned", zone: "a.example", through: 5 });
  source.tell({ kind: "replaced", zone: "a.example" });
  const reply = respond(query("www.a.example"), "udp");
  expect(await isSettled(reply)).toBe(false);
  write("192.0.2.5");
  source.tell({ kind: "replaced", zone: "a.example" });
  source.tell({ kind: "signed", zone: "a.example", through: 5 });
  expect(addressesIn(await reply)).toEqual(["192.0.2.5"]);
});

it("nobody waits any more when changes were missed, or the zone is withdrawn", async () => {
  for (const event of [{ kind: "lost" }, { kind: "withdrawn", zone: "a.example" }] as const) {
    source.tell({ kind: "unsigned", zone: "a.example", through: 5 });
    const reply = respond(query("www.a.example"), "udp");
    source.tell(event);
    expect(addressesIn(await reply)).toEqual(["192.0.2.1"]);
  }
});

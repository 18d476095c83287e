import { expect, it } from "vitest";
import { zonesInMemory } from "../../../test/nameserver/zones-in-memory.ts";
import { writtenZone } from "../../../test/rig/core/written-sets.suite.ts";
import { decodeMessage, emptyMessage, encodeMessage } from "../../lib/dns/message.ts";
import { LoadedZones } from "./loaded-zones.ts";
import { createResponder } from "./respond.ts";

it("says that an answer may be out of date, or that there is none because the source fails (RFC 8914)", async () => {
  let isBroken = false;
  const works = <T>(work: () => Promise<T>) => (isBroken ? Promise.reject(new Error("no database")) : work());
  const other = writtenZone("other.example", "www - A 192.0.2.9");
  const memory = zonesInMemory(writtenZone("example.org", "www - A 192.0.2.2"), other);
  const flaky = {
    ...memory,
    closest: (names: readonly string[]) => works(async () => await memory.closest(names)),
    load: (name: string) => works(() => memory.load(name)),
  };
  const zones = new LoadedZones(flaky);
  memory.follow(zones.apply);
  await zones.readNames();
  const respond = createResponder({ zones, onTrouble: () => undefined });
  const edns = { udpSize: 1232, version: 0, dnssecOk: false, options: [] };
  const ask = async (name: string, hasEdns: boolean) => {
    const question = { name, type: 1, class: 1 };
    const query = encodeMessage({ id: 1, ...emptyMessage, questions: [question], ...(hasEdns && { edns }) });
    const decoded = decodeMessage((await respond(query, "udp")) ?? Buffer.of());
    if (!decoded.ok) throw new Error(decoded.because);
    return decoded.message;
  };
  expect((await ask("www.example.org", true)).edns?.options).toEqual([]);
  isBroken = true;
  memory.tell({ kind: "replaced", zone: "example.org" });
  const stale = await ask("www.example.org", true);
  expect([stale.rcode, stale.edns?.options]).toEqual([0, [{ code: 15, data: Uint8Array.of(0, 3) }]]);
  const failed = await ask("www.other.example", true);
  expect([failed.rcode, failed.edns?.options]).toEqual([2, [{ code: 15, data: Uint8Array.of(0, 14) }]]);
  expect((await ask("www.other.example", false)).edns).toBeUndefined();
});

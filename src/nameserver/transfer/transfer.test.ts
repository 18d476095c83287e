import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writtenSets } from "../../../test/rig/core/written-sets.suite.ts";
import { absoluteName } from "../../core/names/name.ts";
import { type Change, diffSets } from "../../core/records/changes.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { applyingSteps } from "../../core/records/zone-lines.ts";
import type { ZoneContent } from "../../core/records/zone-view.ts";
import { finish } from "../../core/steps.ts";
import { decodeMessage, emptyMessage, type Message, type ResourceRecord } from "../../lib/dns/message.ts";
import { FairSchedule } from "../../lib/limits/fair-schedule.ts";
import { LoadedZones } from "../answer/loaded-zones.ts";
import type { ZoneSource } from "../answer/zone-source.ts";
import { createTransferAssembly } from "./assemble.ts";
import { CachedTransfers } from "./cached-transfers.ts";
import { type ChangesBetween, transferOut } from "./out.ts";

const soa = (serial: number) => `@ 3600 SOA ns1 hostmaster ${serial} 7200 900 1209600 300\n@ 300 NS ns1\n`;
const zone = "example.org";

/** Versions of one zone, starting at serial 1. */
function history(...texts: readonly string[]) {
  const versions = texts.map((text, i) => writtenSets(zone, soa(i + 1) + text));
  const steps: readonly (readonly Change[])[] = versions.slice(1).map((sets, i) => diffSets(versions[i] ?? [], sets));
  const serial = versions.length;
  const content: ZoneContent = { name: zone, ttl: 600, serial, sets: versions.at(-1) ?? [] };
  const source: ZoneSource = {
    names: async function* () {
      yield [zone];
    },
    closest: async (names) => names.find((name) => name === zone),
    load: async () => content,
    follow: () => () => {},
  };
  const changesBetween: ChangesBetween = async (_, from, to) =>
    from < 1 ? undefined : steps.slice(from - 1, to - 1).flat();
  return {
    versions,
    zones: new LoadedZones(source),
    changesBetween,
    packed: new CachedTransfers(new FairSchedule()),
    pause: async () => {},
  };
}

const question = (type: number, since?: number, edns = 1232): Message => ({
  id: 7,
  ...emptyMessage,
  questions: [{ name: zone, type, class: 1 }],
  authorities: since === undefined ? [] : [soaRecord(since)],
  edns: { udpSize: edns, version: 0, dnssecOk: false, options: [] },
});

function soaRecord(serial: number): ResourceRecord {
  const data = Buffer.alloc(22);
  data.writeUInt32BE(serial, 2);
  return { name: zone, type: 6, class: 1, ttl: 0, data };
}

async function answersTo(
  message: Message,
  made: ReturnType<typeof history>,
  transport: "udp" | "tcp" = "tcp",
): Promise<readonly Message[]> {
  const replies: Message[] = [];
  for await (const bytes of transferOut({ message, transport, room: 100 }, made)) {
    const decoded = decodeMessage(bytes);
    if (!decoded.ok) throw new Error(decoded.because);
    expect(decoded.message.questions).toEqual(message.questions);
    expect(decoded.message.edns?.udpSize).toBe(1232);
    replies.push(decoded.message);
  }
  return replies;
}

const recordsOf = (replies: readonly Message[]) => replies.flatMap((reply) => reply.answers);
const lines = (sets: readonly RRset[]): readonly string[] =>
  sets
    .filter((set) => set.type !== "SOA")
    .flatMap((set) =>
      set.records.map(({ rdata }) => `${absoluteName(set.owner, zone)} ${set.ttl ?? 600} ${set.type} ${rdata}`),
    )
    .sort();

function sortTransfer(records: readonly ResourceRecord[], of: string, since: number | undefined) {
  const assembly = createTransferAssembly(of, since);
  for (const record of records) assembly.add(record);
  return assembly.whole();
}

/** The content of a secondary that had version `since`, after the transfer. */
function received(records: readonly ResourceRecord[], since: number, before: readonly RRset[]): readonly RRset[] {
  const sorted = sortTransfer(records, zone, since);
  const how = { now: 1, newId: () => "" };
  if (sorted === undefined) throw new Error("not whole");
  if (sorted.kind === "same") return before;
  if (sorted.kind === "whole") return finish(applyingSteps([{ removed: [], added: sorted.lines }], [], 600, how)) ?? [];
  const after = finish(applyingSteps(sorted.steps, before, 600, how));
  if (after === undefined) throw new Error("takes away what is not there");
  return after;
}

const line = fc
  .tuple(fc.constantFrom("a", "b", "*.c", "d.e.f"), fc.constantFrom(60, 300), fc.integer({ min: 1, max: 9 }))
  .map(([owner, ttl, n]) => `${owner} ${ttl} A 192.0.2.${n}`);
const version = fc.uniqueArray(line, { maxLength: 12, selector: (text) => text.replace(/ \d+ /, " ") }).map((all) => {
  const ttls = new Map(all.map((text) => [text.split(" ")[0], text.split(" ")[1]]));
  return all.map((text) => text.replace(/ \d+ /, ` ${ttls.get(text.split(" ")[0])} `)).join("\n");
});

describe("zone transfer", () => {
  it("pauses after every message, so that other queries are answered meanwhile", async () => {
    const made = history(Array.from({ length: 3_000 }, (_, i) => `h${i} 60 A 192.0.2.1`).join("\n"));
    let pauses = 0;
    const pause = async () => {
      pauses += 1;
    };
    const replies = await answersTo(question(252), { ...made, pause });
    expect(replies.length).toBeGreaterThan(3);
    expect(pauses).toBe(replies.length);
  });

  it("sends the whole zone between two SOA records", async () => {
    const made = history("www 300 A 192.0.2.1\nwww 60 TXT hello\n*.x 60 MX 10 mail\nodd 60 TYPE65400 \\# 2 abcd");
    const records = recordsOf(await answersTo(question(252), made));
    expect(records[0]?.type).toBe(6);
    expect(records.at(-1)).toEqual(records[0]);
    expect(lines(received(records, 0, []))).toEqual(lines(made.versions[0] ?? []));
  });

  it("sends a large zone in many messages, none larger than allowed", async () => {
    const text = Array.from({ length: 6_000 }, (_, i) => `host-${i}.sub 300 A 10.0.${i >> 8}.${i & 255}`).join("\n");
    const made = history(text);
    const replies = await answersTo(question(252), made);
    expect(replies.length).toBeGreaterThan(3);
    expect(recordsOf(replies)).toHaveLength(6_003);
    expect(lines(received(recordsOf(replies), 0, []))).toEqual(lines(made.versions[0] ?? []));
  });

  it("as a difference leads from any version to the last one", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(version, { minLength: 1, maxLength: 6 }), fc.nat(5), async (texts, pick) => {
        const made = history(...texts);
        const since = (pick % texts.length) + 1;
        const records = recordsOf(await answersTo(question(251, since), made));
        const before = made.versions[since - 1] ?? [];
        expect(lines(received(records, since, before))).toEqual(lines(made.versions.at(-1) ?? []));
      }),
    );
  });

  it.each([
    ["the current version", 3, 1, false],
    ["a newer version than the server", 4, 1, false],
    ["the version before", 2, 6, false],
    ["a version that is too old", 0, 0, true],
  ])("sends what is needed to a client that has %s", async (_, since, count, whole) => {
    const many = Array.from({ length: 20 }, (_unused, i) => `h${i} 60 A 192.0.2.1`).join("\n");
    const made = history(many, `${many}\nx 60 A 192.0.2.2`, `${many}\nx 60 A 192.0.2.3`);
    const records = recordsOf(await answersTo(question(251, since), made));
    if (whole) expect(records).toHaveLength(24);
    else expect(records).toHaveLength(count);
  });

  it("sends the whole zone when that is shorter than the difference", async () => {
    const many = Array.from({ length: 20 }, (_unused, i) => `h${i} 60 A 192.0.2.1`).join("\n");
    const records = recordsOf(await answersTo(question(251, 1), history(many, "x 60 A 192.0.2.2")));
    expect(records.map((record) => record.type)).toEqual([6, 2, 1, 6]);
  });

  it("does not contain comments or labels", async () => {
    const made = history("a 60 A 192.0.2.1", "a 60 A 192.0.2.1");
    const [set] = writtenSets(zone, "a 60 A 192.0.2.1");
    if (!set) throw new Error("no set");
    const changes: readonly Change[] = [
      { kind: "replace", owner: "a", type: "A", before: set, after: { ...set, labels: { x: "y" } } },
    ];
    const records = recordsOf(await answersTo(question(251, 1), { ...made, changesBetween: async () => changes }));
    expect(records.map((record) => record.type)).toEqual([6, 6, 6, 6]);
  });

  it("over UDP is a difference if it fits, otherwise only the SOA with the TC bit", async () => {
    const many = Array.from({ length: 20 }, (_unused, i) => `h${i} 60 A 192.0.2.1`).join("\n");
    const made = history(many, `${many}\nx 60 A 192.0.2.2`);
    expect((await answersTo(question(251, 1), made, "udp"))[0]).toMatchObject({ truncated: false });
    expect(recordsOf(await answersTo(question(251, 1), made, "udp"))).toHaveLength(5);
    const [full] = await answersTo(question(251, 0, 512), made, "udp");
    expect(full).toMatchObject({ truncated: true, answers: [{ type: 6 }] });
    expect(await answersTo(question(252), made, "udp")).toMatchObject([{ rcode: 1 }]);
  });

  it.each([
    ["a zone that is not here", { name: "example.net" }, 9],
    ["a name inside a zone", { name: "www.example.org" }, 9],
  ])("is NOTAUTH for %s", async (_, place, rcode) => {
    const message = { ...question(252), questions: [{ ...place, type: 252, class: 1 }] };
    expect(await answersTo(message, history("www 60 A 192.0.2.1"))).toMatchObject([{ rcode }]);
  });

  it("as a difference is a format error if the request has no SOA", async () => {
    expect(await answersTo(question(251), history(""))).toMatchObject([{ rcode: 1 }]);
  });

  it("refuses differences whose versions are not consecutive", async () => {
    const records = recordsOf(await answersTo(question(251, 1), history("a 60 A 192.0.2.1", "a 60 A 192.0.2.2")));
    expect(() => sortTransfer(records, zone, 9)).toThrow("are not consecutive");
    expect(() => sortTransfer(records.slice(1), "other.example", 1)).toThrow();
    const [first, ...rest] = records;
    const further = { ...soaRecord(3), data: Buffer.from(first?.data ?? []) };
    further.data.writeUInt32BE(3, further.data.length - 20);
    // It does not reach the announced version yet, so more has to come.
    expect(sortTransfer([further, ...rest], zone, 1)).toBeUndefined();
    expect(() => sortTransfer([...records, soaRecord(2)], zone, 1)).toThrow("continues after its last SOA record");
  });

  it("reads a TTL with its highest bit set as 0, and skips records of another class", () => {
    const www = { name: `www.${zone}`, type: 1, class: 1, ttl: 0x7fff_ffff, data: Buffer.of(192, 0, 2, 1) };
    const records = [www, { ...www, ttl: 0x8000_0000 }, { ...www, class: 3 }];
    const soa = { ...soaRecord(1), data: Buffer.alloc(22) };
    expect(sortTransfer([soa, ...records, soa], zone, undefined)).toMatchObject({
      lines: [{ type: "SOA" }, { owner: "www", ttl: 0x7fff_ffff }, { owner: "www", ttl: 0 }],
    });
  });
});

import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { nameToWire } from "../../core/names/wire.ts";
import type { ResourceRecord } from "../../lib/dns/message.ts";
import { createTransferAssembly } from "./assemble.ts";

const zone = "example.org";

function soa(serial: number): ResourceRecord {
  const numbers = Buffer.alloc(20);
  numbers.writeUInt32BE(serial);
  const data = Buffer.concat([nameToWire("ns1.example.org"), nameToWire("h.example.org"), numbers]);
  return { name: zone, type: 6, class: 1, ttl: 60, data };
}
const a = (n: number): ResourceRecord => ({
  name: `h${n}.${zone}`,
  type: 1,
  class: 1,
  ttl: 60,
  data: Buffer.of(192, 0, 2, n & 255),
});

describe("createTransferAssembly", () => {
  it.each([
    ["the current SOA", 5, [soa(5)], { kind: "same" }],
    ["only an older SOA", 5, [soa(4)], { kind: "same" }],
    ["only a newer SOA: more has to come", 5, [soa(6)], undefined],
    ["only an SOA, with nothing stored: more has to come", undefined, [soa(6)], undefined],
    ["an empty zone", undefined, [soa(6), soa(6)], { kind: "whole", serial: 6, lines: [{ type: "SOA" }] }],
    [
      "a whole zone instead of a difference",
      5,
      [soa(6), a(1), soa(6)],
      { kind: "whole", lines: [{}, { owner: "h1" }] },
    ],
    [
      "a record with upper-case letters: its exact bytes, which signatures cover, and a readable value",
      undefined,
      [soa(6), { ...a(1), type: 257, data: Uint8Array.from([0, 5, ...Buffer.from("ISSUEca")]) }, soa(6)],
      { lines: [{}, { type: "CAA", rdata: "\\# 9 000549535355456361", value: '0 issue "ca"' }] },
    ],
    ["an incomplete zone", 5, [soa(6), a(1), soa(5)], undefined],
    ["a difference without its end", 5, [soa(6), soa(5), a(1), soa(6), a(2)], undefined],
    [
      "a difference",
      5,
      [soa(6), soa(5), a(1), soa(6), a(2), soa(6)],
      {
        kind: "steps",
        since: 5,
        serial: 6,
        steps: [
          {
            removed: [{ type: "SOA" }, { owner: "h1" }],
            added: [{ type: "SOA" }, { owner: "h2" }],
          },
        ],
      },
    ],
    [
      "two differences",
      5,
      [soa(7), soa(5), a(1), soa(6), soa(6), soa(7), a(2), soa(7)],
      { kind: "steps", steps: [{ added: [{}] }, { removed: [{}], added: [{}, { owner: "h2" }] }] },
    ],
  ] as const)("recognises %s", (_, since, records, meaning) => {
    const assembly = createTransferAssembly(zone, since);
    for (const record of records) assembly.add(record);
    if (meaning === undefined) expect(assembly.whole()).toBeUndefined();
    else expect(assembly.whole()).toMatchObject(meaning);
  });

  it.each([
    ["no SOA first", [a(1)], "does not start with the SOA"],
    ["the SOA of another zone first", [{ ...soa(6), name: "example.net" }], "does not start with the SOA"],
    ["a difference from another version", [soa(6), soa(4)], "are not consecutive"],
    ["a gap between differences", [soa(9), soa(5), soa(6), soa(7)], "are not consecutive"],
    ["records after the end", [soa(6), a(1), soa(6), a(2)], "continues after its last SOA"],
  ])("throws for %s", (_, records, message) => {
    const assembly = createTransferAssembly(zone, 5);
    expect(() => records.forEach(assembly.add)).toThrow(message);
  });

  it("looks at each record of a difference a fixed number of times, however many versions there are", () => {
    const steps = 2_000;
    let looks = 0;
    const counted = (record: ResourceRecord): ResourceRecord => ({
      ...record,
      get data() {
        looks += 1;
        return record.data;
      },
    });
    const records = [soa(steps)];
    for (let i = 0; i < steps; i++) records.push(soa(i), soa(i + 1));
    records.push(soa(steps));
    const assembly = createTransferAssembly(zone, 0);
    for (const record of records) {
      // As if every record came in a separate message.
      expect(assembly.whole()).toBeUndefined();
      assembly.add(counted(record));
    }
    expect(assembly.whole()).toMatchObject({ kind: "steps", serial: steps });
    expect(looks).toBeLessThan(5 * records.length);
  });
});

describe("the memory that a transfer reports", () => {
  /** In a process of its own, whose heap has nothing else in it. */
  const keptIn = (type: number, data: Buffer): { readonly kept: number; readonly reported: number } => {
    const script = `
      import { createTransferAssembly } from ${JSON.stringify(new URL("assemble.ts", import.meta.url).href)};
      const [first, record] = ${JSON.stringify([soa(1), { name: zone, type, class: 1, ttl: 60 }])};
      const data = Buffer.from(${JSON.stringify(data.toString("base64"))}, "base64");
      const heapInUse = () => (gc(), process.memoryUsage().heapUsed);
      const assembly = createTransferAssembly(${JSON.stringify(zone)}, undefined);
      const add = (n) => assembly.add({ ...record, name: "h" + n + "." + record.name, data });
      assembly.add({ ...first, data: Buffer.from(first.data.data) });
      // Also loads and compiles what it needs.
      add(0);
      const before = { heap: heapInUse(), bytes: assembly.bytes() };
      for (let n = 1; n < 20; n++) add(n);
      console.log(JSON.stringify({ kept: heapInUse() - before.heap, reported: assembly.bytes() - before.bytes }));`;
    const args = ["--expose-gc", "--input-type=module", "-e", script];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
  };
  const filled = (first: readonly number[], text: string) => Buffer.from([...first, ...Buffer.alloc(60_000, text)]);

  it.each([
    ["an unknown type", 65_300, filled([], "a")],
    ["TLSA", 52, filled([3, 1, 1], "a")],
    ["TXT", 16, Buffer.alloc(60_000, "\x01a")],
    ["CAA", 257, filled([0, 5, ...Buffer.from("issue")], "\x01")],
  ])("is what it uses: %s", (_, type, data) => {
    const { kept, reported } = keptIn(type, data);
    expect(kept).toBeGreaterThan(reported / 2);
    expect(kept).toBeLessThan(1.5 * reported);
  });
});

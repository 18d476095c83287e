import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Logger } from "../../process/log.ts";
import { ConnectionLimit, type ConnectionLimits } from "./connection-limit.ts";

const module = fileURLToPath(new URL("connection-limit.ts", import.meta.url));
const parts = `import { partOfFiles } from ${JSON.stringify(module)};
console.log(JSON.stringify([partOfFiles(2, Infinity), partOfFiles(4, 1000), partOfFiles(8, 160)]));`;

it.each([
  [200, [100, 50, 25]],
  [1_024, [512, 256, 128]],
])("HTTP, DNS over TCP and transfers share %i files, and leave some", (most, expected) => {
  const script = `ulimit -n ${most}; exec "$0" --input-type=module -e "$1"`;
  const out = execFileSync("sh", ["-c", script, process.execPath, parts], { encoding: "utf8" });
  expect(JSON.parse(out)).toEqual(expected);
});

function lab(limits: ConnectionLimits, log?: { readonly warn: (fields: unknown) => void }) {
  const limit = new ConnectionLimit(limits, log as Pick<Logger, "warn"> | undefined);
  const closed: string[] = [];
  return { closed, enter: (name: string, from = name) => limit.enter(from, () => closed.push(name)) };
}

describe("places of connections", () => {
  it("a new connection replaces the one idle longest", () => {
    const { enter, closed } = lab({ all: 3, source: 2 });
    const [first, second, third] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map((from) => enter(from));
    for (const each of [first, second, third, first]) each?.used();
    expect(enter("192.0.2.4")).toBeDefined();
    expect(closed).toEqual(["192.0.2.2"]);
  });

  it("those without a finished request go first, the oldest of them", () => {
    const { enter, closed } = lab({ all: 3, source: 3 });
    enter("192.0.2.1")?.used();
    enter("192.0.2.2");
    enter("192.0.2.3");
    for (const from of ["192.0.2.4", "192.0.2.5", "192.0.2.6"]) enter(from)?.used();
    expect(closed).toEqual(["192.0.2.2", "192.0.2.3", "192.0.2.1"]);
  });

  it("a newcomer has time for its first request, even if all others have finished one", () => {
    const { enter, closed } = lab({ all: 100, source: 100 });
    for (let i = 0; i < 100; i++) enter(`192.0.2.${i}`)?.used();
    enter("198.51.100.1");
    for (let i = 100; i < 124; i++) enter(`192.0.2.${i}`);
    expect(closed).toEqual(Array.from({ length: 25 }, (_, i) => `192.0.2.${i}`));
    enter("192.0.2.124");
    enter("192.0.2.125");
    expect(closed.slice(25)).toEqual(["192.0.2.25", "198.51.100.1"]);
  });

  it("a thousand idle ones from five IPv6 networks lock nobody out, who works is not closed, and the log says so", () => {
    const lines: unknown[] = [];
    const { enter, closed } = lab({ all: 1_000, source: 250 }, { warn: (fields: unknown) => void lines.push(fields) });
    const flood = (count: number) => {
      for (let i = 0; i < count; i++) expect(enter(`2001:db8:${i % 5}::${i.toString(16)}`)).toBeDefined();
    };
    flood(1_000);
    const worker = enter("192.0.2.1");
    worker?.used();
    expect(enter("192.0.2.2")).toBeDefined();
    flood(2_000);
    expect(closed).not.toContain("192.0.2.1");
    expect(closed).toHaveLength(2_002);
    expect(lines).toEqual([{ most: 1_000 }]);
  });

  it.each([
    [56, (i: number) => `2001:db8:0:${i.toString(16)}::1`, 2],
    [48, (i: number) => `2001:db8:0:${(i * 256).toString(16)}::1`, 4],
  ])("networks of one /%i share: %s", (_, from, most) => {
    const { enter, closed } = lab({ all: 100, source: 2 });
    for (let i = 0; i < 10; i++) enter(from(i));
    expect(closed).toHaveLength(10 - most);
    expect(enter("2001:db8:1::1")).toBeDefined();
    expect(closed).toHaveLength(10 - most);
  });

  it("a connection that is busy with a transfer is not replaced until it is done", () => {
    const { enter, closed } = lab({ all: 2, source: 2 });
    const first = enter("192.0.2.1");
    if (first) first.isBusy = () => true;
    enter("192.0.2.2");
    enter("192.0.2.3");
    expect(closed).toEqual(["192.0.2.2"]);
    if (first) first.isBusy = () => false;
    first?.used();
    enter("192.0.2.4");
    enter("192.0.2.5")?.used();
    enter("192.0.2.6");
    expect(closed).toEqual(["192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.1"]);
  });

  it("when all are busy, no new connection is accepted", () => {
    const { enter, closed } = lab({ all: 1, source: 1 });
    const first = enter("192.0.2.1");
    if (first) first.isBusy = () => true;
    expect([enter("192.0.2.2"), enter("192.0.2.1")]).toEqual([undefined, undefined]);
    first?.leave();
    expect(enter("192.0.2.2")).toBeDefined();
    expect(closed).toEqual([]);
  });

  it.each([
    ["an address", ["198.51.100.1", "::ffff:198.51.100.1", "198.51.100.1"]],
    ["an IPv6 /64", ["2001:db8::1", "2001:db8::2:3", "2001:db8::ffff"]],
  ])("%s that has used its share replaces only its own connections", (_, from) => {
    const { enter, closed } = lab({ all: 10, source: 2 });
    enter("192.0.2.1");
    for (const address of from) enter(address);
    expect(closed).toEqual([from[0]]);
  });

  it("no limit is ever exceeded, and a closed connection makes room", () => {
    const act = fc.record({ from: fc.nat(3), what: fc.constantFrom("enter", "leave", "busy", "asked") });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
        const limit = new ConnectionLimit({ all: 5, source: 2 });
        const open = new Map<object, { from: number; place: ReturnType<typeof limit.enter> }>();
        for (const { from, what } of acts) {
          const [key, one] = [...open].find(([, each]) => each.from === from) ?? [];
          if (what === "enter") {
            const made = {};
            const place = limit.enter(`192.0.2.${from}`, () => open.delete(made));
            if (place) open.set(made, { from, place });
          } else if (what === "busy" && one?.place) one.place.isBusy = () => true;
          else if (what === "asked") one?.place?.used();
          else if (key) {
            one?.place?.leave();
            open.delete(key);
          }
          expect(open.size).toBeLessThanOrEqual(5);
          for (let each = 0; each < 4; each++) {
            expect([...open.values()].filter((held) => held.from === each).length).toBeLessThanOrEqual(2);
          }
        }
      }),
    );
  });
});

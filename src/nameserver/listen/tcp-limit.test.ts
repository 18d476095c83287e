import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ConnectionLimits, TcpLimit } from "./tcp-limit.ts";

function lab(limits: ConnectionLimits) {
  const limit = new TcpLimit(limits);
  const closed: string[] = [];
  return { closed, enter: (name: string, from = name) => limit.enter(from, () => closed.push(name)) };
}

describe("places of TCP connections", () => {
  it("a new connection replaces the one idle longest", () => {
    const { enter, closed } = lab({ all: 2, source: 2 });
    const first = enter("192.0.2.1");
    enter("192.0.2.2");
    first?.queried();
    expect(enter("192.0.2.3")).toBeDefined();
    expect(closed).toEqual(["192.0.2.2"]);
  });

  it("a connection that is busy with a transfer is not replaced until it is done", () => {
    const { enter, closed } = lab({ all: 2, source: 2 });
    const first = enter("192.0.2.1");
    first?.busy(true);
    enter("192.0.2.2");
    enter("192.0.2.3");
    expect(closed).toEqual(["192.0.2.2"]);
    first?.busy(false);
    enter("192.0.2.4");
    enter("192.0.2.5");
    expect(closed).toEqual(["192.0.2.2", "192.0.2.3", "192.0.2.1"]);
  });

  it("when all are busy, no new connection is accepted", () => {
    const { enter, closed } = lab({ all: 1, source: 1 });
    const first = enter("192.0.2.1");
    first?.busy(true);
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
        const limit = new TcpLimit({ all: 5, source: 2 });
        const open = new Map<object, { from: number; place: ReturnType<typeof limit.enter> }>();
        for (const { from, what } of acts) {
          const [key, one] = [...open].find(([, each]) => each.from === from) ?? [];
          if (what === "enter") {
            const made = {};
            const place = limit.enter(`192.0.2.${from}`, () => open.delete(made));
            if (place) open.set(made, { from, place });
          } else if (what === "busy") one?.place?.busy(true);
          else if (what === "asked") one?.place?.queried();
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

import { describe, expect, it } from "vitest";
import { zonesInMemory } from "../../../test/nameserver/zones-in-memory.ts";
import { writtenSets, writtenZone } from "../../../test/rig/core/written-sets.suite.ts";
import type { ZoneContent } from "../../core/records/zone-view.ts";
import { defaultLoadLimits } from "./load-limits.ts";
import { LoadedZones } from "./loaded-zones.ts";
import { keyOfName } from "./name-key.ts";
import type { ZoneSource } from "./zone-source.ts";

const zone = (name: string) => writtenZone(name, "www - A 192.0.2.1", 1);
const soaLine = "@ 3600 SOA ns1 hostmaster 1 7200 900 1209600 300\n";

describe("a source that fails or does not answer", () => {
  /** Answers until it is told not to. */
  async function brokenSource(how: "fails" | "hangs", ...initial: readonly ZoneContent[]) {
    const source = zonesInMemory(...initial);
    let broken = false;
    const working = <T>(work: () => Promise<T>): Promise<T> => {
      if (!broken) return work();
      return how === "fails" ? Promise.reject(new Error("no database")) : new Promise(() => undefined);
    };
    const troubles: unknown[] = [];
    const flaky: ZoneSource = {
      ...source,
      closest: (names) => working(async () => await source.closest(names)),
      load: (name) => working(() => source.load(name)),
    };
    const zones = new LoadedZones(flaky, { ...defaultLoadLimits, find: 20 }, (error) => troubles.push(error));
    flaky.follow(zones.apply);
    await zones.readNames();
    const breakDown = () => {
      broken = true;
    };
    const mend = () => {
      broken = false;
    };
    return {
      source,
      zones,
      troubles,
      breakDown,
      mend,
      find: async (name: string) => await zones.find(keyOfName(name)),
    };
  }

  it.for([
    ["fails", { kind: "replaced", zone: "example.org" }],
    ["hangs", { kind: "replaced", zone: "example.org" }],
    ["fails", { kind: "lost" }],
    ["hangs", { kind: "lost" }],
  ] as const)("%s: a zone that has to be loaded again is answered from as it was, after %o", async ([how, event]) => {
    const { source, zones, troubles, breakDown, mend, find } = await brokenSource(how, zone("example.org"));
    const before = await find("example.org");
    breakDown();
    source.tell(event);
    const found = [find("www.example.org"), find("example.org")];
    // Until it is known that the source does not answer, queries wait for it.
    if (how === "hangs") source.tell({ kind: "late" });
    for (const each of found) expect(await each).toBe(before);
    if (how === "fails") expect(troubles.length).toBeGreaterThan(0);
    // Nobody waits for it a second time.
    if (how === "hangs") expect(zones.find(keyOfName("example.org"))).toBe(before);
    mend();
    if (how === "hangs") return;
    await expect.poll(() => find("example.org")).not.toBe(before);
    expect(zones.count()).toBe(1);
  });

  it.for([
    ["that was deleted", { kind: "changed", zone: "example.org", serial: 2, changes: [soaGone()] }],
    ["that has expired", { kind: "withdrawn", zone: "example.org" }],
  ] as const)("a zone %s is not answered from any more", async ([, event]) => {
    const { source, breakDown, find } = await brokenSource("fails", zone("example.org"));
    await find("example.org");
    breakDown();
    source.tell(event);
    await expect(find("example.org")).rejects.toThrow("no database");
  });

  it("a name in a zone that was never loaded is not answered from the zone above it", async () => {
    const { source, breakDown, find } = await brokenSource("fails", zone("example.org"), zone("sub.example.org"));
    await find("example.org");
    breakDown();
    source.tell({ kind: "lost" });
    expect((await find("www.example.org"))?.view.name).toBe("example.org");
    await expect(find("www.sub.example.org")).rejects.toThrow("no database");
  });

  it("takes no more memory than allowed", async () => {
    const source = zonesInMemory(zone("a.example"), zone("b.example"), zone("c.example"));
    const zones = new LoadedZones(source, { ...defaultLoadLimits, sets: 4 });
    source.follow(zones.apply);
    for (const name of ["a", "b"]) await zones.find(keyOfName(`${name}.example`));
    const a = await zones.find(keyOfName("a.example"));
    source.tell({ kind: "lost" });
    await zones.find(keyOfName("b.example"));
    await zones.find(keyOfName("c.example"));
    expect(await zones.find(keyOfName("a.example"))).not.toBe(a);
  });
});

function soaGone() {
  const [before] = writtenSets("example.org", soaLine);
  if (before === undefined) throw new Error("no set");
  return { kind: "delete", owner: "@", type: "SOA", before, after: null } as const;
}

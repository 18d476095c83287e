import { describe, expect, it } from "vitest";
import { zonesInMemory } from "../../../test/nameserver/zones-in-memory.ts";
import { writtenSets, writtenZone } from "../../../test/rig/core/written-sets.suite.ts";
import { until } from "../../../test/rig/until.ts";
import { setsOfView, type ZoneContent } from "../../core/records/zone-view.ts";
import { defaultLoadLimits } from "./load-limits.ts";
import { type LoadedZone, LoadedZones } from "./loaded-zones.ts";
import { keyOfName } from "./name-key.ts";
import { NoContent, type ZoneSource } from "./zone-source.ts";

const zone = (name: string, text = "www - A 192.0.2.1", serial = 1) => writtenZone(name, text, serial);
const soaLine = "@ 3600 SOA ns1 hostmaster 1 7200 900 1209600 300\n";

function follow(source: ZoneSource, limits = defaultLoadLimits) {
  const zones = new LoadedZones(source, limits);
  source.follow(zones.apply);
  return Object.assign(zones, { where: async (name: string) => (await zones.find(keyOfName(name)))?.view.name });
}

const values = (loaded: LoadedZone | undefined, type: string): readonly string[] =>
  loaded
    ? [...setsOfView(loaded.view)].flatMap(({ set }) => (set.type === type && "values" in set ? set.values : []))
    : [];

describe("the zone of a name", () => {
  const source = zonesInMemory(zone("example.org"), zone("sub.example.org"), zone("a\\.b.example.net"));
  it.each([
    ["example.org", "example.org"],
    ["www.example.org", "example.org"],
    ["a.b.c.example.org", "example.org"],
    ["sub.example.org", "sub.example.org"],
    ["x.sub.example.org", "sub.example.org"],
    ["badsub.example.org", "example.org"],
    ["org", undefined],
    ["example.net", undefined],
    ["x.a\\.b.example.net", "a\\.b.example.net"],
    ["", undefined],
  ])("%s", async (name, expected) => {
    expect(await follow(source).where(name)).toBe(expected);
  });
});

describe("asking the source", () => {
  it("happens once per name, whether it is a zone or not", async () => {
    const source = zonesInMemory(zone("example.org"));
    const zones = follow(source);
    for (let i = 0; i < 3; i++) {
      await zones.where("www.example.org");
      await zones.where("www.example.net");
    }
    expect(source.asked).toEqual({ closest: 2, load: 1 });
    expect(zones.find(keyOfName("www.example.org"))).not.toBeInstanceOf(Promise);
    expect(zones.find(keyOfName("www.example.net"))).toBeUndefined();
  });

  it("loads a zone once, however many ask at the same time", async () => {
    const source = zonesInMemory(zone("example.org"));
    const zones = follow(source);
    const found = await Promise.all(Array.from({ length: 50 }, (_, i) => zones.where(`h${i}.example.org`)));
    expect(new Set(found)).toEqual(new Set(["example.org"]));
    expect(source.asked.load).toBe(1);
  });

  it("that is slow finds the zone that another query has loaded meanwhile, with every change", async () => {
    const source = zonesInMemory(zone("example.org"));
    const slow = Promise.withResolvers<void>();
    const closest: ZoneSource["closest"] = async (names) => {
      if (names.includes("late.example.org")) await slow.promise;
      return await source.closest(names);
    };
    const zones = follow({ ...source, closest });
    const late = zones.find(keyOfName("late.example.org"));
    const first = await zones.find(keyOfName("www.example.org"));
    slow.resolve();
    expect(await late).toBe(first);
    expect([source.asked.load, zones.count(), first?.state]).toEqual([1, 1, "current"]);
    source.write("example.org", writtenSets("example.org", `${soaLine}www - A 192.0.2.9`));
    expect(values(first, "A")).toEqual(["192.0.2.9"]);
  });

  it("times out", async () => {
    const never = new Promise<never>(() => {});
    const source: ZoneSource = { closest: () => "example.org", load: () => never, follow: () => () => {} };
    await expect(follow(source, { ...defaultLoadLimits, wait: 20 }).where("example.org")).rejects.toThrow("20 ms");
    const silent: ZoneSource = { ...source, closest: () => new Promise(() => {}) };
    await expect(follow(silent, { ...defaultLoadLimits, find: 30 }).where("example.org")).rejects.toThrow("30 ms");
  });

  it("is retried after a failure", async () => {
    const good = zonesInMemory(zone("example.org"));
    let left = 1;
    const load: ZoneSource["load"] = async (name) => {
      if (left-- > 0) throw new Error("disk");
      return await good.load(name);
    };
    const zones = follow({ ...good, load });
    await expect(zones.where("example.org")).rejects.toThrow("disk");
    expect(await zones.where("example.org")).toBe("example.org");
  });
});

describe("a zone that has nothing to answer from", () => {
  it("is not asked for again at each query, but as soon as there is news of it", async () => {
    const good = zonesInMemory(zone("example.org"));
    let isThere = false;
    const asked = { closest: 0, load: 0 };
    const zones = follow({
      ...good,
      closest: (names) => {
        asked.closest += 1;
        return good.closest(names);
      },
      load: async (name) => {
        asked.load += 1;
        if (!isThere) throw new NoContent("not transferred yet");
        return await good.load(name);
      },
    });
    for (let i = 0; i < 100; i++) await expect(zones.where("example.org")).rejects.toThrow("not transferred yet");
    expect(asked).toEqual({ closest: 1, load: 1 });
    expect(zones.isKnown(keyOfName("example.org"))).toBe(true);
    isThere = true;
    zones.apply({ kind: "replaced", zone: "example.org" });
    expect(await zones.where("example.org")).toBe("example.org");
  });
});

describe("a large zone", () => {
  const hosts = (count: number) => Array.from({ length: count }, (_, i) => `h${i} - A 192.0.2.1`).join("\n");
  const large = zone("large.example", hosts(30_000));

  it("is built in parts: other zones are found in between", async () => {
    const zones = follow(zonesInMemory(large, zone("example.org")));
    const order: string[] = [];
    const loads = zones.where("large.example").then(() => order.push("large"));
    for (let i = 0; i < 3; i++) {
      await new Promise(setImmediate);
      expect(await zones.where("example.org")).toBe("example.org");
      order.push("small");
    }
    await loads;
    expect(order).toEqual(["small", "small", "small", "large"]);
  });

  it("may be passed on in parts; when it is begun again, the earlier parts are dropped", async () => {
    const whole = zone("example.org", "a - A 192.0.2.1\nb - A 192.0.2.2");
    const load: ZoneSource["load"] = async (_, begin) => {
      begin?.(whole)(writtenSets("example.org", "gone - A 192.0.2.3"));
      begin?.(whole)(whole.sets.slice(0, -1));
      return { ...whole, sets: whole.sets.slice(-1) };
    };
    const loaded = await follow({ ...zonesInMemory(whole), load }).find(keyOfName("example.org"));
    expect([values(loaded, "A").toSorted(), loaded?.view.size]).toEqual([
      ["192.0.2.1", "192.0.2.2"],
      whole.sets.length,
    ]);
  });

  it("shows what was written while it was built", async () => {
    const source = zonesInMemory(large);
    const found = follow(source).find(keyOfName("large.example"));
    for (let i = 0; i < 3; i++) await new Promise(setImmediate);
    source.write("large.example", writtenSets("large.example", `${soaLine}h7 - A 192.0.2.7`));
    const loaded = await found;
    expect([values(loaded, "A"), loaded?.view.size]).toEqual([["192.0.2.7"], 2]);
    expect(source.asked.load).toBe(1);
  });

  it("that takes longer to load than any query waits is loaded all the same, and is found later", async () => {
    const source = zonesInMemory(zone("example.org"));
    const gate = Promise.withResolvers<void>();
    const load: ZoneSource["load"] = (name) => gate.promise.then(() => source.load(name));
    const zones = follow({ ...source, load }, { ...defaultLoadLimits, wait: 20 });
    for (let i = 0; i < 3; i++) await expect(zones.where("example.org")).rejects.toThrow("20 ms");
    gate.resolve();
    await expect.poll(() => zones.count()).toBe(1);
    expect(await zones.where("example.org")).toBe("example.org");
    expect(source.asked.load).toBe(1);
  });
});

describe("a load that takes longer than queries wait", () => {
  function slow() {
    const source = zonesInMemory(zone("example.org"));
    const gates: (() => void)[] = [];
    const load: ZoneSource["load"] = async (name) => {
      const content = await source.load(name);
      await new Promise<void>((resolve) => gates.push(resolve));
      return content;
    };
    const zones = follow({ ...source, load }, { ...defaultLoadLimits, wait: 20 });
    return { source, gates, zones };
  }

  it("is awaited by a transfer", async () => {
    const { gates, zones, source } = slow();
    const transfer = zones.find(keyOfName("example.org"), "transfer");
    await expect(zones.where("example.org")).rejects.toThrow("20 ms");
    gates[0]?.();
    expect((await transfer)?.view.name).toBe("example.org");
    expect(source.asked.load).toBe(1);
  });

  it("answers queries, even if the zone was replaced meanwhile and is loaded again", async () => {
    const { gates, zones, source } = slow();
    await expect(zones.where("example.org")).rejects.toThrow("20 ms");
    source.tell({ kind: "replaced", zone: "example.org" });
    gates[0]?.();
    await until(() => gates.length === 2);
    expect(await zones.where("example.org")).toBe("example.org");
    gates[1]?.();
    await expect.poll(() => zones.count()).toBe(1);
  });

  it("answers nothing from before the zone was withdrawn", async () => {
    const { gates, zones, source } = slow();
    await expect(zones.where("example.org")).rejects.toThrow("20 ms");
    source.tell({ kind: "withdrawn", zone: "example.org" });
    gates[0]?.();
    await until(() => gates.length === 2);
    await expect(zones.where("example.org")).rejects.toThrow("20 ms");
  });
});

describe("zones that are expected to be asked for", () => {
  const expected = (name: string, wasAsked = true, records = 2) => ({ name, records, wasAsked });
  const names = ["a.example", "b.example", "c.example"];

  it("are loaded in order, as far as there is memory; those that nobody asked for as far as there is more", async () => {
    const source = zonesInMemory(...names.map((name) => zone(name)));
    const zones = follow(source, { ...defaultLoadLimits, sets: 6, unasked: 4 });
    await zones.loadExpected([expected("a.example"), expected("b.example", false, 3), expected("c.example", false)]);
    for (const name of ["a.example", "c.example"]) expect(zones.isKnown(keyOfName(name))).toBe(true);
    expect(zones.isKnown(keyOfName("b.example"))).toBe(false);
    await zones.loadExpected([expected("b.example")]);
    expect([zones.count(), source.asked]).toEqual([3, { closest: 0, load: 3 }]);
  });

  it("are left when the source is down", async () => {
    let asked = 0;
    const load: ZoneSource["load"] = async () => {
      asked += 1;
      throw new Error("down");
    };
    await follow({ ...zonesInMemory(), load }).loadExpected(
      Array.from({ length: 9 }, (_, i) => expected(`z${i}.example`)),
    );
    expect(asked).toBe(3);
  });

  it("are told apart by who asks: the source hears of each zone that is used", async () => {
    const used: string[] = [];
    const zones = follow({
      ...zonesInMemory(...names.map((name) => zone(name))),
      noteUse: (name) => void used.push(name),
    });
    await zones.loadExpected(names.map((name) => expected(name)));
    for (let i = 0; i < 3; i++) await zones.where("www.b.example");
    await zones.where("c.example");
    expect(used).toEqual(["b.example", "c.example"]);
  });
});

describe("following", () => {
  it("applies a change in place", async () => {
    const source = zonesInMemory(zone("example.org"));
    const zones = follow(source);
    const loaded = await zones.find(keyOfName("example.org"));
    source.write("example.org", writtenSets("example.org", `${soaLine}www - A 192.0.2.2`));
    expect(values(loaded, "A")).toEqual(["192.0.2.2"]);
    expect(values(loaded, "SOA")[0]).toContain(" 2 7200");
    expect(source.asked.load).toBe(1);
  });

  it("ignores a change that was already in the loaded zone", async () => {
    const source = zonesInMemory(zone("example.org", "www - A 192.0.2.9", 5));
    const zones = follow(source);
    const loaded = await zones.find(keyOfName("example.org"));
    const [old] = writtenSets("example.org", "www - A 192.0.2.1");
    if (old === undefined) throw new Error("no set");
    const change = { kind: "create", owner: "www", type: "A", before: null, after: old } as const;
    source.tell({ kind: "changed", zone: "example.org", serial: 4, changes: [change] });
    expect(values(loaded, "A")).toEqual(["192.0.2.9"]);
  });

  it("applies a write that arrives in parts", async () => {
    const source = zonesInMemory(zone("example.org"));
    const zones = follow(source);
    const loaded = await zones.find(keyOfName("example.org"));
    for (const owner of ["a", "b"]) {
      const [after] = writtenSets("example.org", `${owner} - TXT "x"`);
      if (after === undefined) throw new Error("no set");
      const change = { kind: "create", owner, type: "TXT", before: null, after } as const;
      source.tell({ kind: "changed", zone: "example.org", serial: 2, changes: [change] });
    }
    expect(values(loaded, "TXT")).toHaveLength(2);
  });

  it("finds a zone that was created after its name was queried", async () => {
    const source = zonesInMemory(zone("example.org"));
    const zones = follow(source);
    expect(await zones.where("www.sub.example.org")).toBe("example.org");
    source.put(zone("sub.example.org"));
    expect(await zones.where("www.sub.example.org")).toBe("sub.example.org");
    source.remove("sub.example.org");
    expect(await zones.where("www.sub.example.org")).toBe("example.org");
  });

  it("forgets everything when changes were missed", async () => {
    const source = zonesInMemory(zone("example.org"));
    const zones = follow(source);
    const before = await zones.find(keyOfName("example.org"));
    source.tell({ kind: "lost" });
    expect(before?.state).toBe("old");
    expect(await zones.find(keyOfName("example.org"))).not.toBe(before);
  });

  it("reloads a zone that was replaced", async () => {
    const source = zonesInMemory(zone("example.org"));
    const zones = follow(source);
    const before = await zones.find(keyOfName("example.org"));
    source.tell({ kind: "replaced", zone: "example.org" });
    expect(await zones.find(keyOfName("example.org"))).not.toBe(before);
    expect(source.asked.load).toBe(2);
  });
});

it("reloads a zone when the serials cannot be compared (RFC 1982)", async () => {
  const source = zonesInMemory(zone("example.org"));
  const zones = follow(source);
  const before = await zones.find(keyOfName("example.org"));
  source.tell({ kind: "changed", zone: "example.org", serial: 1 + 2 ** 31, changes: [] });
  expect(await zones.find(keyOfName("example.org"))).not.toBe(before);
  expect(source.asked.load).toBe(2);
});

describe("while a zone is being loaded", () => {
  /** The first load hangs until it is released, and returns the content from when it began. */
  function slowSource(...initial: readonly ZoneContent[]) {
    const source = zonesInMemory(...initial);
    const gate = Promise.withResolvers<void>();
    const load: ZoneSource["load"] = async (name) => {
      const content = await source.load(name);
      await gate.promise;
      return content;
    };
    return { ...source, load, letGo: gate.resolve };
  }

  it("a change is remembered, and applied afterwards", async () => {
    const source = slowSource(zone("example.org"));
    const found = follow(source).find(keyOfName("example.org"));
    await Promise.resolve();
    await Promise.resolve();
    source.write("example.org", writtenSets("example.org", `${soaLine}www - A 192.0.2.2`));
    source.letGo();
    expect(values(await found, "A")).toEqual(["192.0.2.2"]);
  });

  it("several changes are remembered, and each is applied once", async () => {
    const source = slowSource(zone("example.org"));
    const found = follow(source).find(keyOfName("example.org"));
    await new Promise(setImmediate);
    for (const last of [2, 3, 4]) {
      source.write("example.org", writtenSets("example.org", `${soaLine}www - A 192.0.2.${last}`));
    }
    source.letGo();
    expect(values(await found, "A")).toEqual(["192.0.2.4"]);
  });

  it("the deletion of the zone is noticed: it is not found", async () => {
    const source = slowSource(zone("example.org"));
    const found = follow(source).find(keyOfName("example.org"));
    await new Promise(setImmediate);
    source.remove("example.org");
    source.letGo();
    expect(await found).toBeUndefined();
  });

  it("the zone may be deleted and created again: the new one is found", async () => {
    const source = slowSource(zone("example.org"));
    const found = follow(source).find(keyOfName("example.org"));
    await new Promise(setImmediate);
    source.remove("example.org");
    source.put(zone("example.org", "www - A 192.0.2.7"));
    source.letGo();
    expect(values(await found, "A")).toEqual(["192.0.2.7"]);
  });
});

it("a zone that is created while its name is looked up is not missed", async () => {
  const source = zonesInMemory();
  const gate = Promise.withResolvers<void>();
  const closest: ZoneSource["closest"] = async (names) => {
    const found = await source.closest(names);
    await gate.promise;
    return found;
  };
  const zones = follow({ ...source, closest });
  const found = zones.where("www.example.org");
  await new Promise(setImmediate);
  source.put(zone("example.org"));
  gate.resolve();
  expect(await found).toBe("example.org");
});

describe("once the names are known", () => {
  async function learned(...initial: readonly ZoneContent[]) {
    const source = zonesInMemory(...initial);
    const zones = follow(source);
    await zones.readNames();
    return { source, zones };
  }

  it("the source is not asked about random names", async () => {
    const { source, zones } = await learned(zone("example.org"));
    await zones.where("www.example.org");
    for (let i = 0; i < 100; i++) await zones.where(`n${i}.example.${i % 2 ? "org" : "net"}`);
    expect(source.asked).toEqual({ closest: 1, load: 1 });
  });

  it("a new zone is found", async () => {
    const { source, zones } = await learned(zone("example.org"));
    expect(await zones.where("www.sub.example.org")).toBe("example.org");
    source.put(zone("sub.example.org"));
    source.put(zone("example.net"));
    expect(await zones.where("www.sub.example.org")).toBe("sub.example.org");
    expect(await zones.where("www.example.net")).toBe("example.net");
  });

  it("they are not used after changes were missed, until they are read again", async () => {
    const { source, zones } = await learned();
    const quiet = { ...source, follow: () => () => {} };
    quiet.put(zone("example.org"));
    source.tell({ kind: "lost" });
    expect(await zones.where("www.example.org")).toBe("example.org");
  });

  it("they are not used if changes were missed while they were read", async () => {
    const source = zonesInMemory();
    const gate = Promise.withResolvers<void>();
    const names = async function* () {
      await gate.promise;
      yield [];
    };
    const zones = follow({ ...source, names });
    const learning = zones.readNames();
    source.tell({ kind: "lost" });
    gate.resolve();
    await learning;
    await zones.where("www.example.org");
    expect(source.asked.closest).toBe(1);
  });
});

describe("memory", () => {
  const names = Array.from({ length: 200 }, (_, i) => `z${i}.example`);

  it("holds no more sets than allowed, and keeps the zones in use", async () => {
    const source = zonesInMemory(...names.map((name) => zone(name)));
    const zones = follow(source, { ...defaultLoadLimits, sets: 40 });
    for (const name of names) {
      await zones.where(name);
      await zones.where("z0.example");
    }
    expect(zones.count()).toBe(20);
    expect(source.asked.load).toBe(200);
  });

  it("drops a zone even when all are in use", async () => {
    const zones = follow(zonesInMemory(...names.map((name) => zone(name))), { ...defaultLoadLimits, sets: 40 });
    for (const name of names) {
      await zones.where(name);
      for (const other of names.slice(0, 3)) await zones.where(other);
    }
    expect(zones.count()).toBeLessThanOrEqual(20);
  });

  it("keeps a single zone that is larger than the limit", async () => {
    const zones = follow(zonesInMemory(zone("example.org")), { ...defaultLoadLimits, sets: 1 });
    expect(await zones.where("example.org")).toBe("example.org");
    expect(zones.count()).toBe(1);
  });
});

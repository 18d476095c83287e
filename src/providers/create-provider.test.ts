import { describe, expect, it } from "vitest";
import { Budget } from "./budget.ts";
import { createProvider } from "./create-provider.ts";
import type { ProviderChange } from "./provider.ts";
import type { CurrentSet, ProviderCalls } from "./provider-calls.ts";

const zone = "example.org";
const never = new AbortController().signal;
const changeOf = (owner: string): ProviderChange => ({
  owner,
  type: "A",
  content: { ttl: 300, values: ["192.0.2.1"] },
});
const names = Array.from({ length: 100 }, (_, at) => `h${at}`);

/** A provider that refuses some names, and counts the requests of a token. */
function openWith(
  bad: readonly string[],
  rules: Partial<ProviderCalls["rules"]>,
  kind: "refused" | "later" = "refused",
) {
  const sent: string[][] = [];
  const budget = new Budget(() => 0);
  budget.allow(rules.budget);
  const calls: Partial<ProviderCalls> = {
    service: "the provider",
    rules: {
      ttl: { lowest: 0, highest: 86_400, zoneDefault: false },
      ...{ mostValues: 10, mostSets: 1, needsBefore: false, ...rules },
    },
    async write(_, changes) {
      sent.push(changes.map(({ set }) => set.name));
      budget.noteAnswer({});
      if (changes.some(({ set }) => bad.includes(set.name)))
        return { kind: "refused", because: { kind, because: "no", todo: "" } };
      return { kind: "accepted", value: changes.map(() => ({ values: ["192.0.2.1"], ttl: 300 })) };
    },
  };
  return { sent, provider: createProvider(calls as ProviderCalls, budget) };
}

describe("many changes of one zone", () => {
  it("are few requests, though one of a hundred is wrong", async () => {
    const { sent, provider } = openWith(["h37"], { mostSets: 100 });
    const outcomes = await provider.write(zone, names.map(changeOf), never);
    expect(outcomes.map(({ kind }) => kind)).toEqual(names.map((name) => (name === "h37" ? "refused" : "done")));
    expect(sent.length).toBeLessThanOrEqual(15);
    const stored = sent.filter((part) => !part.includes("h37")).flat();
    expect(stored).toEqual(names.filter((name) => name !== "h37"));
  });

  it("wait when the requests of the token are used up, and say for how long", async () => {
    const { sent, provider } = openWith([], { budget: { requests: 2, seconds: 60 } });
    const outcomes = await provider.write(zone, ["a", "b", "c"].map(changeOf), never);
    expect(outcomes).toMatchObject([{ kind: "done" }, { kind: "done" }, { kind: "waiting", retryAfter: 30_000 }]);
    expect([sent, provider.wait(zone)]).toEqual([[["a"], ["b"]], 30_000]);
  });

  it("wait no longer than the provider says: how long trouble has lasted decides", async () => {
    const { provider } = openWith(["a"], {}, "later");
    expect(await provider.write(zone, [changeOf("a")], never)).toMatchObject([{ kind: "waiting", retryAfter: 0 }]);
    expect(provider.wait(zone)).toBe(0);
  });
});

describe("a provider that cannot read a single set", () => {
  it("is asked for the whole zone once before a batch, and once after it", async () => {
    const asked: string[] = [];
    const stored = new Map<string, CurrentSet<undefined>>();
    const calls: Partial<ProviderCalls<undefined>> = {
      service: "the provider",
      rules: {
        ttl: { lowest: 0, highest: 86_400, zoneDefault: false },
        ...{ mostValues: 10, mostSets: 1, needsBefore: true, readsWholeZone: true },
      },
      async sets() {
        asked.push("sets");
        return { kind: "found", value: [...stored].map(([name, set]) => ({ name, type: "A", ...set })) };
      },
      async read() {
        asked.push("read");
        return { kind: "found", value: undefined };
      },
      async write(_, [change]) {
        if (change?.content) stored.set(change.set.name, { values: change.content.values, ttl: 300, raw: undefined });
        return { kind: "accepted", value: [] };
      },
    };
    const provider = createProvider(calls as ProviderCalls, new Budget(() => 0));
    const outcomes = await provider.write(zone, names.slice(0, 5).map(changeOf), never);
    expect(outcomes.map(({ kind }) => kind)).toEqual(Array.from({ length: 5 }, () => "done"));
    expect(asked).toEqual(["sets", "sets"]);
  });
});

describe("a list whose pages shift while it is read", () => {
  /** The list of the zone leaves out one set, the first time it is read. */
  function openShifting() {
    const held = new Map<string, CurrentSet<undefined>>(
      names.map((name) => [name, { values: ["192.0.2.9"], ttl: 300, raw: undefined }]),
    );
    let hidden: string | undefined = "h7";
    const calls: Partial<ProviderCalls<undefined>> = {
      service: "the provider",
      rules: {
        ttl: { lowest: 0, highest: 86_400, zoneDefault: false },
        ...{ mostValues: 10, mostSets: 100, needsBefore: false },
      },
      async sets() {
        const listed = [...held].filter(([name]) => name !== hidden);
        hidden = undefined;
        return { kind: "found", value: listed.map(([name, set]) => ({ name, type: "A", ...set })) };
      },
      read: async ({ name }) => ({ kind: "found", value: held.get(name) }),
      async write(_, changes) {
        for (const { set, content } of changes)
          if (content) held.set(set.name, { values: content.values, ttl: 300, raw: undefined });
          else held.delete(set.name);
        return { kind: "accepted", value: [] };
      },
    };
    return { held, provider: createProvider(calls as ProviderCalls, new Budget(() => 0)) };
  }
  const expected = { ttl: 300, values: ["192.0.2.9"] };
  const done = Array.from({ length: 20 }, () => "done");

  it("does not make a set count as deleted by somebody else", async () => {
    const { provider } = openShifting();
    const changes = names.slice(0, 20).map((owner) => ({ ...changeOf(owner), expected }));
    expect((await provider.write(zone, changes, never)).map(({ kind }) => kind)).toEqual(done);
  });

  it("does not make a set count as deleted before it was", async () => {
    const { held, provider } = openShifting();
    const changes = names.slice(0, 20).map((owner) => ({ ...changeOf(owner), content: undefined, expected }));
    expect((await provider.write(zone, changes, never)).map(({ kind }) => kind)).toEqual(done);
    expect([...held.keys()]).toEqual(names.slice(20));
  });
});

describe("the budget of a token", () => {
  it("is shared by all who open a provider with it", async () => {
    const budget = new Budget(() => 0);
    budget.allow({ requests: 2, seconds: 60 });
    budget.noteAnswer({});
    budget.allow({ requests: 2, seconds: 60 });
    budget.noteAnswer({});
    expect(budget.wait(zone)).toBeGreaterThan(0);
  });
});

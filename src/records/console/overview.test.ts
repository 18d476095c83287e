import { beforeEach, describe, expect, it } from "vitest";
import { createZoneIn } from "../../../test/rig/store/write.ts";
import { hashSecret } from "../../access/secret.ts";
import type { Attention } from "../../contract/overview.ts";
import type { ParentFault } from "../../core/dnssec/parent-view.ts";
import { wholeAccount } from "../../core/may.ts";
import type { RecordType } from "../../core/rdata/table.ts";
import { type Publication, type PublishedSet, type PublishedZone, plainSettings } from "../model.ts";
import type { Actor } from "../queries/permitted-view.ts";
import { createRecordService } from "../service.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import { labelOf } from "./actor-label.ts";
import { createOverview, type KnownUpdater } from "./overview.ts";

const start = Date.UTC(2026, 10, 1, 12);
const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const iso = (at: number) => new Date(at).toISOString();

let clock: number;
let store: ReturnType<typeof openSqliteStore>;
let actor: Actor;
let updater: KnownUpdater | undefined;
beforeEach(async () => {
  clock = start;
  updater = undefined;
  store = openSqliteStore(":memory:");
  const { id: account } = await store.ensureAccount("main", start);
  actor = { account, label: "token 1 (router)", scope: wholeAccount };
});

const service = () => createRecordService({ store, now: () => clock, nameservers: ["ns1.example.net"] });
const look = (isOwner = true) =>
  createOverview({ store, now: () => clock, updater: () => updater })(actor.account, isOwner);

async function addZone(name: string, mode: "primary" | "secondary" = "primary") {
  const primaries = mode === "secondary" ? [{ address: "192.0.2.53", port: 53 }] : [];
  const made = await service().createZone(actor, { name, mode, ttl: 60, primaries });
  if (made.kind !== "done") throw new Error(`${name} was not created`);
  return made.zone;
}

/** Each call is an hour after the last one. */
async function put(zone: string, name: string, type: "A" | "AAAA" | "TXT", ...values: readonly string[]) {
  clock += hour;
  const to = values.length === 0 ? "gone" : { records: values.map((value) => ({ value })), locked: false };
  const changes = [{ name, type, to }];
  const done = await service().changeSets(actor, { name: zone }, { changes, expectedSerial: undefined } as never);
  expect(done.kind).toBe("done");
}

const name = (over: Partial<KnownUpdater["names"][number]> = {}): KnownUpdater["names"][number] => ({
  name: "home.example.org A",
  ok: true,
  wanted: "9.9.1.1",
  stored: "9.9.1.1",
  storedAt: iso(start),
  what: "left as it is",
  because: "it is stored",
  onDrift: "",
  ...{ writesHere: true, from: "ppp0" },
  ...over,
});
const knows = (...names: readonly KnownUpdater["names"][number][]) => {
  updater = { lastRound: iso(clock + 1), sources: [], names };
};

describe("the overview of an account", () => {
  it("is empty for a newcomer", async () => {
    expect(await look()).toEqual({
      zones: 0,
      names: [],
      moreNames: 0,
      updater: false,
      writes: [],
      since: null,
      attention: [],
      examples: [],
    });
  });

  it("says which signed zones of the account resolvers reject, or will", async () => {
    await addZone("example.org");
    await addZone("example.com");
    await addZone("lost.test");
    await addZone("silent.test");
    await addZone("slow.test");
    const signing = {
      changedInFuture: new Set(["example.com"]),
      parentFaults: new Map<string, ParentFault>([
        ["example.org", { kind: "wrong-ds", text: "the parent has DS records, but none that matches" }],
        ["theirs.example", { kind: "wrong-ds", text: "theirs" }],
        ["lost.test", { kind: "no-ds", text: "the parent has no DS record" }],
        ["silent.test", { kind: "unverified", text: "ns2.parent.test does not answer" }],
        ["slow.test", { kind: "differs", text: "ns2.parent.test has not made the change yet" }],
      ]),
      expiring: new Map([
        ["example.com", start],
        ["theirs.example", start],
      ]),
    };
    const { attention } = await createOverview({ store, now: () => clock, updater: () => updater, signing })(
      actor.account,
      false,
    );
    const byZone = attention.toSorted((a, b) => `${"zone" in a && a.zone}`.localeCompare(`${"zone" in b && b.zone}`));
    expect(byZone).toEqual([
      { kind: "clock-behind", zone: "example.com" },
      { kind: "signatures-expire", zone: "example.com", at: iso(start) },
      { kind: "ds-mismatch", zone: "example.org", text: "the parent has DS records, but none that matches" },
      { kind: "ds-missing", zone: "lost.test", text: "the parent has no DS record" },
      { kind: "parent-fault", zone: "silent.test", text: "ns2.parent.test does not answer" },
    ]);
  });

  it("says which zones of the account their provider does not hold, without reading their records", async () => {
    const waits = { kind: "not-published", service: "Hetzner", refused: 0, drifted: 0, waiting: 0, trouble: null };
    const published: Publication = {
      ...{ provider: 1, name: "hetzner", service: "Hetzner", drift: "ask", readEvery: 900 },
      rules: { lowestTtl: 60, highestTtl: 86_400, mostValues: 50 },
    };
    const row = { owner: "a", type: "A", held: null, at: start } as const;
    const publish = async (zone: string, note: Partial<PublishedZone>, ...sets: readonly PublishedSet[]) => {
      const settings = { ...plainSettings(60), published };
      const newZone = { account: actor.account, id: zone, name: zone, settings, serial: 1, created: clock, sets: [] };
      const made = await createZoneIn(store, newZone, "a");
      if (typeof made === "string") throw new Error(made);
      const { number } = made;
      const first = { through: 0, waiting: 0, ttl: 60, readAt: start, trouble: undefined };
      await store.beginPublishing(number, first);
      await store.notePublishedZone(number, note);
      await store.putPublishedSets(number, sets);
    };
    await publish("fine.test", {});
    await publish("down.test", { waiting: 1, trouble: { text: "it does not answer", since: start } });
    const refused = { content: null, words: "no" };
    await publish("refused.test", {}, { ...row, refused }, { ...row, owner: "b", theirs: null });
    await publish("slow.test", { waiting: 2 });
    const urgent = [
      { ...waits, zone: "down.test", trouble: { text: "it does not answer", since: iso(start) } },
      { ...waits, zone: "refused.test", refused: 1, drifted: 1 },
    ];
    expect((await look()).attention).toEqual(urgent);
    clock += minute + 1;
    expect((await look()).attention).toEqual([
      { ...urgent[0], waiting: 1 },
      urgent[1],
      { ...waits, zone: "slow.test", waiting: 2 },
    ]);
    expect((await createOverview({ store, now: () => clock, updater: () => undefined })(99, false)).attention).toEqual(
      [],
    );
  });

  it("has the names whose address a program changed, with both families and their moves, the latest first", async () => {
    await addZone("example.org");
    await put("example.org", "home", "AAAA", "2001:db8::9");
    for (const value of ["192.0.2.1", "192.0.2.2"]) await put("example.org", "home", "A", value);
    for (const value of ["2001:db8::1", "2001:db8::2"]) await put("example.org", "@", "AAAA", value);
    await put("example.org", "fixed", "A", "192.0.2.9");
    for (const value of ['"a"', '"b"']) await put("example.org", "note", "TXT", value);
    const { names, zones } = await look();
    expect(zones).toBe(1);
    const by = { by: "token 1 (router)", byHand: false };
    const unknown = { name: "token 1 (router)", heard: null, ended: null };
    const at = (hours: number) => iso(start + hours * hour);
    expect(names).toEqual([
      {
        name: "example.org",
        at: { zone: "example.org", owner: "@" },
        families: [{ type: "AAAA", values: ["2001:db8::2"], changed: { at: at(5), ...by }, state: null }],
        updater: null,
        device: unknown,
        moves: [
          { at: at(4), type: "AAAA", address: "2001:db8::1" },
          { at: at(5), type: "AAAA", address: "2001:db8::2" },
        ],
      },
      {
        name: "home.example.org",
        at: { zone: "example.org", owner: "home" },
        families: [
          { type: "A", values: ["192.0.2.2"], changed: { at: at(3), ...by }, state: null },
          { type: "AAAA", values: ["2001:db8::9"], changed: { at: at(1), ...by }, state: null },
        ],
        updater: null,
        device: unknown,
        moves: [
          { at: at(1), type: "AAAA", address: "2001:db8::9" },
          { at: at(2), type: "A", address: "192.0.2.1" },
          { at: at(3), type: "A", address: "192.0.2.2" },
        ],
      },
    ]);
  });

  it("has no name that only people change, in the console", async () => {
    await addZone("example.org");
    const [program, person] = [actor, { ...actor, label: labelOf("main") }];
    for (const value of ["192.0.2.1", "192.0.2.2"]) await put("example.org", "home", "A", value);
    actor = person;
    for (const value of ["192.0.2.1", "192.0.2.2"]) await put("example.org", "edited", "A", value);
    await put("example.org", "home", "A", "192.0.2.3");
    actor = program;
    const { names } = await look();
    const changed = { by: "main (console)", byHand: true };
    expect(names).toMatchObject([{ name: "home.example.org", families: [{ changed }] }]);
  });

  const addTokenFor = (owner: string, types: readonly RecordType[] = ["A", "AAAA"], label = "router") =>
    store.addToken({
      ...{ account: actor.account, name: label, hash: hashSecret(`${owner} ${label}`), created: clock },
      scope: { access: "write", zones: ["example.org"], sets: [{ owner, types }] },
    });

  it("has a name that a token is made for, also before its first address and long after its last one", async () => {
    await addZone("example.org");
    await addTokenFor("home");
    await addTokenFor("_acme-challenge", ["TXT"]);
    await put("example.org", "other", "A", "192.0.2.1");
    expect((await look()).names).toMatchObject([
      { name: "home.example.org", families: [], device: { name: "router", heard: null, ended: null }, moves: [] },
    ]);
    await put("example.org", "home", "A", "192.0.2.1");
    clock += 31 * day;
    expect((await look()).names).toMatchObject([
      { name: "home.example.org", families: [{ values: ["192.0.2.1"] }], moves: [] },
    ]);
  });

  it("says which program reports a name, when it was last heard, and that its token has ended", async () => {
    await addZone("example.org");
    const { id } = await addTokenFor("home");
    actor = { ...actor, label: `token ${id} (router)` };
    await put("example.org", "home", "A", "192.0.2.1");
    store.noteUse(id, clock);
    const device = async () => (await look()).names[0]?.device;
    const heard = iso(clock);
    expect(await device()).toEqual({ name: "router", heard, ended: null });
    await store.revokeToken(id, clock);
    expect(await device()).toBeUndefined();
    await put("example.org", "home", "A", "192.0.2.2");
    expect(await device()).toEqual({ name: "router", heard, ended: "revoked" });
    await addTokenFor("home", ["A"], "new router");
    expect(await device()).toEqual({ name: "new router", heard: null, ended: null });
  });

  it("has no name that is gone, alone or with its zone, and none of another account", async () => {
    for (const zone of ["gone.example", "there.example"]) {
      await addZone(zone);
      for (const value of ["192.0.2.1", "192.0.2.2"]) await put(zone, "home", "A", value);
    }
    await put("there.example", "home", "A");
    await service().deleteZone(actor, { name: "gone.example" });
    const { names, writes } = await look();
    expect(names).toEqual([]);
    expect(writes[0]?.sets).toMatchObject([{ kind: "delete", type: "SOA" }]);
    const other = (await store.ensureAccount("other", clock)).id;
    const theirs = await createOverview({ store, now: () => clock, updater: () => updater })(other, false);
    expect(theirs).toMatchObject({ zones: 0, names: [], writes: [], attention: [] });
  });

  it("has the latest writes, with a few of their sets and values", async () => {
    const sets = Array.from({ length: 9 }, (_, i) => ({
      name: `h${i}`,
      type: "A",
      ttl: undefined,
      labels: undefined,
      locked: false,
      records: [{ value: "192.0.2.1", comment: undefined }],
    }));
    await addZone("example.org");
    const changes = sets.map(({ name: owner, type, records }) => ({
      name: owner,
      type,
      to: { records, locked: false },
    }));
    await service().changeSets(actor, { name: "example.org" }, { changes, expectedSerial: undefined } as never);
    await put("example.org", "many", "A", ...["1", "2", "3", "4", "5"].map((last) => `192.0.2.${last}`));
    const [many, nine, created] = (await look()).writes;
    expect(many?.sets).toMatchObject([
      {
        kind: "create",
        owner: "many",
        type: "A",
        before: [],
        after: ["192.0.2.1", "192.0.2.2", "192.0.2.3", "and 2 more"],
      },
    ]);
    expect([nine?.sets.length, nine?.more]).toEqual([3, 6]);
    expect(created?.sets).toMatchObject([{ kind: "create", owner: "@", type: "SOA" }]);
  });

  it("says of a write that left the values alone what it changed", async () => {
    await addZone("example.org");
    await put("example.org", "home", "A", "192.0.2.1");
    const write = (to: object) =>
      service().changeSets(actor, { name: "example.org" }, {
        changes: [{ name: "home", type: "A", to: { locked: false, ...to } }],
        expectedSerial: undefined,
      } as never);
    const [value, comment] = ["192.0.2.1", "rack 3"];
    await write({ records: [{ value, comment }] });
    await write({ records: [{ value, comment }], ttl: 300 });
    await write({ records: [{ value: "192.0.2.2", comment: "" }], ttl: 60 });
    const { writes } = await look();
    const others = writes.slice(0, 3).map(({ sets }) => sets[0]?.others);
    expect(others).toEqual([[], ["TTL default → 300"], ["comment"]]);
  });

  it("says what became of the settings of a zone", async () => {
    const zone = await addZone("example.org");
    await service().changeZoneTtl(actor, { name: zone.name }, 300);
    const [{ sets } = { sets: [] }] = (await look()).writes;
    expect(sets).toEqual([
      { kind: "settings", owner: null, type: null, before: [], after: [], others: ["default TTL 60 → 300"] },
    ]);
  });

  it("reads a bounded part of a long history, and says since when", async () => {
    await addZone("example.org");
    await put("example.org", "early", "A", "192.0.2.1");
    await put("example.org", "early", "A", "192.0.2.2");
    const lines = Array.from({ length: 1_200 }, (_, i) => ({
      name: `h${i}`,
      type: "A",
      to: { records: [{ value: "192.0.2.1" }], locked: false },
    }));
    clock += hour;
    await service().changeSets(actor, { name: "example.org" }, { changes: lines, expectedSerial: undefined } as never);
    const { names, since } = await look();
    expect([names, since]).toEqual([[], iso(clock)]);
  });
});

describe("what needs attention", () => {
  const kinds = async () => (await look()).attention;

  it.for([
    ["its expiry is far away", { expires: 15 * day }, undefined],
    ["it expires soon", { expires: 13 * day }, { kind: "token-expires", token: "t", at: iso(start + 13 * day) }],
    ["it expired lately", { expires: -day }, { kind: "token-expired", token: "t", at: iso(start - day) }],
    ["it expired long ago", { expires: -15 * day }, undefined],
    ["it is new", { age: 6 * day }, undefined],
    ["it was never used", { age: 8 * day }, { kind: "token-unused", token: "t", created: iso(start - 8 * day) }],
    ["it was used", { age: 8 * day, used: true }, undefined],
    ["it is revoked", { expires: day, revoked: true }, undefined],
  ] as readonly (readonly [
    string,
    Partial<{ expires: number; age: number; used: boolean; revoked: boolean }>,
    Attention | undefined,
  ])[])("a token, if %s", async ([, { expires, age = 0, used, revoked }, expected]) => {
    const scope = { ...wholeAccount, ...(expires !== undefined && { expires: start + expires }) };
    const token = { account: actor.account, name: "t", hash: "h", scope, created: start - age };
    const { id } = await store.addToken(token);
    if (used) store.noteUse(id, start);
    if (revoked) await store.revokeToken(id, start);
    expect(await kinds()).toEqual(expected === undefined ? [] : [expected]);
  });

  it("a secondary zone that was never transferred, is stale, or has expired", async () => {
    const zone = await addZone("second.example", "secondary");
    expect(await kinds()).toEqual([]);
    clock += 2 * minute;
    expect(await kinds()).toEqual([{ kind: "zone-not-transferred", zone: "second.example" }]);
    const checked = clock;
    await store.noteSecondary(zone, { checked, serial: zone.serial });
    expect(await kinds()).toEqual([]);
    const [soa] = await store.sets(zone, { owner: "@", type: "SOA" });
    const [, , , refresh = 0, retry = 0, expire = 0] = (soa?.records[0]?.rdata ?? "").split(" ").map(Number);
    clock = checked + (refresh + 3 * retry) * 1_000 + 1;
    expect(await kinds()).toMatchObject([{ kind: "zone-stale", zone: "second.example", checked: iso(checked) }]);
    clock = checked + expire * 1_000 + 1;
    const since = iso(checked + expire * 1_000);
    expect(await kinds()).toEqual([{ kind: "zone-expired", zone: "second.example", since }]);
  });
});

describe("with a known updater, the overview of its owner", () => {
  beforeEach(async () => {
    await addZone("example.org");
    await put("example.org", "home", "A", "9.9.0.1");
    await put("example.org", "home", "A", "9.9.1.1");
  });

  it("has its names, with what it says about them and what the record holds", async () => {
    knows(name(), name({ name: "there.example.net AAAA", stored: "2a00::1", writesHere: false, ok: false }));
    const { names, updater: known } = await look();
    expect(known).toBe(true);
    expect(names).toMatchObject([
      {
        ...{ name: "home.example.org", updater: { from: "ppp0" }, device: null, moves: [{}, {}] },
        families: [{ type: "A", values: ["9.9.1.1"], state: { ok: true } }],
      },
      {
        ...{ name: "there.example.net", at: null, moves: [{ address: "2a00::1" }] },
        families: [{ type: "AAAA", values: ["2a00::1"], state: { ok: false } }],
      },
    ]);
  });

  it("has the commands to try, which nobody else sees", async () => {
    knows(name());
    updater = updater && { ...updater, examples: [{ about: "look it up", command: "dig home.example.org" }] };
    expect((await look()).examples).toEqual([{ about: "look it up", command: "dig home.example.org" }]);
    expect((await look(false)).examples).toEqual([]);
  });

  it("says of a paused name that it is paused, also if it has no record", async () => {
    knows(name({ name: "new.example.org A", paused: true, stored: null }));
    const { names } = await look();
    expect(names).toMatchObject([
      { name: "new.example.org", families: [{ values: [], state: { paused: true } }] },
      { families: [{ state: null }] },
    ]);
  });

  it("is not for other accounts", async () => {
    knows(name({ ok: false, todo: "do it" }));
    expect(await look(false)).toMatchObject({ updater: false, names: [{ updater: null }], attention: [] });
  });

  it("says what fails, but not what only waits", async () => {
    const failing = { ok: false, what: "not replaced", because: "the token is wrong" };
    knows(
      name({ ...failing, todo: "make another" }),
      name({ ...failing, name: "none.example.org A", wanted: null, stored: null }),
      name({ ...failing, name: "waits.example.org A", stored: null }),
    );
    const down = { source: "wall", called: "firewall", up: false, how: "polling", because: "no answer" } as const;
    if (updater) updater = { ...updater, sources: [down, { ...down, source: "fine", up: true }] };
    const { what, because } = failing;
    expect((await look()).attention).toEqual([
      { kind: "source-down", source: "wall", called: "firewall", because: "no answer" },
      { kind: "name-failing", name: "home.example.org", type: "A", what, because, todo: "make another" },
      { kind: "name-failing", name: "none.example.org", type: "A", what, because, todo: null },
    ]);
  });

  it.for([
    ["that somebody else changed", async () => put("example.org", "home", "A", "192.0.2.66"), ["192.0.2.66"]],
    ["that somebody else deleted", async () => put("example.org", "home", "A"), []],
  ] as const)("says that a record %s differs, once the updater has looked again", async ([, change, holds]) => {
    knows(name());
    expect((await look()).attention).toEqual([]);
    await change();
    if (holds.length > 0) expect((await look()).attention).toEqual([]);
    knows(name());
    expect((await look()).attention).toEqual([
      {
        kind: "record-differs",
        name: "home.example.org",
        type: "A",
        zone: "example.org",
        owner: "home",
        written: "9.9.1.1",
        holds,
      },
    ]);
  });
});

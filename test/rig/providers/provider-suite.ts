import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { parseRdata } from "../../../src/core/rdata/rdata.ts";
import { parseType, type RecordType } from "../../../src/core/rdata/table.ts";
import type { ChangeOutcome, Provider, ProviderChange, ProviderSet } from "../../../src/providers/provider.ts";
import { type Asked, type Reply, startServer, type TestServer } from "../updater/services.ts";
import { setsOf } from "../updater/set-lines.ts";
import { never, type TargetPeer } from "../updater/target-faults.ts";

export type ProviderCase = {
  readonly title: string;
  readonly open: () => Promise<TargetPeer>;
  /** Opens the provider; `url` is that of a server in front of the peer. */
  readonly connect: (url: string, secret: string) => Promise<Provider>;
  readonly secret: string;
  /** For HTTP: an error in the provider's own format. */
  readonly http?: { readonly error: (status: number, message: string) => Reply };
  readonly isWrite?: (asked: Asked) => boolean;
  readonly zones?: false;
  readonly ttl?: number;
  readonly otherTtl?: number;
  /** How many sets the zone with several pages has. */
  readonly many?: number;
  /** Sets that this provider does not store. */
  readonly lacks?: readonly string[];
  /** How a CNAME beside an address ends: some servers ignore it, and report success. */
  readonly badSet?: ChangeOutcome["kind"];
  /** It has no way to change a set only if it exists. */
  readonly createsAgain?: true;
  /** Refusals that are not signed are not believed. */
  readonly doubtsRefusals?: true;
  readonly more?: (rig: ProviderRig) => void;
};

export type ProviderRig = {
  peer: TargetPeer;
  server: TestServer;
  provider: Provider;
  instead: (asked: Asked) => Reply | undefined | Promise<Reply | undefined>;
};

const zone = "example.org";
const long = "x".repeat(255);

/** A zone with many kinds of data. */
const rich = (ttl: number): readonly string[] =>
  [
    "www A 192.0.2.1",
    "www A 192.0.2.2",
    "www AAAA 2001:db8::1",
    "@ MX 10 mail2.example.net.",
    "@ MX 20 mail.example.net.",
    '@ TXT "v=spf1 include:_spf.example.net; -all"',
    `long TXT "${long}" "${"y".repeat(45)}"`,
    String.raw`quoted TXT "say \"hi\"; a \\ backslash"`,
    "_sip._tcp SRV 1 2 5060 sip.example.net.",
    '@ CAA 0 issue "ca.example.net"',
    "alias CNAME www.example.org.",
    "sub NS ns1.example.net.",
    "sub NS ns2.example.net.",
    `_443._tcp TLSA 3 1 1 ${"ab".repeat(32)}`,
    "*.wild A 192.0.2.9",
  ].map((line) => line.replace(" ", ` ${ttl} `));

/** The same lines, however a provider spells the values. */
const canonical = (lines: readonly string[]): readonly string[] =>
  setsOf(lines)
    .flatMap(({ name, ttl, type, values }) => values.map((value) => `${name} ${ttl} ${type} ${textOf(type, value)}`))
    .toSorted();

function textOf(typeText: string, value: string): string {
  const type = parseType(typeText);
  const rdata = type && parseRdata(type, value, zone);
  if (!rdata?.ok) throw new Error(`not a ${typeText}: ${value}`);
  return rdata.value.text;
}

export const changesFor = (lines: readonly string[]): readonly ProviderChange[] =>
  setsOf(lines).map(({ name, ttl, type, values }) => ({
    owner: name,
    type: type as RecordType,
    content: { ttl, values: values.map((value) => textOf(type, value)) },
  }));

const linesOf = (sets: readonly ProviderSet[]): readonly string[] =>
  sets
    .filter(({ owner, type }) => type !== "SOA" && !(type === "NS" && owner === "@") && owner !== "ns1")
    .flatMap(({ owner, type, ttl, values }) => values.map((value) => `${owner} ${ttl} ${type} ${value}`))
    .toSorted();

const kindsOf = (outcomes: readonly ChangeOutcome[]) => outcomes.map(({ kind }) => kind);

/** What every provider must do, whatever its API. */
export function describeProvider(given: ProviderCase): void {
  const { title, secret, http, ttl = 300, otherTtl = 600, many = 250, lacks = [], isWrite = isChange } = given;
  describe(`provider ${title}`, () => {
    const rig = { instead: () => undefined } as Partial<ProviderRig> as ProviderRig;
    const all = rich(ttl).filter((line) => !lacks.some((type) => line.split(" ")[2] === type));
    const refusals = given.doubtsRefusals ? ["refused", "unknown"] : ["refused"];
    const write = (changes: readonly ProviderChange[]) => rig.provider.write(zone, changes, never);
    const held = async () => canonical(await rig.peer.held());
    const address = (value: string, more: Partial<ProviderChange> = {}): ProviderChange => ({
      ...{ owner: "www", type: "A", content: { ttl, values: [value] } },
      ...more,
    });

    beforeAll(async () => {
      const peer = await given.open();
      rig.peer = peer;
      rig.server = await startServer(async (asked) => (await rig.instead(asked)) ?? (await peer.reply?.(asked)) ?? {});
    });
    afterAll(async () => {
      await rig.server?.close();
      await rig.peer?.close();
    });
    beforeEach(async () => {
      rig.instead = () => undefined;
      rig.provider?.close();
      rig.provider = await given.connect(rig.server.url, secret);
      await rig.peer.fill([]);
      rig.server.asked.length = 0;
    });
    afterAll(() => rig.provider?.close());

    it("creates sets of every type, each as a whole, and lists them", async () => {
      const changes = changesFor(all);
      expect(kindsOf(await write(changes))).toEqual(changes.map(() => "done"));
      expect(await held()).toEqual(canonical(all));
      const listed = await rig.provider.sets(zone, never);
      expect(listed.kind === "found" && linesOf(listed.value.sets)).toEqual(canonical(all));
      expect(listed.kind === "found" && listed.value.unreadable).toEqual([]);
    });

    it("replaces whole sets and their TTL, and keeps the others", async () => {
      await rig.peer.fill(all);
      const wanted = [
        `www ${otherTtl} A 192.0.2.2`,
        `www ${otherTtl} A 192.0.2.3`,
        `www ${otherTtl} A 192.0.2.4`,
        `@ ${otherTtl} MX 10 mail2.example.net.`,
        `quoted ${ttl} TXT "plain"`,
      ];
      expect(kindsOf(await write(changesFor(wanted)))).toEqual(["done", "done", "done"]);
      const kept = all.filter((line) => !/^(www \d+ A |@ \d+ MX |quoted )/.test(line));
      expect(await held()).toEqual(canonical([...kept, ...wanted]));
    });

    it("a set without a TTL uses the zone's, where the provider has one", async () => {
      if (!rig.provider.rules.ttl.zoneDefault) return;
      await rig.peer.fill(["a", "b", "c"].map((owner) => `${owner} ${ttl} A 192.0.2.1`));
      const content = { ttl: null, values: ["192.0.2.1"] };
      const without = (...owners: readonly string[]) => owners.map((owner) => address("", { owner, content }));
      expect(kindsOf(await write(without("a")))).toEqual(["done"]);
      expect(kindsOf(await write(without("b", "new")))).toEqual(["done", "done"]);
      const listed = await rig.provider.sets(zone, never);
      const ttls = listed.kind === "found" ? listed.value.sets.map((set) => [set.owner, set.ttl] as const) : [];
      expect(Object.fromEntries(ttls)).toMatchObject({ a: null, b: null, c: ttl, new: null });
    });

    it("deletes sets, also those that are already gone", async () => {
      await rig.peer.fill(all);
      const gone = ["www", "nobody"].map((owner): ProviderChange => ({ owner, type: "A", content: undefined }));
      const expected = gone.map(() => ({ kind: "done", set: undefined }));
      expect(await write(gone)).toEqual(expected);
      expect(await held()).toEqual(canonical(all.filter((line) => !/^www \d+ A /.test(line))));
      expect(await write(gone)).toEqual(expected);
    });

    it("a repeated change changes nothing", async () => {
      const changes = changesFor(all.slice(0, 5));
      const first = await write(changes);
      expect(await write(changes)).toEqual(first);
      expect(await held()).toEqual(canonical(all.slice(0, 5)));
    });

    it("reads one set, and knows that another is missing", async () => {
      await rig.peer.fill(all);
      const set = { owner: "www", type: "A", ttl, values: ["192.0.2.1", "192.0.2.2"] };
      expect(await rig.provider.set(zone, "www", "A", never)).toEqual({ kind: "found", value: set });
      expect(await rig.provider.set(zone, "nobody", "A", never)).toEqual({ kind: "found", value: undefined });
    });

    it("lists a zone of several pages", async () => {
      const names = Array.from({ length: many }, (_, at) => `h${at} ${ttl} A 192.0.2.1`);
      await rig.peer.fill(names);
      const listed = await rig.provider.sets(zone, never);
      expect(listed.kind === "found" && linesOf(listed.value.sets)).toEqual(names.toSorted());
    });

    it("writes more sets than one request takes", async () => {
      const names = Array.from({ length: 30 }, (_, at) => `h${at} ${ttl} A 192.0.2.1`);
      expect(kindsOf(await write(changesFor(names)))).toEqual(names.map(() => "done"));
      expect(await held()).toEqual(names.toSorted());
    });

    it("a set that cannot be stored does not stop the others", async () => {
      const bad = `www ${ttl} CNAME other.example.org.`;
      await rig.peer.fill([`www ${ttl} A 192.0.2.1`]);
      const around = ["a", "b", "c", "d"].map((name) => `${name} ${ttl} A 192.0.2.1`);
      const outcomes = await write(changesFor([...around.slice(0, 2), bad, ...around.slice(2)]));
      expect(kindsOf(outcomes)).toEqual(["done", "done", given.badSet ?? "refused", "done", "done"]);
      expect(await held()).toEqual([...around, `www ${ttl} A 192.0.2.1`].toSorted());
    });

    it("writes nothing over what somebody else has changed, if it is told what to expect", async () => {
      await rig.peer.fill([`www ${ttl} A 192.0.2.7`]);
      const expected = { ttl, values: ["192.0.2.1"] };
      const set = { owner: "www", type: "A", ttl, values: ["192.0.2.7"] };
      expect(await write([address("192.0.2.2", { expected })])).toEqual([{ kind: "drifted", set }]);
      expect(await write([address("192.0.2.2", { expected: "missing" })])).toEqual([{ kind: "drifted", set }]);
      expect(await write([address("192.0.2.2", { owner: "new", expected })])).toEqual([{ kind: "drifted" }]);
      expect(await held()).toEqual([`www ${ttl} A 192.0.2.7`]);
      const now = { ttl, values: ["192.0.2.7"] };
      expect(kindsOf(await write([address("192.0.2.2", { expected: now })]))).toEqual(["done"]);
      expect(await held()).toEqual([`www ${ttl} A 192.0.2.2`]);
    });

    it("does not create again what somebody else removes between the read and the write", async () => {
      await rig.peer.fill([`www ${ttl} A 192.0.2.1`]);
      if (!rig.peer.reply) return;
      rig.instead = async (asked) => {
        if (isWrite(asked)) await rig.peer.fill([]);
        return undefined;
      };
      const [outcome] = await write([address("192.0.2.2", { expected: { ttl, values: ["192.0.2.1"] } })]);
      expect([outcome?.kind, await held()]).toEqual(
        given.createsAgain ? ["done", [`www ${ttl} A 192.0.2.2`]] : ["waiting", []],
      );
    });

    it("says that a zone is missing", async () => {
      const [outcome] = await rig.provider.write("example.net", [address("192.0.2.1")], never);
      expect(refusals).toContain(outcome?.kind);
      expect(await rig.provider.sets("example.net", never)).not.toMatchObject({ kind: "found" });
    });

    it.each(given.zones === false ? [] : ["zones"])("lists the %s of the account", async () => {
      const zones = await rig.provider.zones(never);
      expect(zones.kind === "found" && zones.value.map(({ name }) => name)).toEqual([zone]);
    });

    it("says that a credential is wrong", async () => {
      const wrong = await given.connect(rig.server.url, "d3JvbmctMDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ubw");
      const [outcome] = await wrong.write(zone, [address("192.0.2.1")], never);
      wrong.close();
      expect(outcome).toMatchObject({ fault: { kind: "unauthorised" } });
      expect(refusals).toContain(outcome?.kind);
      expect(await held()).toEqual([]);
    });

    given.more?.(rig);
    if (http) describeFaults(rig, { error: http.error, isWrite, write, address });
  });
}

const isChange = ({ method }: Asked) => method !== "GET";

type Faults = Required<Pick<ProviderCase, "isWrite">> & {
  readonly error: (status: number, message: string) => Reply;
  readonly write: (changes: readonly ProviderChange[]) => Promise<readonly ChangeOutcome[]>;
  readonly address: (value: string, more?: Partial<ProviderChange>) => ProviderChange;
};

/** What the faults of an HTTP service mean. */
function describeFaults(rig: ProviderRig, { error, isWrite, write, address }: Faults): void {
  const both = () => [address("192.0.2.1"), address("192.0.2.2", { owner: "other" })];

  it("a write whose answer is lost is unknown, and a read shows the truth", async () => {
    await write([address("192.0.2.9")]);
    rig.instead = async (asked) => {
      if (!isWrite(asked)) return undefined;
      await rig.peer.reply?.(asked);
      return { fault: "reset" };
    };
    expect(await write([address("192.0.2.1")])).toMatchObject([{ kind: "unknown" }]);
    const found = await rig.provider.set(zone, "www", "A", never);
    expect(found).toMatchObject({ kind: "found", value: { values: ["192.0.2.1"] } });
  });

  test.each<[string, Reply]>([
    ["500", { status: 500, body: "oops" }],
    ["502 with a web page", { status: 502, body: "<html>" }],
    ["a connection that is reset", { fault: "reset" }],
    ["an answer that is cut off", { fault: "truncate" }],
  ])("%s to a write is unknown, and what was not sent waits", async (_, reply) => {
    rig.instead = (asked) => (isWrite(asked) ? reply : undefined);
    const [first, second] = kindsOf(await write(both()));
    expect([first, ["unknown", "waiting"].includes(second ?? "")]).toEqual(["unknown", true]);
  });

  it("429: nothing is sent until the provider takes requests again", async () => {
    const throttled = error(429, "slow down");
    rig.instead = (asked) => (isWrite(asked) ? { ...throttled, headers: { "retry-after": "7" } } : undefined);
    const outcomes = await write(both());
    expect(outcomes).toMatchObject([{ kind: "waiting", retryAfter: 7_000 }, { kind: "waiting" }]);
    expect(rig.provider.wait(zone)).toBeGreaterThan(5_000);
    rig.server.asked.length = 0;
    expect(kindsOf(await write(both()))).toEqual(["waiting", "waiting"]);
    expect(rig.server.asked).toEqual([]);
  });

  it("a success without the change is not done", async () => {
    const answers = new Map<string, Reply>();
    await write([address("192.0.2.1")]);
    rig.instead = async (asked) => {
      if (!isWrite(asked)) return undefined;
      const before = await rig.peer.held();
      const reply = (await rig.peer.reply?.(asked)) ?? {};
      answers.set(asked.path, reply);
      await rig.peer.fill(before);
      return { ...reply, body: withoutSets(reply.body) };
    };
    expect(kindsOf(await write([address("192.0.2.2")]))).toEqual(["unknown"]);
  });

  it("401 to everything: refused, with the provider's words, and no further requests", async () => {
    rig.instead = () => error(401, "no such token");
    const outcomes = await write(both());
    const fault = { kind: "unauthorised", because: expect.stringContaining("no such token") };
    expect(outcomes).toMatchObject([
      { kind: "refused", fault },
      { kind: "refused", fault },
    ]);
  });
}

/** The answer of a provider that does not say what it stored. */
const withoutSets = (body: unknown): unknown => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return text.replaceAll("192.0.2.2", "192.0.2.1");
};

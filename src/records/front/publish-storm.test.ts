import { describe, expect, test } from "vitest";
import { action, FalseHetzner, fault, type StoredSet } from "../../../test/front/false-hetzner.ts";
import type { Json } from "../../../test/front/two-moors.ts";
import { isLongRun } from "../../../test/rig/long-run.ts";
import { createRandom, pick } from "../../../test/rig/random.ts";
import { seed } from "../../../test/rig/seed.ts";
import { keyOf } from "../../core/records/rrset.ts";
import type { HttpClient, HttpOutcome } from "../../lib/http-client/client.ts";
import { createLog } from "../../process/log.ts";
import { Budget } from "../../providers/budget.ts";
import { createProvider } from "../../providers/create-provider.ts";
import { rrsetsCalls } from "../../providers/services/hetzner/rrsets.ts";
import { type PublishedSet, type PublishedZone, plainSettings } from "../model.ts";
import { OpenedAccount } from "./provider-accounts.ts";
import { PublishedZoneWork } from "./publish-zone.ts";
import { shownState } from "./set-state.ts";

/** What may happen besides lost answers, faults and limits of the provider. */
type Trouble = {
  /** A request may be carried out up to 50 s after its outcome was lost. */
  readonly isLate?: true;
  /** A read may show what was there up to 14 s ago. */
  readonly isStale?: true;
  readonly isKilled?: true;
  /** A former leader stops in the middle of a request, and wakes up when there is another one. */
  readonly isFrozen?: true;
  /** Other clients of the provider. */
  readonly others?: true;
};

const name = "one.example";
const keys = ["a A", "b A", "c A", "a TXT"];
const log = createLog({ format: "text", level: "silent", write: () => {} });
const { signal } = new AbortController();
const tricks =
  "before after late stale 503 503-after web limit running failed token none none none none none none none none";

/** A publisher, a store and a provider with one zone, in a time of their own. */
class Storm {
  readonly #random;
  readonly #trouble: Trouble;
  readonly #drift: "ask" | "ours";
  readonly #hetzner = new FalseHetzner();
  readonly #there = new Map<string, StoredSet>();
  readonly #here = new Map<string, { readonly ttl: number; readonly values: readonly string[] }>();
  readonly #rows = new Map<string, PublishedSet>();
  readonly #running = new Map<number, string>();
  /** What was there, since when. */
  readonly #past: { readonly since: number; readonly sets: ReadonlyMap<string, StoredSet> }[] = [];
  readonly #late: { readonly at: number; readonly run: () => void }[] = [];
  /** How former leaders wake up. */
  readonly #frozen: (() => Promise<unknown>)[] = [];
  readonly #touched = new Set<string>();
  #note: PublishedZone = { through: 0, waiting: 0, ttl: 300, readAt: 1, trouble: undefined };
  #now = 1_800_000_000_000;
  #serial = 1;
  #leader = 0;
  /** Requests that a former leader may still send. */
  readonly #left = new Map<number, number>();
  #kill = Number.POSITIVE_INFINITY;
  #isCalm = false;
  /** Something of a former request may have changed what is there since it was seen. */
  #isUnseen = false;
  #work!: PublishedZoneWork;
  #account!: OpenedAccount;
  #freeze: (wake: () => void) => void = () => {};
  #nextTry = 0;

  constructor(start: number, drift: "ask" | "ours", trouble: Trouble) {
    this.#random = createRandom(start);
    [this.#drift, this.#trouble] = [drift, trouble];
    this.#hetzner.zones.set(name, this.#there);
    // A leader does not know what a former one has sent after it woke up: that counts as somebody else's.
    if (trouble.isFrozen) for (const key of keys) this.#touched.add(key);
  }

  get #published(): Json {
    const rules = { lowestTtl: 0, highestTtl: 99_999, mostValues: 50 };
    return { provider: 1, name: "h", service: "H", drift: this.#drift, readEvery: 900, rules };
  }

  get #zone(): Json {
    return { number: 7, account: 1, name, settings: { ...plainSettings(300), published: this.#published } };
  }

  #pick = <T>(from: readonly T[]): T => pick(this.#random, from);

  async run(): Promise<readonly string[]> {
    await this.#lead();
    for (let step = 0; step < 40; step += 1) {
      const what = this.#random(100);
      if (what < 40) this.#write();
      else if (what < 80) await this.#round();
      else if (what < 90) this.#now += this.#random(40_000);
      else if (what < 94 && this.#trouble.isKilled) await this.#lead();
      else if (what < 97 && this.#trouble.others) this.#writeThere();
      if (this.#random(7) === 0) await this.#wake();
      this.#runLate();
      const wrong = this.#look();
      if (wrong.length > 0) return wrong;
    }
    await this.#wake();
    this.#isCalm = true;
    for (let step = 0; step < 40; step += 1) {
      this.#now += 30_000;
      this.#runLate();
      await this.#round();
    }
    this.#isUnseen = false;
    const left = [...this.#running].map(([serial, key]) => `the action of ${serial} (${key}) has not ended`);
    return [...this.#look(), ...left];
  }

  #content(key: string): StoredSet | null {
    const value = () => (key.endsWith("TXT") ? `"v${this.#random(4)}"` : `192.0.2.${this.#random(4)}`);
    if (this.#random(7) === 0) return null;
    const values = Array.from({ length: this.#pick([1, 1, 2, 3]) }, value);
    return { ttl: this.#pick([300, 600]), values: [...new Set(values)].toSorted() };
  }

  #write(key = this.#pick(keys), content: Json = this.#content(key)): void {
    this.#serial += 1;
    if (content) this.#here.set(key, content);
    else this.#here.delete(key);
    this.#running.set(this.#serial, key);
    this.#work.add(this.#serial, [placeOf(key)]);
  }

  #writeThere(): void {
    const key = this.#pick(keys);
    const content = this.#content(key);
    if (content) this.#there.set(key, content);
    else this.#there.delete(key);
    this.#touched.add(key);
  }

  #runLate(): void {
    for (const each of this.#late.splice(0))
      if (each.at <= this.#now) each.run();
      else this.#late.push(each);
  }

  async #wake(): Promise<void> {
    for (const wake of this.#frozen.splice(0)) {
      this.#isUnseen = true;
      await wake();
    }
  }

  /** One round of the publisher, in which it may be killed or stopped. */
  async #round(): Promise<void> {
    if (this.#isCalm || this.#random(2) === 0) this.#now = Math.max(this.#now, this.#isCalm ? 0 : this.#nextTry);
    const frozen = Promise.withResolvers<() => void>();
    this.#freeze = frozen.resolve;
    if (this.#trouble.isKilled && !this.#isCalm && this.#random(10) === 0) this.#kill = 1 + this.#random(8);
    const round = this.#publish(this.#work).catch(() => "killed" as const);
    const ended = await Promise.race([round, frozen.promise]);
    if (typeof ended === "function")
      this.#frozen.push(() => {
        ended();
        return round;
      });
    if (ended !== undefined) await this.#lead();
  }

  async #publish(work: PublishedZoneWork): Promise<undefined> {
    const [zone, published, account] = [this.#zone, this.#published, this.#account];
    const { retry } = await work.publish(zone, published, account, signal);
    this.#nextTry = this.#now + (retry ?? 0);
    if (work.readDue(published) > this.#now || account.wait(name) > 0) return;
    await work.readAll(zone, published, account, signal);
  }

  /** The process, or another one, begins to publish. */
  async #lead(): Promise<void> {
    this.#leader += 1;
    this.#kill = Number.POSITIVE_INFINITY;
    const own = this.#leader;
    const client = { send: (request: Json) => this.#send(own, request), close: () => {} } as unknown as HttpClient;
    const at = { url: new URL("http://x/"), token: () => "t" };
    const waiting = { first: 0, longest: 0, total: 30 };
    const calls = rrsetsCalls(at, client, { now: () => (this.#now += 10), waiting });
    const now = () => this.#now;
    const provider = createProvider({ ...calls, rules: { ...calls.rules, budget: undefined } }, new Budget(now));
    this.#account = new OpenedAccount({ id: 1, name: "h", replaced: 0 } as Json, "", { now, random: () => 0 });
    this.#account.provider = provider;
    const options = { store: this.#store, now, log, position: () => this.#serial, changed: () => {} };
    this.#work = new PublishedZoneWork(this.#zone, this.#note, options);
    await this.#work.compare(this.#zone, [...this.#running.keys()]);
  }

  /** There is one former leader at a time. */
  #canFreeze(leader: number): boolean {
    return this.#trouble.isFrozen === true && !this.#isCalm && this.#leader === leader && this.#frozen.length === 0;
  }

  /** A request to the provider, and what happens to it. */
  async #send(leader: number, { method, path, body }: Json): Promise<HttpOutcome> {
    if (this.#kill <= 0 || this.#left.get(leader) === 0) return failed;
    this.#left.set(leader, (this.#left.get(leader) ?? Number.POSITIVE_INFINITY) - 1);
    this.#now += this.#random(20);
    if (this.#canFreeze(leader) && this.#random(12) === 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#freeze(resolve);
      // One of its requests.
      this.#freeze = (wake) => wake();
      await promise;
      // Before it notices that there is another one.
      this.#left.set(leader, this.#random(4));
    }
    const carryOut = () => {
      const answer = answered(this.#hetzner.carryOut(method, path.split("?")[0], body ? JSON.parse(body) : {}));
      if (method !== "GET") this.#past.push({ since: this.#now, sets: structuredClone(this.#there) });
      return answer;
    };
    if (this.#isCalm) return carryOut();
    const trick = this.#pick(tricks.split(" "));
    const isWrite = method !== "GET";
    if (trick === "stale" && !isWrite && this.#trouble.isStale) return this.#stale(carryOut);
    if (trick === "late" && isWrite && this.#trouble.isLate) {
      const at = this.#now + this.#random(50_000);
      this.#late.push({ at, run: carryOut });
    }
    if (["after", "503-after"].includes(trick) || this.#random(2) === 0) {
      if (["after", "503-after", "running", "failed", "web"].includes(trick)) carryOut();
    }
    if (["before", "after", "late"].includes(trick)) return failed;
    const replies: Json = {
      ...{ 503: { status: 503, body: fault("unavailable") }, "503-after": { status: 503, body: fault("unavailable") } },
      ...{ web: { status: 200, body: "<html>" }, limit: { status: 429, body: fault("rate_limit_exceeded") } },
      token: { status: 401, body: fault("unauthorized") },
      ...(isWrite && { running: { status: 201, body: action("running") } }),
      ...(isWrite && { failed: { status: 201, body: action("error", { code: "action_failed", message: "no" }) } }),
    };
    return replies[trick] ? answered(replies[trick]) : carryOut();
  }

  #stale(carryOut: () => HttpOutcome): HttpOutcome {
    const time = this.#now - this.#random(14_000);
    const sets = this.#past.findLast(({ since }) => since <= time)?.sets ?? new Map<string, StoredSet>();
    this.#hetzner.zones.set(name, new Map(sets));
    const answer = carryOut();
    this.#hetzner.zones.set(name, this.#there);
    return answer;
  }

  /** Rows are replaced as in the store: only if they are still what they were. */
  get #store(): Json {
    const living = () => {
      this.#kill -= 1;
      if (this.#kill <= 0) throw new Error("killed");
    };
    const setsOf = (owners?: readonly string[]) =>
      [...this.#here]
        .map(([key, { ttl, values }]) => ({ ...placeOf(key), ttl, records: values.map((rdata) => ({ rdata })) }))
        .filter(({ owner }) => owners?.includes(owner) ?? true);
    return {
      sets: async (_: Json, { owners }: Json) => setsOf(owners),
      setsAfter: async () => setsOf(),
      publishedSetsAt: async (_: Json, owners: Json) =>
        [...this.#rows.values()].filter(({ owner }) => owners.includes(owner)),
      publishedSetsAfter: async () => [...this.#rows.values()],
      publishedZone: async () => this.#note,
      providers: async () => [{ id: 1, replaced: 0 }],
      historyOf: async (_: Json, { before }: Json) =>
        before === undefined
          ? [...this.#running].map(([serial, key]) => ({ serial, actor: "test", change: placeOf(key) }))
          : [],
      replacePublishedSets: async (_: Json, changes: Json) => {
        living();
        const saved = changes.filter(
          ({ before, after }: Json) => JSON.stringify(this.#rows.get(keyOf(after))) === JSON.stringify(before),
        );
        for (const { after } of saved) this.#rows.set(keyOf(after), after);
        living();
        return saved.map(({ after }: Json) => after);
      },
      endPublishing: async (_: Json, serials: Json) => {
        living();
        for (const serial of serials) this.#running.delete(serial);
      },
      notePublishedZone: async (_: Json, part: Json) => {
        living();
        this.#note = { ...this.#note, ...part };
      },
    };
  }

  /** What moor says that is not so. */
  #look(): readonly string[] {
    return keys.flatMap((key) => {
      const [ours, there] = [this.#here.get(key), this.#there.get(key)];
      const state = shownState(ours ? { ...ours } : null, this.#rows.get(key), this.#zone, this.#note);
      const isTouched = this.#touched.has(key);
      const isEqual =
        JSON.stringify(ours) === JSON.stringify(there && { ttl: there.ttl, values: there.values.toSorted() });
      return [
        ...(state === "published" && !isEqual && !this.#isUnseen && (!isTouched || this.#isCalm)
          ? [`${key} is not published`]
          : []),
        ...(state === "drifted" && !isTouched ? [`nobody else wrote ${key}`] : []),
        ...(this.#isCalm && state !== "published" && !isTouched ? [`${key} is ${state}`] : []),
      ];
    });
  }
}

const placeOf = (key: string): Json => {
  const [owner, type] = key.split(" ");
  return { owner, type };
};
const failed: HttpOutcome = { kind: "failed", because: "cut", todo: "" };
const answered = (reply: Json): HttpOutcome =>
  reply === "cut"
    ? failed
    : {
        kind: "answer",
        status: reply.status,
        headers: {},
        body: typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body),
      };

const troubles: readonly (readonly [string, Trouble])[] = [
  ["answers are lost", {}],
  ["requests are carried out late", { isLate: true }],
  ["reads are stale", { isStale: true }],
  ["requests are carried out late and reads are stale", { isLate: true, isStale: true }],
  ["the process is killed", { isKilled: true }],
  ["somebody else writes there", { others: true }],
  ["a former leader wakes up", { isFrozen: true }],
];

describe.each(troubles)("while %s", (_, trouble) => {
  test.each(["ask", "ours"] as const)(
    "moor says what is so, and everything is published in the end (%s)",
    async (drift) => {
      const wrong: string[] = [];
      for (let at = 0; at < (isLongRun ? 600 : 40); at += 1) {
        const storm = new Storm(seed * 100_000 + at, drift, trouble);
        wrong.push(...(await storm.run()).slice(0, 1).map((each) => `seed ${at}: ${each}`));
      }
      expect(wrong).toEqual([]);
    },
  );
});

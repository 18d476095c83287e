import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Algorithm, algorithms, dnssecTypes } from "../../../src/core/dnssec/codes.ts";
import type { Stage } from "../../../src/core/dnssec/lifecycle.ts";
import type { DenialKind } from "../../../src/core/dnssec/plan-signing.ts";
import type { Instant } from "../../../src/core/instant.ts";
import { wholeAccount } from "../../../src/core/may.ts";
import { apex } from "../../../src/core/names/name.ts";
import type { RRset } from "../../../src/core/records/rrset.ts";
import { failAll, ok, type Result } from "../../../src/core/result.ts";
import { createAskParent } from "../../../src/lib/dns/delegation.ts";
import { closeInReverse, type Opened } from "../../../src/process/lifecycle.ts";
import { createLog } from "../../../src/process/log.ts";
import { createdBy, createZoneRule } from "../../../src/records/commands/zones/create-delete.ts";
import { plainSettings, type Zone, type ZoneSigning } from "../../../src/records/model.ts";
import { newRecordId } from "../../../src/records/new-id.ts";
import type { Actor, NotDone } from "../../../src/records/queries/permitted-view.ts";
import { createRecordService, type RecordService } from "../../../src/records/service.ts";
import { createSigningRound } from "../../../src/records/signing/lifecycle/keep-signed.ts";
import { KeyFileSigner, type Signer } from "../../../src/records/signing/signer.ts";
import type { RecordStore } from "../../../src/records/store/port.ts";
import { migrations } from "../../../src/records/store/sqlite/schema.ts";
import { openSqliteStore } from "../../../src/records/store/sqlite/store.ts";
import { startDns } from "../../../src/serving/start.ts";
import { createAsk, keepAsking, type SetQuestion } from "./ask-all.ts";
import { createCachedAnswers } from "./cached-answers.ts";
import { questionsFor } from "./questions.ts";
import { createParentZone, createRegistry } from "./registry.ts";
import { type Resolver, type ResolverName, startResolver } from "./resolver.ts";
import { createSecondServer } from "./second-server.ts";

export type Rehearsal = {
  readonly zone: Pick<Zone, "name" | "serial" | "settings">;
  readonly sets: readonly RRset[];
  readonly algorithm: Algorithm;
  readonly denial: DenialKind;
  /** In order of preference; those that are not installed are skipped. */
  readonly resolvers: readonly ResolverName[];
  /** Where programs are found. */
  readonly path: string;
  readonly signal: AbortSignal;
  readonly onStart: (resolver: ResolverName | undefined) => void;
  /** Called whenever a stage or the DS records have changed. */
  readonly onMoment: (moment: Moment) => void;
};

export type Moment = Counts & {
  /** In milliseconds of the fast clock, since the start. */
  readonly at: number;
  readonly stage: Stage | "unsigned";
  readonly keys: ZoneSigning["keys"];
  /** Key tags of the DS records at the parent. */
  readonly ds: readonly number[];
};

export type Counts = {
  /** Answers from the resolver. */
  readonly asked: number;
  readonly secure: number;
  /** Queries that failed for a reason other than a bogus answer. */
  readonly failed: number;
  /** Combinations of answers that caches could hold. */
  readonly checked: number;
  readonly bogus: number;
};

export type RehearsalOutcome = Counts & {
  readonly took: number;
  /** The first bogus answers. */
  readonly examples: readonly string[];
};

const day = 86_400_000;
/** One step of the fast clock: as long as the margin for secondaries in each stage. */
const step = 300_000;
/**
 * The fast clock starts this long before now. Signatures are valid for at least twelve days, so all of them are also
 * valid by the real clock, which the resolver uses.
 */
const span = 11.5 * day;
/** In seconds. With longer TTLs, the stages would take longer than `span`. */
export const longestTtl = 86_400;
const mostExamples = 10;
const hour = 3_600_000;
/** How long the registry has a wrong digest of a new key. */
const mistake = 3 * hour;
/**
 * After signing, a new key, another algorithm and unsigning: how much later the parent's second server has the change.
 * Longer than caches have the old one.
 */
const delays = [2 * hour, 30 * hour, 2 * hour, 30 * hour] as const;

/**
 * Simulates the whole life of a signed zone with a fast clock, on a store in memory, and checks its answers all the
 * time.
 */
export async function rehearse(play: Rehearsal): Promise<Result<RehearsalOutcome>> {
  const folder = await mkdtemp(join(tmpdir(), "moor-rehearsal-"));
  const log = createLog({ format: "text", level: "silent", write: () => undefined });
  const opened: Opened[] = [{ name: "folder", close: () => rm(folder, { recursive: true, force: true }) }];
  try {
    const signer = new KeyFileSigner(join(folder, "key"));
    const store = openSqliteStore(":memory:", migrations, signer);
    opened.push({ name: "store", close: store.close });
    return await playOn({ ...play, store, signer, folder, opened });
  } finally {
    await closeInReverse(opened, log);
  }
}

type Opening = Rehearsal & {
  readonly store: RecordStore;
  readonly signer: Signer;
  readonly folder: string;
  readonly opened: Opened[];
};

async function playOn(play: Opening): Promise<Result<RehearsalOutcome>> {
  const clock = new PlayClock();
  const scene = await setScene(play, clock);
  if (!scene.ok) return scene;
  const audience = new Audience(play, scene.value, clock);
  const { resolver } = scene.value;
  const endLoad = resolver?.isQuick ? audience.keepAsking(resolver) : undefined;
  if (endLoad) play.opened.push({ name: "questions", close: endLoad });
  await audience.visit();
  const faults = await playActs(play, scene.value, audience, clock);
  if (faults) return faults;
  for (const end = clock.now + longestTtl * 1000; clock.now < end; clock.pass(6 * step)) await audience.visit();
  await endLoad?.();
  return ok({ ...audience.counts, took: clock.now - clock.began, examples: audience.examples });
}

/** The simulated time. */
class PlayClock {
  readonly began: Instant = Date.now() - span;
  now: Instant = this.began;

  pass(milliseconds: number): void {
    this.now += milliseconds;
  }
}

type Scene = {
  readonly zone: Zone;
  readonly service: RecordService;
  readonly operator: Actor;
  readonly questions: readonly SetQuestion[];
  readonly resolver: Resolver | undefined;
  readonly registry: ReturnType<typeof createRegistry>;
  readonly second: ReturnType<typeof createSecondServer>;
  readonly round: ReturnType<typeof createSigningRound>;
  readonly cached: ReturnType<typeof createCachedAnswers>;
};

/** Creates the zone and its signed parent, and starts the servers that answer for them. */
async function setScene(play: Opening, clock: PlayClock): Promise<Result<Scene>> {
  const { store, folder, opened, signal } = play;
  const log = createLog({ format: "text", level: "silent", write: () => undefined });
  const zones = await createZones(play, clock);
  if (!zones.ok) return zones;
  const { zone, parent, dnskey } = zones.value;
  const dns = await startDns({ listen: [{ host: "127.0.0.1", port: 0 }], store, nameservers: [], log });
  opened.push({ name: "nameserver", close: dns.close });
  const port = dns.addresses[0]?.port ?? 0;
  const ask = createAsk(port, signal);
  const place = { folder, port, parent: { name: parent.name, dnskey }, zone: zone.name, path: play.path, signal };
  const resolver = await startResolver(play.resolvers, place);
  if (resolver) opened.push({ name: resolver.name, close: resolver.close });
  play.onStart(resolver?.name);
  const askDs = createAskParent([{ host: "127.0.0.1", port, key: undefined }]);
  const second = createSecondServer(`ns2.${parent.name}`, async () => {
    const [[view], message] = [await askDs(zone.name, signal), await ask({ name: zone.name, type: dnssecTypes.ds })];
    return { message, view: view ?? { because: "the first server of the parent does not answer" } };
  });
  const round = createSigningRound({
    store,
    log,
    now: () => clock.now,
    // The parent of the parent is not simulated.
    askParent: async (name, stop) => (name === zone.name ? [...(await askDs(name, stop)), second.view(clock.now)] : []),
  });
  const questions = questionsFor(zone.name, play.sets);
  const cached = createCachedAnswers(zone.name, questions, ask, undefined, [second.ask]);
  const registry = createRegistry(store, parent, zone.name, ask, mistake);
  return ok({ ...zones.value, questions, resolver, registry, second, round, cached });
}

async function createZones(play: Opening, clock: PlayClock) {
  const { store, signer } = play;
  const zone = await copyZone(play, clock.now);
  const nameservers = play.sets.find(({ owner, type }) => owner === apex && type === "NS")?.records ?? [];
  const names = nameservers.map(({ rdata }) => rdata);
  const parent = await createParentZone(store, zone.account, zone, names, clock.now);
  // The zone that is copied has nameservers; these are not used.
  const service = createRecordService({
    store,
    signer,
    nameservers: ["ns.invalid"],
    now: () => clock.now,
    answerAfter: Number.POSITIVE_INFINITY,
  });
  const operator: Actor = { account: zone.account, label: "rehearsal", scope: wholeAccount };
  const first = { algorithm: algorithms.ecdsap256, denial: "nsec" } as const;
  const signed = await service.signZone(operator, { number: parent.number }, first);
  if (signed.kind !== "done") return notSigned(signed);
  const [key] = signed.zone.settings.dnssec?.keys ?? [];
  return ok({ zone, parent, service, operator, dnskey: `257 3 ${key?.algorithm} ${key?.publicKey}` });
}

/** Signs the zone, replaces its key, changes the algorithm, and unsigns the zone; each time, until that is done. */
async function playActs(
  { algorithm, denial }: Opening,
  { service, operator, zone, second }: Scene,
  audience: Audience,
  clock: PlayClock,
): Promise<Result<never> | undefined> {
  const at = { number: zone.number };
  const other = algorithm === algorithms.ed25519 ? algorithms.ecdsap256 : algorithms.ed25519;
  const acts = [
    () => service.signZone(operator, at, { algorithm, denial }),
    () => service.rollKey(operator, at, undefined),
    () => service.rollKey(operator, at, other),
    () => service.unsignZone(operator, at, false),
  ];
  for (const [i, act] of acts.entries()) {
    clock.pass(step);
    second.setDelay(delays[i] ?? 0);
    const begun = await act();
    if (begun.kind !== "done") return notSigned(begun);
    await audience.passUntil(
      i === acts.length - 1 ? (dnssec) => dnssec === undefined : (dnssec) => dnssec?.stage === "secure",
    );
  }
  return undefined;
}

/** Those who ask while time passes: the parent, resolvers with older answers, and a real resolver if there is one. */
class Audience {
  readonly counts = { asked: 0, secure: 0, failed: 0, checked: 0, bogus: 0 };
  readonly examples: string[] = [];
  readonly #play: Opening;
  readonly #scene: Scene;
  readonly #clock: PlayClock;
  /** The position of the last change that was looked at. */
  #change = -1;
  #shown = "";

  constructor(play: Opening, scene: Scene, clock: PlayClock) {
    this.#play = play;
    this.#scene = scene;
    this.#clock = clock;
  }

  keepAsking(resolver: Resolver): () => Promise<void> {
    return keepAsking(this.#scene.questions, (question) => this.#ask(resolver, question));
  }

  /** One step of the clock. */
  async visit(): Promise<ZoneSigning | undefined> {
    const { signal, store } = this.#play;
    const { registry, second, round, zone } = this.#scene;
    const { now } = this.#clock;
    signal.throwIfAborted();
    await registry.visit(now);
    const isSecondNew = await second.update(now);
    await round(signal);
    const last = await store.lastChange();
    await this.#askAll(last !== this.#change || isSecondNew);
    this.#change = last;
    const dnssec = (await store.zoneHolding(zone.name))?.settings.dnssec;
    this.#show(dnssec);
    return dnssec;
  }

  /** Lets time pass until the zone is as wanted. */
  async passUntil(isThere: (dnssec: ZoneSigning | undefined) => boolean): Promise<void> {
    const { second } = this.#scene;
    const clock = this.#clock;
    for (let dnssec = await this.visit(); !isThere(dnssec); dnssec = await this.visit()) {
      // Larger steps for the long waits, in which nothing else happens.
      clock.pass(dnssec?.parentSince !== undefined || second.isBehind(clock.now) ? 6 * step : step);
      if (clock.now > clock.began + span)
        throw new Error(`the rehearsal did not finish within ${span / day} simulated days`);
    }
  }

  async #askAll(isNew: boolean): Promise<void> {
    const { cached, resolver, questions } = this.#scene;
    const { now } = this.#clock;
    if (isNew) await cached.update(now);
    const checkResult = cached.check(now);
    this.counts.checked += checkResult.checked;
    for (const each of checkResult.bogus) this.#note(`a resolver with older answers rejects ${each}`);
    if (!resolver || !isNew) return;
    await resolver.forget();
    for (const question of questions) await this.#ask(resolver, question);
  }

  async #ask(by: Resolver, { name, type }: SetQuestion): Promise<void> {
    const verdict = await by.ask({ name, type });
    this.counts.asked += 1;
    if (verdict === "secure") this.counts.secure += 1;
    if (verdict === "failed") this.counts.failed += 1;
    if (verdict === "bogus") this.#note(`${by.name} rejects ${name} (type ${type})`);
  }

  #note(what: string): void {
    this.counts.bogus += 1;
    const { now, began } = this.#clock;
    if (this.examples.length < mostExamples) this.examples.push(`${sinceText(now - began)}: ${what}`);
  }

  #show(dnssec: ZoneSigning | undefined): void {
    const { now, began } = this.#clock;
    const moment = { stage: dnssec?.stage ?? ("unsigned" as const), ds: this.#scene.registry.tags() };
    const text = JSON.stringify(moment);
    if (text !== this.#shown)
      this.#play.onMoment({ ...moment, ...this.counts, at: now - began, keys: dnssec?.keys ?? [] });
    this.#shown = text;
  }
}

const notSigned = (because: NotDone): Result<never> => {
  if (because.kind === "refused") return failAll(because.faults);
  throw new Error("the zone of a rehearsal has disappeared");
};

async function copyZone({ store, zone, sets }: Opening, created: Instant): Promise<Zone> {
  const { id: account } = await store.ensureAccount("rehearsal", created);
  const copied = sets.map((set) => ({
    ...set,
    locked: false,
    ttl: set.ttl === null ? null : Math.min(set.ttl, longestTtl),
    records: set.records.map((record) => ({ ...record, id: newRecordId() })),
  }));
  const settings = plainSettings(Math.min(zone.settings.ttl, longestTtl));
  const { name, serial } = zone;
  const copy = { account, id: "zone", name, settings, serial, created, sets: copied };
  const made = await store.run(createdBy("rehearsal", copy), createZoneRule);
  if (typeof made === "string") throw new Error(`the copy of ${name} could not be created: ${made}`);
  return made;
}

/** `2d 03:05`, of the fast clock. */
export function sinceText(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  const two = (value: number) => `${value}`.padStart(2, "0");
  return `${Math.floor(minutes / 1440)}d ${two(Math.floor(minutes / 60) % 24)}:${two(minutes % 60)}`;
}

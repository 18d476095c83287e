import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Algorithm, algorithms, dnssecTypes } from "../../core/dnssec/codes.ts";
import type { Stage } from "../../core/dnssec/lifecycle.ts";
import type { Denial } from "../../core/dnssec/plan-signing.ts";
import type { Instant } from "../../core/instant.ts";
import { wholeAccount } from "../../core/may.ts";
import { apex } from "../../core/names/name.ts";
import type { RRset } from "../../core/records/rrset.ts";
import { failAll, ok, type Result } from "../../core/result.ts";
import { createAskParent } from "../../lib/dns/delegation.ts";
import { closeInReverse, type Opened } from "../../process/lifecycle.ts";
import { createLog } from "../../process/log.ts";
import { createdBy, createZoneRule } from "../../records/commands/zones/create-delete.ts";
import { plainSettings, type Zone, type ZoneSigning } from "../../records/model.ts";
import { newRecordId } from "../../records/new-id.ts";
import type { NotDone } from "../../records/queries/sight.ts";
import { createRecordService } from "../../records/service.ts";
import { createSigningRound } from "../../records/signing/life/keep-signed.ts";
import { createSigner, type Signer } from "../../records/signing/signer.ts";
import type { RecordStore } from "../../records/store/port.ts";
import { migrations } from "../../records/store/sqlite/schema.ts";
import { openSqliteStore } from "../../records/store/sqlite/store.ts";
import { startDns } from "../start.ts";
import { createAsk, keepAsking } from "./ask-all.ts";
import { createCachedAnswers } from "./cached-answers.ts";
import { questionsFor } from "./questions.ts";
import { createParentZone, createRegistry } from "./registry.ts";
import { type Resolver, type ResolverName, startResolver } from "./resolver.ts";
import { createSecondServer } from "./second-server.ts";

export type Rehearsal = {
  readonly zone: Pick<Zone, "name" | "serial" | "settings">;
  readonly sets: readonly RRset[];
  readonly algorithm: Algorithm;
  readonly denial: Denial;
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

export type Outcome = Counts & {
  readonly took: number;
  /** The first bogus answers. */
  readonly examples: readonly string[];
};

const day = 86_400_000;
/** One step of the fast clock: as long as the margin for secondaries in each stage. */
const step = 300_000;
/**
 * The fast clock starts this long before now. Signatures are valid for at least twelve days, so all of them are also valid by the real clock,
 * which the resolver uses.
 */
const span = 11.5 * day;
/** In seconds. With longer TTLs, the stages would take longer than `span`. */
export const longestTtl = 86_400;
const mostExamples = 10;
const hour = 3_600_000;
/** How long the registry has a wrong digest of a new key. */
const mistake = 3 * hour;
/** After signing, a new key, another algorithm and unsigning: how much later the parent's second server has the change. Longer than caches have the old one. */
const delays = [2 * hour, 30 * hour, 2 * hour, 30 * hour] as const;

/** Simulates the whole life of a signed zone with a fast clock, on a store in memory, and checks its answers all the time. */
export async function rehearse(play: Rehearsal): Promise<Result<Outcome>> {
  const folder = await mkdtemp(join(tmpdir(), "moor-rehearsal-"));
  const log = createLog({ format: "text", level: "silent", write: () => undefined });
  const opened: Opened[] = [{ name: "folder", close: () => rm(folder, { recursive: true, force: true }) }];
  try {
    const signer = createSigner(join(folder, "key"));
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

async function playOn(play: Opening): Promise<Result<Outcome>> {
  const { store, signer, folder, opened, signal, algorithm, denial } = play;
  const began = Date.now() - span;
  let now: Instant = began;
  const log = createLog({ format: "text", level: "silent", write: () => undefined });
  const zone = await copyZone(play, now);
  const nameservers = play.sets.find(({ owner, type }) => owner === apex && type === "NS")?.records ?? [];
  const parent = await createParentZone(
    store,
    zone.account,
    zone,
    nameservers.map(({ rdata }) => rdata),
    now,
  );
  // The zone that is copied has nameservers; these are not used.
  const service = createRecordService({
    store,
    signer,
    nameservers: ["ns.invalid"],
    now: () => now,
    answerAfter: Number.POSITIVE_INFINITY,
  });
  const operator = { account: zone.account, label: "rehearsal", scope: wholeAccount };
  const first = { algorithm: algorithms.ecdsap256, denial: "nsec" } as const;
  const parentSigned = await service.signZone(operator, { number: parent.number }, first);
  if (parentSigned.kind !== "done") return notSigned(parentSigned);
  const dns = await startDns({ listen: [{ host: "127.0.0.1", port: 0 }], store, nameservers: [], log });
  opened.push({ name: "nameserver", close: dns.close });
  const port = dns.addresses[0]?.port ?? 0;
  const ask = createAsk(port, signal);
  const questions = questionsFor(zone.name, play.sets);
  const [key] = parentSigned.zone.settings.dnssec?.keys ?? [];
  const dnskey = `257 3 ${key?.algorithm} ${key?.publicKey}`;
  const place = { folder, port, parent: { name: parent.name, dnskey }, zone: zone.name, path: play.path, signal };
  const resolver = await startResolver(play.resolvers, place);
  if (resolver) opened.push({ name: resolver.name, close: resolver.close });
  play.onStart(resolver?.name);

  const registry = createRegistry(store, parent, zone.name, ask, mistake);
  const askDs = createAskParent([{ host: "127.0.0.1", port, key: undefined }]);
  const second = createSecondServer(`ns2.${parent.name}`, async () => {
    const [[view], message] = [await askDs(zone.name, signal), await ask({ name: zone.name, type: dnssecTypes.ds })];
    return { message, view: view ?? { because: "the first server of the parent does not answer" } };
  });
  const round = createSigningRound({
    store,
    log,
    now: () => now,
    // The parent of the parent is not simulated.
    askParent: async (name, stop) => (name === zone.name ? [...(await askDs(name, stop)), second.view(now)] : []),
  });
  const cached = createCachedAnswers(zone.name, questions, ask, undefined, [second.ask]);
  const counts = { asked: 0, secure: 0, failed: 0, checked: 0, bogus: 0 };
  const examples: string[] = [];
  const note = (what: string) => {
    counts.bogus += 1;
    if (examples.length < mostExamples) examples.push(`${sinceText(now - began)}: ${what}`);
  };
  const askOne = async (by: Resolver, { name, type }: (typeof questions)[number]) => {
    const verdict = await by.ask({ name, type });
    counts.asked += 1;
    if (verdict === "secure") counts.secure += 1;
    if (verdict === "failed") counts.failed += 1;
    if (verdict === "bogus") note(`${by.name} rejects ${name} (type ${type})`);
  };
  const signingNow = async () => (await store.zoneHolding(zone.name))?.settings.dnssec;

  let [change, shown] = [-1, ""];
  /** One step of the clock. */
  const visit = async (): Promise<ZoneSigning | undefined> => {
    signal.throwIfAborted();
    await registry.visit(now);
    const isSecondNew = await second.look(now);
    await round(signal);
    const last = await store.lastChange();
    const isNew = last !== change || isSecondNew;
    change = last;
    if (isNew) await cached.look(now);
    const found = cached.check(now);
    counts.checked += found.checked;
    for (const each of found.bogus) note(`a resolver with older answers rejects ${each}`);
    if (isNew) await resolver?.forget();
    if (resolver && isNew) for (const question of questions) await askOne(resolver, question);
    const dnssec = await signingNow();
    const moment = { stage: dnssec?.stage ?? ("unsigned" as const), ds: registry.tags() };
    if (JSON.stringify(moment) !== shown)
      play.onMoment({ ...moment, ...counts, at: now - began, keys: dnssec?.keys ?? [] });
    shown = JSON.stringify(moment);
    return dnssec;
  };
  /** Lets time pass until the zone is as wanted. */
  const passUntil = async (isThere: (dnssec: ZoneSigning | undefined) => boolean): Promise<void> => {
    for (let dnssec = await visit(); !isThere(dnssec); dnssec = await visit()) {
      // Larger steps for the long waits, in which nothing else happens.
      now += dnssec?.parentSince !== undefined || second.isBehind(now) ? 6 * step : step;
      if (now > began + span) throw new Error(`the rehearsal did not finish within ${span / day} simulated days`);
    }
  };
  const isSecure = (dnssec: ZoneSigning | undefined) => dnssec?.stage === "secure";
  const other = algorithm === algorithms.ed25519 ? algorithms.ecdsap256 : algorithms.ed25519;
  const at = { number: zone.number };

  const endLoad = resolver?.isQuick ? keepAsking(questions, (question) => askOne(resolver, question)) : undefined;
  if (endLoad) opened.push({ name: "questions", close: endLoad });
  await visit();
  const acts = [
    () => service.signZone(operator, at, { algorithm, denial }),
    () => service.rollKey(operator, at, undefined),
    () => service.rollKey(operator, at, other),
    () => service.unsignZone(operator, at, false),
  ];
  for (const [i, act] of acts.entries()) {
    now += step;
    second.setDelay(delays[i] ?? 0);
    const begun = await act();
    if (begun.kind !== "done") return notSigned(begun);
    await passUntil(i === acts.length - 1 ? (dnssec) => dnssec === undefined : isSecure);
  }
  for (const end = now + longestTtl * 1000; now < end; now += 6 * step) await visit();
  await endLoad?.();
  return ok({ ...counts, took: now - began, examples });
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

import { longNameFault, longNames } from "../../../core/dnssec/check-signed-zone.ts";
import { type Algorithm, algorithms } from "../../../core/dnssec/codes.ts";
import {
  beginLeaving,
  beginLife,
  beginRoll,
  cancelLeaving,
  nextStage,
  type Stage,
} from "../../../core/dnssec/lifecycle.ts";
import { leftOutTypes } from "../../../core/dnssec/made-types.ts";
import type { ParentFault, ParentView } from "../../../core/dnssec/parent-view.ts";
import type { Denial } from "../../../core/dnssec/plan-signing.ts";
import { withFittingExpire } from "../../../core/dnssec/soa-expire.ts";
import type { Instant } from "../../../core/instant.ts";
import { apex } from "../../../core/names/name.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { type Fault, fail, ok, type Result } from "../../../core/result.ts";
import type { OtherKey, Zone, ZoneSigning } from "../../model.ts";
import { readZone } from "../../queries/read-zone.ts";
import type { Decision, RecordStore, WriteRequest, WriteView } from "../../store/port.ts";
import { mergeOthers, type PublicKey } from "../other-keys.ts";
import type { ReadKey } from "../private-key.ts";
import { describeKey, type SealedKey, type Signer } from "../signer.ts";
import { everyDsOf } from "../signing-of.ts";

export type SigningWriter = { readonly store: RecordStore; readonly actor: string; readonly now: Instant };

export type SigningChoice = {
  readonly algorithm: Algorithm;
  readonly denial: Denial;
  /** The key that the zone used at another server, instead of a new one. */
  readonly key?: ReadKey | undefined;
  /** Keys of another server that also signs the zone; published from the beginning. */
  readonly others?: readonly PublicKey[];
  /** The highest TTL in the zone before it is signed. */
  readonly zoneTtl?: number;
};

type Planned = {
  readonly dnssec: ZoneSigning | undefined;
  readonly keys?: readonly SealedKey[];
  readonly wanted?: readonly RRset[];
};

/** Decides inside the transaction whether and how a zone's signing changes; must be pure. */
export type SigningRule = (view: WriteView) => Result<Planned>;

/** Signs a zone: from this write on, every change is signed. The parent does not know the key yet, so nothing can be bogus. */
export async function signZone(
  by: SigningWriter,
  zone: Zone,
  choice: SigningChoice,
  signer: Signer,
  servers?: RRset,
): Promise<Result<ZoneSigning>> {
  await checkKeyFile(by.store, signer);
  const long = await longNameIn(by.store, zone, choice.denial);
  if (long !== undefined) return fail(long);
  const noted = { ...choice, zoneTtl: await highestTtlIn(by.store, zone) };
  return await change(by, zone, signingRule(noted, signer, by.now, servers), await ownersToSign(by.store, zone));
}

/**
 * Throws `KeyFileTrouble` if the key file is missing, or is not the one that the keys in the store are encrypted with. Call it before making a
 * key: with a second file, no node could use all keys.
 */
export async function checkKeyFile(store: RecordStore, signer: Signer): Promise<undefined> {
  const [signed] = await store.signedZones(0, 1);
  for (const key of signed ? await store.sealedKeys(signed) : []) signer.unseal(key);
}

/** A name that the zone must not have with NSEC3. */
export async function longNameIn(store: RecordStore, zone: Zone, denial: Denial): Promise<Fault | undefined> {
  if (denial !== "nsec3") return undefined;
  const [owner] = longNames(zone.name, await readZone(store, zone, async () => undefined));
  return owner === undefined ? undefined : longNameFault(zone.name, owner);
}

export async function highestTtlIn(store: RecordStore, zone: Zone): Promise<number> {
  const sets = await readZone(store, zone, async () => undefined);
  return sets.reduce((most, { ttl }) => Math.max(most, ttl ?? 0), zone.settings.ttl);
}

/** `servers` becomes the NS set of a zone that has none. */
export function signingRule(
  { algorithm, denial, key: brought, others = [], zoneTtl }: SigningChoice,
  signer: Signer,
  now: Instant,
  servers?: RRset,
): SigningRule {
  const { key, sealed } = brought ? bring(brought, signer, now) : newKey(signer, algorithm, now, others);
  const life = beginLife(key, now, brought !== undefined || others.length > 0);
  const dnssec = { denial, ...life, ...(life.stage === "new" && zoneTtl !== undefined && { zoneTtl }) };
  return ({ zone: { name, settings }, sets }) => {
    if (settings.dnssec !== undefined) return fail(notNow(`the zone ${name} is already signed`));
    if (settings.mode !== "primary")
      return fail(notNow(`the records of ${name} come from another server`, "sign the zone there"));
    const hasServers = sets.some(({ owner, type }) => owner === apex && type === "NS");
    if (!hasServers && servers === undefined)
      return fail(notNow(`the zone ${name} has no NS records`, "add its nameservers to the apex (@) first"));
    const kept = withFittingExpire(sets.filter(({ type }) => !leftOutTypes.includes(type)));
    const merged = mergeOthers(name, dnssec, others, now);
    if (!merged.ok) return merged;
    return ok({
      dnssec: withOthers(dnssec, merged.value),
      keys: [sealed],
      wanted: hasServers || servers === undefined ? kept : [...kept, servers],
    });
  };
}

/**
 * A zone from a server that signs may have records of the types that signing generates, at any name. From now on they are
 * generated here.
 */
export async function ownersToSign(store: RecordStore, zone: Zone): Promise<WriteRequest["owners"]> {
  const { total } = await store.setPage(zone, { types: leftOutTypes, page: 1, perPage: 1 });
  return total > 0 ? "all" : () => [apex];
}

/** Its tag differs from those in use: with equal tags, resolvers try each key, and people cannot tell the DS records apart. */
function newKey(signer: Signer, algorithm: Algorithm, now: Instant, used: readonly { readonly tag: number }[]) {
  for (;;) {
    const made = signer.makeKey(algorithm, now);
    if (!used.some(({ tag }) => tag === made.key.tag)) return made;
  }
}

function bring({ key: privateKey, algorithm }: ReadKey, signer: Signer, now: Instant) {
  const key = describeKey(privateKey, algorithm, now);
  return { key, sealed: signer.seal(key.id, privateKey) };
}

/** Asks the parent to remove its DS record. The zone stays signed until that has happened. */
export const unsignZone = (by: SigningWriter, zone: Zone): Promise<Result<ZoneSigning>> =>
  change(by, zone, leavingRule(by.now));

export const leavingRule =
  (now: Instant): SigningRule =>
  ({ zone: { name, settings } }) => {
    if (settings.dnssec === undefined) return fail(notSigned(name));
    if (settings.dnssec.stage === "leaving") return fail(notNow(`the zone ${name} is already being unsigned`));
    if (settings.dnssec.others !== undefined)
      return fail(
        notNow(
          `another server signs ${name} too, and the parent would be asked to remove its DS record as well`,
          "withdraw its keys first; if the zone has moved to that server, delete it here instead",
        ),
      );
    return ok({ dnssec: { ...settings.dnssec, ...beginLeaving(settings.dnssec, now) } });
  };

/** Keeps a zone signed that was to be unsigned. */
export const keepZoneSigned = (by: SigningWriter, zone: Zone): Promise<Result<ZoneSigning>> =>
  change(by, zone, keepingRule(by.now));

export const keepingRule =
  (now: Instant): SigningRule =>
  ({ zone: { name, settings } }) => {
    if (settings.dnssec === undefined) return fail(notSigned(name));
    if (settings.dnssec.stage !== "leaving") return fail(notNow(`the zone ${name} is not being unsigned`));
    return ok({ dnssec: { denial: settings.dnssec.denial, ...cancelLeaving(settings.dnssec, now) } });
  };

/**
 * From now on, the zone does not wait for servers of the parent that do not answer. If one of them gives resolvers what it had before, they reject
 * the zone.
 */
export const ignoreSilentServers = (by: SigningWriter, zone: Zone): Promise<Result<ZoneSigning>> =>
  change(by, zone, ignoringSilentRule);

export const ignoringSilentRule: SigningRule = ({ zone: { name, settings } }) => {
  const { dnssec } = settings;
  if (dnssec === undefined) return fail(notSigned(name));
  if (dnssec.stage === "secure") return fail(notNow(`the zone ${name} does not wait for its parent`));
  if (dnssec.parentFault?.kind !== "unverified")
    return fail(notNow(`every server of the parent of ${name} has answered, as far as is known`));
  return ok({ dnssec: { ...dnssec, ignoresSilent: true } });
};

/** Unsigns a zone immediately. While its parent still has a DS record, resolvers reject the zone. */
export const unsignNow = (by: SigningWriter, zone: Zone): Promise<Result<undefined>> => change(by, zone, unsigningRule);

export const unsigningRule: SigningRule = ({ zone: { name, settings } }) =>
  settings.dnssec === undefined ? fail(notSigned(name)) : ok({ dnssec: undefined });

/** Begins to replace the key. */
export async function rollKey(
  by: SigningWriter,
  zone: Zone,
  algorithm: Algorithm | undefined,
  signer: Signer,
): Promise<Result<ZoneSigning>> {
  await checkKeyFile(by.store, signer);
  return await change(by, zone, rollingRule(zone, algorithm, signer, by.now, await highestTtlIn(by.store, zone)));
}

/** Without `algorithm`, the new key uses that of the old one. */
export function rollingRule(
  { settings: { dnssec: old } }: Zone,
  algorithm: Algorithm | undefined,
  signer: Signer,
  now: Instant,
  zoneTtl: number,
): SigningRule {
  const used = [...(old?.keys ?? []), ...(old?.others ?? [])];
  const { key, sealed } = newKey(signer, algorithm ?? old?.keys[0]?.algorithm ?? algorithms.ecdsap256, now, used);
  return ({ zone: { name, settings } }) => {
    if (settings.dnssec === undefined) return fail(notSigned(name));
    const { stage } = settings.dnssec;
    if (stage !== "secure")
      return fail(notNow(`the keys of ${name} cannot be replaced at the stage ${stage}`, untilSecure(stage)));
    if (settings.dnssec.others?.some((other) => other.algorithm !== key.algorithm))
      return fail(
        notNow(
          `another server signs ${name} too, but only with the old algorithm`,
          "withdraw its keys first, then change the algorithm",
        ),
      );
    return ok({ dnssec: { ...settings.dnssec, ...beginRoll(settings.dnssec, key, now, zoneTtl) }, keys: [sealed] });
  };
}

function untilSecure(stage: Stage): string {
  if (stage === "new") return "first wait for the stage new-parent, and give the DS record to the registrar then";
  if (stage === "new-parent") return "first give the DS record to the registrar";
  return "wait until this is finished";
}

/**
 * Changes between NSEC and NSEC3, in one version of the zone: it has the whole chain of one kind or of the other. Each answer contains its own proof, so
 * it is valid whichever version a resolver or a secondary has (RFC 5155 section 10.4 has intermediate steps only for zones that change in parts).
 */
export async function changeDenial(by: SigningWriter, zone: Zone, denial: Denial): Promise<Result<ZoneSigning>> {
  const long = await longNameIn(by.store, zone, denial);
  return long === undefined ? await change(by, zone, denialRule(denial)) : fail(long);
}

export const denialRule =
  (denial: Denial): SigningRule =>
  ({ zone: { name, settings } }) => {
    if (settings.dnssec === undefined) return fail(notSigned(name));
    if (settings.dnssec.denial === denial) return fail(notNow(`the zone ${name} already uses ${denial.toUpperCase()}`));
    return ok({ dnssec: { ...settings.dnssec, denial } });
  };

/** Publishes keys of another server that also signs the zone, so that resolvers can query either server (RFC 8901 section 2.1.2). */
export const publishOthers = (
  by: SigningWriter,
  zone: Zone,
  given: readonly PublicKey[],
): Promise<Result<ZoneSigning>> => change(by, zone, publishingRule(given, by.now));

export const publishingRule =
  (given: readonly PublicKey[], now: Instant): SigningRule =>
  ({ zone: { name, settings } }) => {
    if (settings.dnssec === undefined) return fail(notSigned(name));
    if (settings.dnssec.stage === "leaving") return fail(notNow(`the zone ${name} is being unsigned`));
    const { keys } = settings.dnssec;
    if (given.every(({ publicKey }) => keys.some((key) => key.publicKey === publicKey)))
      return fail(notNow(`these keys already belong to ${name}`, "give the keys of the other server"));
    const merged = mergeOthers(name, settings.dnssec, given, now);
    return merged.ok ? ok({ dnssec: withOthers(settings.dnssec, merged.value) }) : merged;
  };

/** Without tags, withdraws all keys of other servers. */
export const withdrawOthers = (by: SigningWriter, zone: Zone, tags: readonly number[]): Promise<Result<ZoneSigning>> =>
  change(by, zone, withdrawingRule(tags));

export const withdrawingRule =
  (tags: readonly number[]): SigningRule =>
  ({ zone: { name, settings } }) => {
    if (settings.dnssec === undefined) return fail(notSigned(name));
    const { others = [] } = settings.dnssec;
    if (others.length === 0) return fail(notNow(`${name} publishes no keys of another server`));
    const unknown = tags.filter((tag) => !others.some((other) => other.tag === tag));
    if (unknown.length > 0)
      return fail(
        notNow(
          `${name} publishes no key ${unknown.join(", ")} of another server`,
          `it publishes these: ${others.map(({ tag }) => tag).join(", ")}`,
        ),
      );
    const left = tags.length === 0 ? [] : others.filter(({ tag }) => !tags.includes(tag));
    return ok({ dnssec: withOthers(settings.dnssec, left) });
  };

function withOthers(before: ZoneSigning, others: readonly OtherKey[]): ZoneSigning {
  const { others: _, ...signing } = before;
  return others.length === 0 ? signing : { ...signing, others };
}

/** Notes what is wrong at the parent, so that every node can report it; undefined if nothing is. */
export const noteParentFault = (
  by: SigningWriter,
  zone: Zone,
  fault: ParentFault | undefined,
): Promise<Result<ZoneSigning>> =>
  change(by, zone, ({ zone: { name, settings } }) => {
    if (settings.dnssec === undefined) return fail(notSigned(name));
    const { parentFault: before, ...signing } = settings.dnssec;
    if (fault === undefined) return ok({ dnssec: signing });
    const since = before?.kind === fault.kind ? before.since : by.now;
    return ok({ dnssec: { ...signing, parentFault: { ...fault, since } } });
  });

/** Moves on to the next stage if it is time; otherwise undefined. */
export async function continueLife(
  by: SigningWriter,
  zone: Zone,
  parent: ParentView,
  highestTtl: number,
): Promise<ZoneSigning | "unsigned" | undefined> {
  const { dnssec } = zone.settings;
  const next =
    dnssec && nextStage(dnssec, parent, { now: by.now, highestTtl, dsOf: (key) => everyDsOf(key, zone.name) });
  if (dnssec === undefined || next === undefined) return undefined;
  const changed = await change(by, zone, ({ zone: { settings } }) => {
    if (settings.dnssec?.stage !== dnssec.stage || settings.dnssec.since !== dnssec.since)
      return fail(notNow("the zone's keys were changed in the meantime"));
    const { denial, others = [] } = settings.dnssec;
    return ok({ dnssec: next === "gone" ? undefined : withOthers({ ...next, denial }, others) });
  });
  return changed.ok ? (changed.value ?? "unsigned") : undefined;
}

async function change<T extends ZoneSigning | undefined>(
  { store, actor, now }: SigningWriter,
  zone: Zone,
  rule: SigningRule,
  owners: WriteRequest["owners"] = () => [apex],
): Promise<Result<T>> {
  const request = { account: zone.account, at: { zone: zone.id }, owners, actor, now };
  const written = await store.write(request, (view) => {
    const planned = rule(view);
    if (!planned.ok) return { wanted: undefined, result: planned };
    return { ...signingDecision(view, planned.value), result: ok(planned.value.dnssec) };
  });
  return (written ?? fail(notNow(`the zone ${zone.name} has just been deleted`))) as Result<T>;
}

export function signingDecision({ zone }: WriteView, { dnssec, keys = [], wanted }: Planned): Decision {
  const { dnssec: _, ...plain } = zone.settings;
  return { wanted, settings: dnssec === undefined ? plain : { ...plain, dnssec }, keys };
}

const notSigned = (zone: string): Fault => notNow(`the zone ${zone} is not signed`);

const notNow = (message: string, todo?: string): Fault => ({
  code: "dnssec",
  where: "zone",
  message,
  ...(todo !== undefined && { todo }),
});

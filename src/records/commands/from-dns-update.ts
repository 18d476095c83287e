import { dnssecTypes } from "../../core/dnssec/codes.ts";
import { setOf } from "../../core/dnssec/generated-changes.ts";
import { typeNamed } from "../../core/dnssec/signed-name.ts";
import { keyTtl } from "../../core/dnssec/timing.ts";
import type { Instant } from "../../core/instant.ts";
import { may } from "../../core/may.ts";
import { apex } from "../../core/names/name.ts";
import { genericOfBytes } from "../../core/rdata/fields/hex.ts";
import {
  type Prerequisite,
  type RecordUpdate,
  type Unmet,
  unmetPrerequisite,
  updatedSets,
} from "../../core/records/dns-update.ts";
import type { RRset, SetKey } from "../../core/records/rrset.ts";
import { serialOf } from "../../core/records/serial.ts";
import type { Fault } from "../../core/result.ts";
import { OverQuota, type TransferKey } from "../model.ts";
import { newRecordId } from "../new-id.ts";
import type { Actor } from "../queries/permitted-view.ts";
import { signingOf } from "../signing/signing-of.ts";
import { signatures } from "../store/kept-actions.ts";
import { AccessEnded, type ActionRule, type Decision, type RecordStore, type WriteView } from "../store/port.ts";
import { checkWrite } from "./edit/check-write.ts";
import { noChange } from "./write.ts";

/** One DNS UPDATE message, and who sent it. */
export type DnsUpdate = {
  readonly zone: string;
  readonly prerequisites: readonly Prerequisite[];
  readonly updates: readonly RecordUpdate[];
  readonly key: TransferKey;
  readonly from: string;
  /** Identifies this message: two separate updates never have the same signature. */
  readonly signature: string;
  readonly now: Instant;
};

export type DnsUpdated =
  | { readonly kind: "done" | "not-ours" | "denied" }
  | { readonly kind: "unmet"; readonly what: Unmet }
  | { readonly kind: "refused"; readonly faults: readonly Fault[] };

/**
 * Applies the whole message in one write or not at all, with the same rules, change log and serials as the HTTP APIs. A
 * message is never applied twice: a client that missed the answer, or an attacker who replays a captured message, gets
 * the first answer. The signature is stored in the transaction of the update, so this also holds after a restart and on
 * other nodes.
 */
export async function updateFromDns(store: RecordStore, update: DnsUpdate): Promise<DnsUpdated> {
  const { key } = update;
  const zone = await store.zoneNamed(update.zone);
  if (zone === undefined) return { kind: "not-ours" };
  if (key.account !== undefined && key.account !== zone.account) return { kind: "denied" };
  const { name, scope } = key;
  const plain = { ...update, key: { name, scope } };
  const ids = update.updates.map(newRecordId);
  const { account, number } = zone;
  const by = { account, number, actor: { key: key.number }, parts: ids.length };
  const actionResult = await store
    .run({ kind: "dns-update", ...by, update: plain, ids }, dnsUpdateRule)
    .catch((error: unknown) => {
      if (error instanceof AccessEnded || error instanceof OverQuota) return { result: { kind: "denied" } as const };
      throw error;
    });
  return typeof actionResult === "string" ? { kind: "not-ours" } : actionResult.result;
}

type PlainUpdate = Omit<DnsUpdate, "key"> & { readonly key: Pick<TransferKey, "name" | "scope"> };

export type UpdateByDns = {
  readonly kind: "dns-update";
  readonly account: number;
  /** Of the zone. */
  readonly number: number;
  readonly actor: { readonly key: number };
  readonly update: PlainUpdate;
  /** For new records. */
  readonly ids: readonly string[];
  readonly parts: number;
};

const labelOf = ({ name }: Pick<TransferKey, "name">): string => `key ${name}`;

/** Whose changes those of the message are. */
export const actorOfUpdate = ({ account, update: { key, from } }: UpdateByDns): Actor => ({
  account,
  label: labelOf(key),
  scope: key.scope,
  from,
});

function dnsUpdateRule(command: UpdateByDns): ActionRule<DnsUpdated> {
  const { account, number, update, ids } = command;
  const owners = [...new Set([...update.prerequisites, ...update.updates].map((each) => each.owner))];
  const idempotencyKey = { key: update.signature, fingerprint: signatures.fingerprint };
  const by = { actor: labelOf(update.key), now: update.now, idempotencyKey };
  return {
    kind: "action",
    request: { account, at: { number }, owners: () => owners, ...by },
    decide: (view) => {
      const decision = decide(update, view, ids);
      return { ...decision, remember: decision.result.kind === "done" };
    },
  };
}

function decide(update: PlainUpdate, view: WriteView, ids: readonly string[]): Decision & { result: DnsUpdated } {
  if (!mayDo(update, view.sets)) return noChange({ kind: "denied" });
  const generated = update.prerequisites.length > 0 ? generatedSets(view, update.now) : [];
  const unmet = unmetPrerequisite([...view.sets, ...generated], update.prerequisites);
  if (unmet !== undefined) return noChange({ kind: "unmet", what: unmet });
  const context = { zoneTtl: view.zone.settings.ttl, now: update.now, ids };
  const wanted = updatedSets(view.sets, update.updates, context);
  const faults = checkWrite(view, wanted);
  if (faults.length > 0) return noChange({ kind: "refused", faults });
  return { wanted, serial: newSerial(view.sets, wanted), result: { kind: "done" } };
}

/**
 * A signed zone has these too, although nobody has written them: the keys at the apex, and signatures and proofs at
 * every name.
 */
function generatedSets({ zone, sets }: WriteView, now: Instant): readonly RRset[] {
  const { dnssec } = zone.settings;
  if (dnssec === undefined) return [];
  const generated = (owner: string, code: number, data: readonly Uint8Array[]): RRset =>
    setOf({ owner, type: typeNamed(code), ttl: keyTtl, values: data.map(genericOfBytes) });
  const atNames = [dnssecTypes.rrsig, ...(dnssec.denial === "nsec" ? [dnssecTypes.nsec] : [])];
  return [
    ...signingOf(dnssec, zone.name, now).apexSets.map(({ type, data }) => generated(apex, type, data)),
    ...[...new Set(sets.map(({ owner }) => owner))].flatMap((owner) =>
      atNames.map((code) => generated(owner, code, [])),
    ),
  ];
}

/** Checks every set that is named, and every set at a name that is deleted completely. */
function mayDo({ zone, key, from, now, prerequisites, updates }: PlainUpdate, sets: readonly RRset[]): boolean {
  const allowed = (kind: "read-set" | "write-set", { owner, type }: SetKey) =>
    may(key.scope, { kind, zone, owner, type, from, now }).kind === "yes";
  const atName = Map.groupBy(sets, ({ owner }) => owner);
  return (
    may(key.scope, { kind: "read-zone", zone, from, now }).kind === "yes" &&
    key.scope.access === "write" &&
    prerequisites.every((each) => !("type" in each) || allowed("read-set", each)) &&
    updates.every((each) =>
      "type" in each
        ? allowed("write-set", each)
        : (atName.get(each.owner) ?? []).every((set) => isKept(set) || allowed("write-set", set)),
    )
  );
}

/** Deleting all sets at the apex keeps these (RFC 2136 section 3.4.2.3). */
const isKept = ({ owner, type }: RRset): boolean => owner === apex && (type === "SOA" || type === "NS");

/** The serial of an SOA record in the update, which is only accepted if it is newer. */
function newSerial(before: readonly RRset[], after: readonly RRset[]): number | undefined {
  const [old, changed] = [before, after].map((sets) => sets.find((set) => set.type === "SOA")?.records[0]?.rdata);
  return changed === undefined || changed === old ? undefined : serialOf(changed);
}

import type { Instant } from "../../core/instant.ts";
import { absoluteName, ownerOf } from "../../core/names/name.ts";
import { operatorAccount, type Zone } from "../model.ts";
import { newRecordIds } from "../new-id.ts";
import type { RecordStore, WriteRule } from "../store/port.ts";
import { checkWrite } from "./edit/check-write.ts";
import { setAt, withDraft, withSet } from "./edit/set.ts";
import { noChange } from "./write.ts";

/** Marks our records, so that those of other ACME clients at the same name are left alone. */
const comment = "ACME challenge of this service";
/**
 * Seconds. The authority asks right after the write, and a resolver must not keep the value until the next challenge.
 */
const ttl = 60;

/** Resolves when the nameservers of the zone serve these TXT values. */
export type AwaitServed = (name: string, values: readonly string[]) => Promise<void>;

type ProofName = { readonly zone: Zone; readonly owner: string };

/**
 * Proves to an ACME authority over DNS that a name belongs to this service (RFC 8555 section 8.4), if its zone is here.
 * Only zones of the operator's account count: with a CNAME, any other account could make the service write into the
 * zone of a third one.
 */
export function acmeProofs(store: RecordStore, now: () => Instant, awaitServed: AwaitServed = async () => undefined) {
  /** A CNAME at `_acme-challenge` leads to the name that the authority asks for instead. */
  const placeOf = async (name: string): Promise<ProofName | undefined> => {
    const { id: account } = await store.ensureAccount(operatorAccount, now());
    let challenge = `_acme-challenge.${name}`;
    for (let steps = 0; steps < mostSteps; steps++) {
      const zone = await store.zoneHolding(challenge);
      const owner = zone && ownerOf(challenge, zone.name);
      const isOurs = zone?.account === account && zone.settings.mode === "primary";
      if (!isOurs || owner === undefined) return undefined;
      const [alias] = await store.sets(zone, { owner, type: "CNAME" });
      const target = alias?.records[0]?.rdata;
      if (target === undefined) return { zone, owner };
      challenge = target.replace(/\.$/, "");
    }
    return undefined;
  };
  return {
    canPublish: async (name: string): Promise<boolean> => (await placeOf(name)) !== undefined,

    /** Makes these the only values of ours at the name: what an earlier, interrupted attempt left behind is removed. */
    publish: async (name: string, values: readonly string[]): Promise<void> => {
      const place = await placeOf(name);
      // The zone was deleted meanwhile, and our records with it.
      if (place === undefined) return;
      const { zone, owner } = place;
      const command = { account: zone.account, zone: zone.id, owner, values, now: now() };
      const faults = (await store.run({ kind: "acme-challenge", ...command }, acmeChallengeRule)) ?? [];
      if (faults.length > 0)
        throw new Error(`the record _acme-challenge.${name} cannot be written: ${faults.join("; ")}`);
      if (values.length > 0) await awaitServed(absoluteName(owner, zone.name), values);
    },
  };
}

export type AcmeChallenge = {
  readonly kind: "acme-challenge";
  readonly account: number;
  readonly zone: string;
  readonly owner: string;
  readonly values: readonly string[];
  readonly now: Instant;
};

/** The result lists what is wrong. */
function acmeChallengeRule({ account, zone, owner, values, now }: AcmeChallenge): WriteRule<readonly string[]> {
  const at = { owner, type: "TXT" } as const;
  const stamp = { now, newId: newRecordIds() };
  return {
    kind: "write",
    request: { account, at: { zone }, owners: () => [owner], actor: "ACME", now },
    decide: (view) => {
      const set = setAt(view.sets, at);
      const others = set?.records.filter((record) => record.comment !== comment) ?? [];
      const records = [...others, ...values.map((value) => ({ value: `"${value}"`, comment }))];
      const draft = { records, ttl: set?.ttl ?? ttl };
      const edited = withDraft({ zone: view.zone, place: at, set, stamp }, draft);
      if (!edited.ok) return noChange(edited.faults.map(({ message }) => message));
      const wanted = withSet(view.sets, at, records.length === 0 ? undefined : edited.value);
      const faults = checkWrite(view, wanted).map(({ message }) => message);
      return { wanted: faults.length > 0 ? undefined : wanted, result: faults };
    },
  };
}

const mostSteps = 8;

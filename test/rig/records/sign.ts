import type { Algorithm } from "../../../src/core/dnssec/codes.ts";
import type { DenialKind } from "../../../src/core/dnssec/plan-signing.ts";
import type { Instant } from "../../../src/core/instant.ts";
import { wholeAccount } from "../../../src/core/may.ts";
import { failAll, ok, type Result } from "../../../src/core/result.ts";
import type { ZoneOutcome } from "../../../src/records/commands/write.ts";
import type { Zone, ZoneSigning } from "../../../src/records/model.ts";
import { createRecordService } from "../../../src/records/service.ts";
import type { SigningChoice } from "../../../src/records/signing/lifecycle/signing-operations.ts";
import type { PublicKey } from "../../../src/records/signing/multi-signer-keys.ts";
import type { Signer } from "../../../src/records/signing/signer.ts";
import type { RecordStore } from "../../../src/records/store/port.ts";

type By = { readonly store: RecordStore; readonly now: Instant; readonly actor?: string };

function serviceOf({ store, now, actor = "test" }: By, { account, number }: Zone, signer?: Signer) {
  const service = createRecordService({
    store,
    nameservers: ["ns1.example"],
    now: () => now,
    answerAfter: Number.POSITIVE_INFINITY,
    ...(signer && { signer }),
  });
  return { service, operator: { account, label: actor, scope: wholeAccount }, at: { number } };
}

/** Resolves when the zone is signed so. Undefined if it is not signed any more. */
async function signing<T extends ZoneSigning | undefined = ZoneSigning>(
  { store }: By,
  changing: Promise<ZoneOutcome>,
): Promise<Result<T>> {
  const changed = await changing;
  await store.signed();
  if (changed.kind === "done") return ok(changed.zone.settings.dnssec as T);
  if (changed.kind === "refused") return failAll(changed.faults);
  throw new Error(`the zone cannot be changed: ${changed.kind}`);
}

export function signZone(by: By, zone: Zone, choice: SigningChoice, signer: Signer) {
  const { service, operator, at } = serviceOf(by, zone, signer);
  return signing(by, service.signZone(operator, at, choice));
}

export function rollKey(by: By, zone: Zone, algorithm: Algorithm | undefined, signer: Signer) {
  const { service, operator, at } = serviceOf(by, zone, signer);
  return signing(by, service.rollKey(operator, at, algorithm));
}

export function unsignZone(by: By, zone: Zone) {
  const { service, operator, at } = serviceOf(by, zone);
  return signing(by, service.unsignZone(operator, at, false));
}

export function unsignNow(by: By, zone: Zone) {
  const { service, operator, at } = serviceOf(by, zone);
  return signing<undefined>(by, service.unsignZone(operator, at, true));
}

export function resignZone(by: By, zone: Zone) {
  const { service, operator, at } = serviceOf(by, zone);
  return signing(by, service.resignZone(operator, at));
}

export function changeDenial(by: By, zone: Zone, denial: DenialKind) {
  const { service, operator, at } = serviceOf(by, zone);
  return signing(by, service.changeDenial(operator, at, denial));
}

export function ignoreSilentServers(by: By, zone: Zone) {
  const { service, operator, at } = serviceOf(by, zone);
  return signing(by, service.ignoreSilentServers(operator, at));
}

export function publishKeys(by: By, zone: Zone, keys: readonly PublicKey[]) {
  const { service, operator, at } = serviceOf(by, zone);
  return signing(by, service.publishKeys(operator, at, keys));
}

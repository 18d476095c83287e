import { longNameFault, longNames } from "../../../core/dnssec/check-signed-zone.ts";
import { type Algorithm, algorithms } from "../../../core/dnssec/codes.ts";
import { typesMadeBySigning } from "../../../core/dnssec/generated-types.ts";
import { beginSigning } from "../../../core/dnssec/lifecycle.ts";
import type { DenialKind } from "../../../core/dnssec/plan-signing.ts";
import type { Instant } from "../../../core/instant.ts";
import { type Fault, fail, ok, type Result } from "../../../core/result.ts";
import { checkKeyFile } from "../../check-key-file.ts";
import type { IdempotencyOption, Written } from "../../commands/requests.ts";
import {
  earlierWritten,
  outcomeWithZone,
  runLongCommand,
  writeObstacle,
  type ZoneOutcome,
} from "../../commands/write.ts";
import { nameserverSet } from "../../commands/zones/create-delete.ts";
import type { Zone, ZoneKey } from "../../model.ts";
import type { RecordServiceOptions } from "../../options.ts";
import { type Actor, missing, type NotDone, type PermittedView, refused } from "../../queries/permitted-view.ts";
import { readZone } from "../../queries/read-zone.ts";
import type { RecordStore } from "../../store/port.ts";
import type { PublicKey } from "../multi-signer-keys.ts";
import type { ReadKey } from "../private-key.ts";
import { describeKey, type Signer } from "../signer.ts";
import { longestInCaches } from "./cached-ttl.ts";
import { type ChangeSigning, changeSigningRule, type SigningEdit } from "./change-signing.ts";

export type SigningChoice = {
  readonly algorithm: Algorithm;
  readonly denial: DenialKind;
  /** The key that the zone used at another server, instead of a new one. */
  readonly key?: ReadKey | undefined;
  /** Keys of another server that also signs the zone; published from the beginning. */
  readonly multiSignerKeys?: readonly PublicKey[];
};

/** `owners` as in the command. */
type EditWithOwners = SigningEdit & { readonly owners?: ChangeSigning["owners"] };

/** Its type is not the class: the service spreads it. */
export const signingOperations = (
  options: RecordServiceOptions,
  permitted: PermittedView,
): Pick<SigningOperations, keyof SigningOperations> => new SigningOperations(options, permitted);

/** Signing a zone, with the permissions of a change of its settings. The APIs and `moor dnssec` both call these. */
class SigningOperations {
  readonly #options: RecordServiceOptions;
  readonly #permitted: PermittedView;

  constructor(options: RecordServiceOptions, permitted: PermittedView) {
    this.#options = options;
    this.#permitted = permitted;
  }

  readonly publishKeys = (actor: Actor, at: ZoneKey, keys: readonly PublicKey[], idempotency: IdempotencyOption = {}) =>
    this.#plain(actor, at, "publish_keys", { kind: "publish-keys", keys }, idempotency);

  /** Without tags, withdraws all keys of other servers. */
  readonly withdrawKeys = (actor: Actor, at: ZoneKey, tags: readonly number[], idempotency: IdempotencyOption = {}) =>
    this.#plain(actor, at, "withdraw_keys", { kind: "withdraw-keys", tags }, idempotency);

  /** A zone without NS records gets those of this service. */
  readonly signZone = (actor: Actor, at: ZoneKey, choice: SigningChoice, idempotency: IdempotencyOption = {}) => {
    const { store, now } = this.#options;
    const editFor = async (zone: Zone): Promise<Result<EditWithOwners>> => {
      const long = await longNameIn(store, zone, choice.denial);
      if (long !== undefined) return fail(long);
      return await this.#withSigner(async (signer) => ({
        kind: "sign",
        ...firstSigning(choice, signer, now(), await longestInCaches(store, zone, now())),
        servers: nameserverSet(this.#options, now()),
        owners: await ownersToSign(store, zone),
      }));
    };
    return this.#change(actor, at, "sign_zone", editFor, idempotency);
  };

  /** Without `algorithm`, the new key uses that of the old one. */
  readonly rollKey = (
    actor: Actor,
    at: ZoneKey,
    algorithm: Algorithm | undefined,
    idempotency: IdempotencyOption = {},
  ) => {
    const { store, now } = this.#options;
    const editFor = (zone: Zone) =>
      this.#withSigner(async (signer) => {
        const { keys = [], others = [] } = zone.settings.dnssec ?? {};
        const chosen = algorithm ?? keys[0]?.algorithm ?? algorithms.ecdsap256;
        const created = newKey(signer, chosen, now(), [...keys, ...others]);
        return { kind: "roll", ...created, zoneTtl: await longestInCaches(store, zone, now()) };
      });
    return this.#change(actor, at, "roll_key", editFor, idempotency);
  };

  /** Changes between NSEC and NSEC3. */
  readonly changeDenial = (actor: Actor, at: ZoneKey, denial: DenialKind, idempotency: IdempotencyOption = {}) => {
    const editFor = async (zone: Zone): Promise<Result<EditWithOwners>> => {
      const long = await longNameIn(this.#options.store, zone, denial);
      return long === undefined ? ok({ kind: "denial", denial }) : fail(long);
    };
    return this.#change(actor, at, "change_denial", editFor, idempotency);
  };

  /** `isImmediate`: does not wait for the parent, so resolvers reject the zone while the parent has a DS record. */
  readonly unsignZone = (actor: Actor, at: ZoneKey, isImmediate: boolean, idempotency: IdempotencyOption = {}) =>
    this.#plain(actor, at, "unsign_zone", { kind: isImmediate ? "unsign" : "go-insecure" }, idempotency);

  /** Does not wait for servers of the parent that do not answer, until the zone is secure or unsigned. */
  readonly ignoreSilentServers = (actor: Actor, at: ZoneKey, _: object = {}, idempotency: IdempotencyOption = {}) =>
    this.#plain(actor, at, "ignore_silent_servers", { kind: "ignore-silent" }, idempotency);

  readonly resignZone = (actor: Actor, at: ZoneKey, _: object = {}, idempotency: IdempotencyOption = {}) =>
    this.#plain(actor, at, "resign_zone", { kind: "resign" }, idempotency);

  /** Cancels `unsignZone` while it waits for the parent. */
  readonly keepSigned = (actor: Actor, at: ZoneKey, _: object = {}, idempotency: IdempotencyOption = {}) =>
    this.#plain(actor, at, "keep_signed", { kind: "keep-signed" }, idempotency);

  async #change(
    actor: Actor,
    at: ZoneKey,
    action: string,
    editFor: (zone: Zone) => Promise<Result<EditWithOwners>>,
    idempotency: IdempotencyOption,
  ): Promise<ZoneOutcome> {
    const permitted = this.#permitted;
    const { store, now } = this.#options;
    const zone = await permitted.openZone(actor, at);
    if (zone === undefined) return missingOr(await earlierWritten(store, actor, at, idempotency, now()));
    const obstacle = writeObstacle(permitted, actor, zone);
    if (obstacle) return obstacle;
    const wanted = await editFor(zone);
    if (!wanted.ok) return refused(wanted.faults);
    const { owners = "apex", ...edit } = wanted.value;
    const command = { kind: "change-signing", actor, at, edit, owners, action, now: now(), ...idempotency } as const;
    const done = await runLongCommand(this.#options, command, changeSigningRule);
    await store.signed(zone.number);
    return await outcomeWithZone(permitted, actor, at, done);
  }

  /** For changes that need no new key. */
  #plain(
    actor: Actor,
    at: ZoneKey,
    action: string,
    edit: SigningEdit,
    idempotency: IdempotencyOption,
  ): Promise<ZoneOutcome> {
    return this.#change(actor, at, action, async () => ok(edit), idempotency);
  }

  async #withSigner(edit: (signer: Signer) => Promise<EditWithOwners>): Promise<Result<EditWithOwners>> {
    const { store, signer } = this.#options;
    if (signer === undefined) return fail(noSigner);
    await checkKeyFile(store, signer);
    return ok(await edit(signer));
  }
}

/** A repeated request gets its original answer, but there is no zone to show with it. */
const missingOr = (before: Written): NotDone => (before.kind === "done" ? missing("zone") : before);

/** A name that the zone must not have with NSEC3. */
async function longNameIn(store: RecordStore, zone: Zone, denial: DenialKind): Promise<Fault | undefined> {
  if (denial !== "nsec3") return undefined;
  const [owner] = longNames(zone.name, await readZone(store, zone));
  return owner === undefined ? undefined : longNameFault(zone.name, owner);
}

async function ownersToSign(store: RecordStore, zone: Zone): Promise<ChangeSigning["owners"]> {
  const { total } = await store.setPage(zone, { types: typesMadeBySigning, page: 1, perPage: 1 });
  return total > 0 ? "all" : "apex";
}

/** `zoneTtl`: for how many seconds caches may have unsigned records. */
function firstSigning(choice: SigningChoice, signer: Signer, now: Instant, zoneTtl: number) {
  const { algorithm, denial, key: imported, multiSignerKeys = [] } = choice;
  const { key, encrypted } = imported
    ? importKey(imported, signer, now)
    : newKey(signer, algorithm, now, multiSignerKeys);
  const lifecycle = beginSigning(key, now, imported !== undefined || multiSignerKeys.length > 0);
  return {
    dnssec: { denial, ...lifecycle, ...(lifecycle.stage === "new" && { zoneTtl }) },
    encrypted,
    multiSignerKeys,
  };
}

/**
 * Its tag differs from those in use: with equal tags, resolvers try each key, and people cannot tell the DS records
 * apart.
 */
function newKey(signer: Signer, algorithm: Algorithm, now: Instant, used: readonly { readonly tag: number }[]) {
  for (;;) {
    const created = signer.generateKey(algorithm, now);
    if (!used.some(({ tag }) => tag === created.key.tag)) return created;
  }
}

function importKey({ key: privateKey, algorithm }: ReadKey, signer: Signer, now: Instant) {
  const key = describeKey(privateKey, algorithm, now);
  return { key, encrypted: signer.encryptKey(key.id, privateKey) };
}

const noSigner: Fault = {
  code: "dnssec",
  where: "zone",
  message: "this process cannot create keys",
  todo: "run moor dnssec on the service's machine",
};

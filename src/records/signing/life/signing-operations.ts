import type { Algorithm } from "../../../core/dnssec/codes.ts";
import type { Denial } from "../../../core/dnssec/plan-signing.ts";
import { apex } from "../../../core/names/name.ts";
import { type Fault, fail } from "../../../core/result.ts";
import type { Asked, Done, Written } from "../../commands/requests.ts";
import { actWatched, noChange, withZone, writeObstacle, writtenBefore, writtenBy } from "../../commands/write.ts";
import { nameserverSet } from "../../commands/zones/first-sets.ts";
import type { Zone, ZoneKey } from "../../model.ts";
import type { RecordServiceOptions } from "../../options.ts";
import { type Actor, missing, type NotDone, refused, type Sight } from "../../queries/sight.ts";
import type { DecideAct, WriteRequest } from "../../store/port.ts";
import type { PublicKey } from "../other-keys.ts";
import type { Signer } from "../signer.ts";
import {
  checkKeyFile,
  denialRule,
  highestTtlIn,
  ignoringSilentRule,
  keepingRule,
  leavingRule,
  longNameIn,
  ownersToSign,
  publishingRule,
  rollingRule,
  type SigningChoice,
  type SigningRule,
  signingDecision,
  signingRule,
  unsigningRule,
  withdrawingRule,
} from "./dnssec.ts";

/** Signing a zone, with the permissions of a change of its settings. */
export function signingOperations(options: RecordServiceOptions, sight: Sight) {
  const { store, now, signer } = options;

  type Change = {
    readonly command: string;
    readonly ruleFor: (zone: Zone) => SigningRule | Promise<SigningRule>;
    readonly ownersFor?: (zone: Zone) => Promise<WriteRequest["owners"]>;
  };
  const change = async (actor: Actor, key: ZoneKey, { command, ruleFor, ownersFor }: Change, asked: Asked) => {
    const zone = await sight.openZone(actor, key);
    if (zone === undefined) return missingOr(await writtenBefore(store, actor, key, asked, now()));
    const obstacle = writeObstacle(sight, actor, zone);
    if (obstacle) return obstacle;
    const [rule, owners] = [await ruleFor(zone), (await ownersFor?.(zone)) ?? (() => [apex])];
    const decide: DecideAct<Done | NotDone> = (view) => {
      const refusal = writeObstacle(sight, actor, view.zone);
      if (refusal) return noChange(refusal);
      const planned = rule(view);
      if (!planned.ok) return noChange(refused(planned.faults));
      return { ...signingDecision(view, planned.value), command, result: { kind: "done" } };
    };
    const request = { ...writtenBy(actor, now()), at: key, owners, ...asked };
    return await withZone(sight, actor, key, await actWatched(options, request, decide, command));
  };
  const withSigner = async (rule: (signer: Signer) => SigningRule): Promise<SigningRule> => {
    if (signer === undefined) return () => fail(noSigner);
    await checkKeyFile(store, signer);
    return rule(signer);
  };

  return {
    publishKeys: (actor: Actor, key: ZoneKey, others: readonly PublicKey[], asked: Asked = {}) =>
      change(actor, key, { command: "publish_keys", ruleFor: () => publishingRule(others, now()) }, asked),

    /** Without tags, withdraws all keys of other servers. */
    withdrawKeys: (actor: Actor, key: ZoneKey, tags: readonly number[], asked: Asked = {}) =>
      change(actor, key, { command: "withdraw_keys", ruleFor: () => withdrawingRule(tags) }, asked),

    /** A zone without NS records gets those of this service. */
    signZone: (actor: Actor, key: ZoneKey, choice: Omit<SigningChoice, "key">, asked: Asked = {}) =>
      change(
        actor,
        key,
        {
          command: "sign_zone",
          ruleFor: async (zone) => {
            const long = await longNameIn(store, zone, choice.denial);
            if (long !== undefined) return () => fail(long);
            const noted = { ...choice, zoneTtl: await highestTtlIn(store, zone) };
            return await withSigner((own) => signingRule(noted, own, now(), nameserverSet(options, now())));
          },
          ownersFor: (zone) => ownersToSign(store, zone),
        },
        asked,
      ),

    rollKey: (actor: Actor, key: ZoneKey, algorithm: Algorithm | undefined, asked: Asked = {}) =>
      change(
        actor,
        key,
        {
          command: "roll_key",
          ruleFor: async (zone) => {
            const zoneTtl = await highestTtlIn(store, zone);
            return await withSigner((own) => rollingRule(zone, algorithm, own, now(), zoneTtl));
          },
        },
        asked,
      ),

    /** Changes between NSEC and NSEC3. */
    changeDenial: (actor: Actor, key: ZoneKey, denial: Denial, asked: Asked = {}) =>
      change(
        actor,
        key,
        {
          command: "change_denial",
          ruleFor: async (zone) => {
            const long = await longNameIn(store, zone, denial);
            return long === undefined ? denialRule(denial) : () => fail(long);
          },
        },
        asked,
      ),

    /** `isImmediate`: does not wait for the parent, so resolvers reject the zone while the parent has a DS record. */
    unsignZone: (actor: Actor, key: ZoneKey, isImmediate: boolean, asked: Asked = {}) =>
      change(
        actor,
        key,
        { command: "unsign_zone", ruleFor: () => (isImmediate ? unsigningRule : leavingRule(now())) },
        asked,
      ),

    /** Does not wait for servers of the parent that do not answer, until the zone is secure or unsigned. */
    ignoreSilentServers: (actor: Actor, key: ZoneKey, _: object, asked: Asked = {}) =>
      change(actor, key, { command: "ignore_silent_servers", ruleFor: () => ignoringSilentRule }, asked),

    /** Cancels `unsignZone` while it waits for the parent. */
    keepSigned: (actor: Actor, key: ZoneKey, _: object, asked: Asked = {}) =>
      change(actor, key, { command: "keep_signed", ruleFor: () => keepingRule(now()) }, asked),
  };
}

/** A repeated request gets its original answer, but there is no zone to show with it. */
const missingOr = (before: Written): NotDone => (before.kind === "done" ? missing("zone") : before);

const noSigner: Fault = {
  code: "dnssec",
  where: "zone",
  message: "this process cannot create keys",
  todo: "run moor dnssec on the service's machine",
};

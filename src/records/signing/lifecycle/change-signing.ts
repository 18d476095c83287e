import { typesMadeBySigning } from "../../../core/dnssec/generated-types.ts";
import { beginGoingInsecure, beginRoll, cancelGoingInsecure, type Stage } from "../../../core/dnssec/lifecycle.ts";
import type { ParentFault } from "../../../core/dnssec/parent-view.ts";
import type { DenialKind } from "../../../core/dnssec/plan-signing.ts";
import { withFittingExpire } from "../../../core/dnssec/soa-expire.ts";
import type { Instant } from "../../../core/instant.ts";
import { apex } from "../../../core/names/name.ts";
import type { RRset } from "../../../core/records/rrset.ts";
import { type Fault, fail, ok, type Result } from "../../../core/result.ts";
import type { Done, IdempotencyOption } from "../../commands/requests.ts";
import { authorOf, noChange, writeObstacle } from "../../commands/write.ts";
import type { MultiSignerKey, SigningKey, ZoneKey, ZoneSigning } from "../../model.ts";
import { type Actor, type NotDone, permissionsAt, refused } from "../../queries/permitted-view.ts";
import type { ActionRule, WriteView } from "../../store/port.ts";
import { mergeMultiSignerKeys, type PublicKey } from "../multi-signer-keys.ts";
import type { EncryptedKey } from "../signer.ts";

/** Everything that changes how a zone is signed. New keys are generated before, because a command is plain data. */
export type SigningEdit =
  /** From this write on, every change is signed. The parent does not know the key yet, so nothing can be bogus. */
  | ({ readonly kind: "sign" } & FirstSigning)
  /** Begins to replace the key. `zoneTtl`: the highest TTL in the zone. */
  | { readonly kind: "roll"; readonly key: SigningKey; readonly encrypted: EncryptedKey; readonly zoneTtl: number }
  /** Asks the parent to remove its DS record. The zone stays signed until that has happened. */
  | { readonly kind: "go-insecure" }
  /** Cancels `go-insecure`. */
  | { readonly kind: "keep-signed" }
  /** Immediately. While the parent still has a DS record, resolvers reject the zone. */
  | { readonly kind: "unsign" }
  /**
   * Changes between NSEC and NSEC3, in one version of the zone: it has the whole chain of one kind or of the other.
   * Each answer contains its own proof, so it is valid whichever version a resolver or a secondary has (RFC 5155
   * section 10.4 has intermediate steps only for zones that change in parts).
   */
  | { readonly kind: "denial"; readonly denial: DenialKind }
  /** Makes every signature and the chain again, whatever is stored: the repair of a damaged store. */
  | { readonly kind: "resign" }
  /**
   * Publishes keys of another server that also signs the zone, so that resolvers can query either server (RFC 8901
   * section 2.1.2).
   */
  | { readonly kind: "publish-keys"; readonly keys: readonly PublicKey[] }
  /** Without tags, all keys of other servers. */
  | { readonly kind: "withdraw-keys"; readonly tags: readonly number[] }
  /**
   * From now on, the zone does not wait for servers of the parent that do not answer. If one of them gives resolvers
   * what it had before, they reject the zone.
   */
  | { readonly kind: "ignore-silent" }
  /** What is wrong at the parent, so that every node can report it; undefined if nothing is. */
  | { readonly kind: "note-fault"; readonly fault: ParentFault | undefined }
  /** Moves on, if the zone is still at the stage that this was decided for. */
  | { readonly kind: "next-stage"; readonly at: StageSince; readonly next: ZoneSigning | "gone" };

type FirstSigning = {
  readonly dnssec: ZoneSigning;
  readonly encrypted: EncryptedKey;
  readonly multiSignerKeys: readonly PublicKey[];
  /** The NS set of a zone that has none. */
  readonly servers: RRset;
};

export type StageSince = Pick<ZoneSigning, "stage" | "since">;

export type ChangeSigning = IdempotencyOption & {
  readonly kind: "change-signing";
  readonly actor: Actor;
  readonly at: ZoneKey;
  readonly edit: SigningEdit;
  /** `all`: a zone from a server that signs, which may have records at any name that signing generates from now on. */
  readonly owners: "apex" | "all";
  /** The name of the action, if it is one. */
  readonly action?: string;
  readonly now: Instant;
};

export function changeSigningRule(command: ChangeSigning): ActionRule<Done | NotDone> {
  const { actor, at, edit, owners, action, now, idempotencyKey } = command;
  const permissions = permissionsAt(() => now);
  return {
    kind: "action",
    request: {
      ...authorOf(actor, now),
      at,
      owners: owners === "all" ? owners : () => [apex],
      ...(idempotencyKey && { idempotencyKey }),
    },
    decide: (view) => {
      const { dnssec: _, ...plain } = view.zone.settings;
      const obstacle = writeObstacle(permissions, actor, view.zone);
      if (obstacle) return noChange(obstacle);
      const edited = applyEdit(view, edit, now);
      if (!edited.ok) return noChange(refused(edited.faults));
      const { dnssec, keys = [], wanted } = edited.value;
      const settings = dnssec === undefined ? plain : { ...plain, dnssec };
      const renew = edit.kind === "resign" && { renew: "all" as const };
      return { wanted, settings, keys, ...renew, ...(action && { actionName: action }), result: { kind: "done" } };
    },
  };
}

type Edited = {
  /** Undefined: the zone is not signed any more. */
  readonly dnssec: ZoneSigning | undefined;
  readonly keys?: readonly EncryptedKey[];
  readonly wanted?: readonly RRset[];
};

function applyEdit(view: WriteView, edit: SigningEdit, now: Instant): Result<Edited> {
  const { name, settings } = view.zone;
  if (edit.kind === "sign" && settings.published)
    return fail(
      notNow(`the zone ${name} is published at ${settings.published.service}, which would serve it unsigned`),
    );
  if (edit.kind === "sign") return signFirst(view, edit, now);
  if (settings.dnssec === undefined) return fail(notNow(`the zone ${name} is not signed`));
  const before = settings.dnssec;
  switch (edit.kind) {
    case "roll":
      return rollKey(name, before, edit, now);
    case "go-insecure":
      return goInsecure(name, before, now);
    case "keep-signed":
      if (before.stage !== "leaving") return fail(notNow(`the zone ${name} is not being unsigned`));
      return ok({ dnssec: { denial: before.denial, ...cancelGoingInsecure(before, now) } });
    case "unsign":
      return ok({ dnssec: undefined });
    case "denial":
      if (before.denial === edit.denial)
        return fail(notNow(`the zone ${name} already uses ${edit.denial.toUpperCase()}`));
      return ok({ dnssec: { ...before, denial: edit.denial } });
    case "resign":
      return ok({ dnssec: before });
    case "publish-keys":
      return publishKeys(name, before, edit.keys, now);
    case "withdraw-keys":
      return withdrawKeys(name, before, edit.tags);
    case "ignore-silent":
      return ignoreSilentServers(name, before);
    case "note-fault": {
      const { parentFault, ...signing } = before;
      if (edit.fault === undefined) return ok({ dnssec: signing });
      const since = parentFault?.kind === edit.fault.kind ? parentFault.since : now;
      return ok({ dnssec: { ...signing, parentFault: { ...edit.fault, since } } });
    }
    case "next-stage": {
      if (before.stage !== edit.at.stage || before.since !== edit.at.since)
        return fail(notNow("the zone's keys were changed in the meantime"));
      const { denial, others = [] } = before;
      return ok({ dnssec: edit.next === "gone" ? undefined : withMultiSignerKeys({ ...edit.next, denial }, others) });
    }
    default:
      return edit satisfies never;
  }
}

function signFirst(
  { zone: { name, settings }, sets }: WriteView,
  { dnssec, encrypted, multiSignerKeys, servers }: FirstSigning,
  now: Instant,
): Result<Edited> {
  if (settings.dnssec !== undefined) return fail(notNow(`the zone ${name} is already signed`));
  if (settings.mode !== "primary")
    return fail(notNow(`the records of ${name} come from another server`, "sign the zone there"));
  const hasServers = sets.some(({ owner, type }) => owner === apex && type === "NS");
  const kept = withFittingExpire(sets.filter(({ type }) => !typesMadeBySigning.includes(type)));
  const merged = mergeMultiSignerKeys(name, dnssec, multiSignerKeys, now);
  if (!merged.ok) return merged;
  return ok({
    dnssec: withMultiSignerKeys(dnssec, merged.value),
    keys: [encrypted],
    wanted: hasServers ? kept : [...kept, servers],
  });
}

type Roll = Extract<SigningEdit, { readonly kind: "roll" }>;

function rollKey(name: string, before: ZoneSigning, { key, encrypted, zoneTtl }: Roll, now: Instant): Result<Edited> {
  const { stage, others } = before;
  if (stage !== "secure")
    return fail(notNow(`the keys of ${name} cannot be replaced at the stage ${stage}`, untilSecure(stage)));
  if (others?.some((other) => other.algorithm !== key.algorithm))
    return fail(
      notNow(
        `another server signs ${name} too, but only with the old algorithm`,
        "withdraw its keys first, then change the algorithm",
      ),
    );
  return ok({ dnssec: { ...before, ...beginRoll(before, key, now, zoneTtl) }, keys: [encrypted] });
}

function untilSecure(stage: Stage): string {
  if (stage === "new") return "first wait for the stage new-parent, and give the DS record to the registrar then";
  if (stage === "new-parent") return "first give the DS record to the registrar";
  return "wait until this is finished";
}

function goInsecure(name: string, before: ZoneSigning, now: Instant): Result<Edited> {
  if (before.stage === "leaving") return fail(notNow(`the zone ${name} is already being unsigned`));
  if (before.others !== undefined)
    return fail(
      notNow(
        `another server signs ${name} too, and the parent would be asked to remove its DS record as well`,
        "withdraw its keys first; if the zone has moved to that server, delete it here instead",
      ),
    );
  return ok({ dnssec: { ...before, ...beginGoingInsecure(before, now) } });
}

function publishKeys(
  name: string,
  before: ZoneSigning,
  publicKeys: readonly PublicKey[],
  now: Instant,
): Result<Edited> {
  if (before.stage === "leaving") return fail(notNow(`the zone ${name} is being unsigned`));
  if (publicKeys.every(({ publicKey }) => before.keys.some((key) => key.publicKey === publicKey)))
    return fail(notNow(`these keys already belong to ${name}`, "give the keys of the other server"));
  const merged = mergeMultiSignerKeys(name, before, publicKeys, now);
  return merged.ok ? ok({ dnssec: withMultiSignerKeys(before, merged.value) }) : merged;
}

function withdrawKeys(name: string, before: ZoneSigning, tags: readonly number[]): Result<Edited> {
  const { others = [] } = before;
  if (others.length === 0) return fail(notNow(`${name} publishes no keys of another server`));
  const unknown = tags.filter((tag) => !others.some((other) => other.tag === tag));
  if (unknown.length > 0)
    return fail(
      notNow(
        `${name} publishes no key ${unknown.join(", ")} of another server`,
        `it publishes these: ${others.map(({ tag }) => tag).join(", ")}`,
      ),
    );
  const rest = tags.length === 0 ? [] : others.filter(({ tag }) => !tags.includes(tag));
  return ok({ dnssec: withMultiSignerKeys(before, rest) });
}

function ignoreSilentServers(name: string, before: ZoneSigning): Result<Edited> {
  if (before.stage === "secure") return fail(notNow(`the zone ${name} does not wait for its parent`));
  if (before.parentFault?.kind !== "unverified")
    return fail(notNow(`every server of the parent of ${name} has answered, as far as is known`));
  return ok({ dnssec: { ...before, ignoresSilent: true } });
}

function withMultiSignerKeys(before: ZoneSigning, others: readonly MultiSignerKey[]): ZoneSigning {
  const { others: _, ...signing } = before;
  return others.length === 0 ? signing : { ...signing, others };
}

const notNow = (message: string, todo?: string): Fault => ({
  code: "dnssec",
  where: "zone",
  message,
  todo,
});

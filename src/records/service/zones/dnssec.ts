import type { Algorithm } from "../../../core/dnssec/codes.ts";
import { beginLeaving, beginLife, beginRoll, nextStage, type ParentView } from "../../../core/dnssec/lifecycle.ts";
import type { Denial } from "../../../core/dnssec/plan-signing.ts";
import type { Instant } from "../../../core/instant.ts";
import { apex } from "../../../core/names/name.ts";
import { type Fault, fail, ok, type Result } from "../../../core/result.ts";
import type { Zone, ZoneSigning } from "../../model.ts";
import type { ReadKey } from "../../signing/private-key.ts";
import { describeKey, type SealedKey, type Signer } from "../../signing/signer.ts";
import type { RecordStore, WriteView } from "../../store/port.ts";

export type SigningWriter = { readonly store: RecordStore; readonly actor: string; readonly now: Instant };

export type SigningChoice = {
  readonly algorithm: Algorithm;
  readonly denial: Denial;
  /** A key that the zone brings from another server, instead of a new one. */
  readonly key?: ReadKey | undefined;
};

type Planned = { readonly dnssec: ZoneSigning | undefined; readonly keys?: readonly SealedKey[] };

/** Signs a zone: from this write on, every change is signed. The parent does not know the key yet, so nothing can be bogus. */
export async function signZone(
  by: SigningWriter,
  zone: Zone,
  { algorithm, denial, key: brought }: SigningChoice,
  signer: Signer,
): Promise<Result<ZoneSigning>> {
  const { key, sealed } = brought ? bring(brought, signer, by.now) : signer.makeKey(algorithm, by.now);
  const dnssec = { denial, ...beginLife(key, by.now) };
  return await change(by, zone, ({ zone: { settings }, sets }) => {
    if (settings.dnssec !== undefined) return fail(notNow(`the zone ${zone.name} is already signed`));
    if (settings.mode !== "primary")
      return fail(notNow(`the records of ${zone.name} come from another server`, "sign the zone there"));
    if (!sets.some(({ owner, type }) => owner === apex && type === "NS"))
      return fail(notNow(`the zone ${zone.name} has no NS records`, "add its nameservers to the apex (@) first"));
    return ok({ dnssec, keys: [sealed] });
  });
}

function bring({ key: privateKey, algorithm }: ReadKey, signer: Signer, now: Instant) {
  const key = describeKey(privateKey, algorithm, now);
  return { key, sealed: signer.seal(key.id, privateKey) };
}

/** Asks the parent to remove its DS record. The zone stays signed until that has happened. */
export const unsignZone = (by: SigningWriter, zone: Zone): Promise<Result<ZoneSigning>> =>
  change(by, zone, ({ zone: { settings } }) => {
    if (settings.dnssec === undefined) return fail(notSigned(zone));
    if (settings.dnssec.stage === "leaving") return fail(notNow(`the zone ${zone.name} is already being unsigned`));
    return ok({ dnssec: { ...settings.dnssec, ...beginLeaving(settings.dnssec, by.now) } });
  });

/** Unsigns a zone at once. If its parent still has a DS record, the zone cannot be resolved any more. */
export const unsignNow = (by: SigningWriter, zone: Zone): Promise<Result<undefined>> =>
  change(by, zone, ({ zone: { settings } }) =>
    settings.dnssec === undefined ? fail(notSigned(zone)) : ok({ dnssec: undefined }),
  );

/** Begins to replace the key. */
export function rollKey(
  by: SigningWriter,
  zone: Zone,
  algorithm: Algorithm | undefined,
  signer: Signer,
): Promise<Result<ZoneSigning>> {
  const old = zone.settings.dnssec?.keys[0];
  const { key, sealed } = signer.makeKey(algorithm ?? old?.algorithm ?? 13, by.now);
  return change(by, zone, ({ zone: { settings } }) => {
    if (settings.dnssec === undefined) return fail(notSigned(zone));
    if (settings.dnssec.stage !== "secure")
      return fail(
        notNow(
          `the keys of ${zone.name} cannot be replaced now (${settings.dnssec.stage})`,
          settings.dnssec.stage === "new" ? "give the DS record to the registrar first" : "wait until this has ended",
        ),
      );
    return ok({ dnssec: { ...settings.dnssec, ...beginRoll(settings.dnssec, key, by.now) }, keys: [sealed] });
  });
}

/** Goes on to the next stage if it is time for it. Undefined if it is not. */
export async function continueLife(
  by: SigningWriter,
  zone: Zone,
  parent: ParentView,
  highestTtl: number,
): Promise<ZoneSigning | "unsigned" | undefined> {
  const { dnssec } = zone.settings;
  const next = dnssec && nextStage(dnssec, parent, { now: by.now, highestTtl });
  if (dnssec === undefined || next === undefined) return undefined;
  const wanted = next === "gone" ? undefined : { ...next, denial: dnssec.denial };
  const changed = await change(by, zone, ({ zone: { settings } }) =>
    settings.dnssec?.stage === dnssec.stage && settings.dnssec.since === dnssec.since
      ? ok({ dnssec: wanted })
      : fail(notNow("somebody else was faster")),
  );
  return changed.ok ? (changed.value ?? "unsigned") : undefined;
}

async function change<T extends ZoneSigning | undefined>(
  { store, actor, now }: SigningWriter,
  zone: Zone,
  decide: (view: WriteView) => Result<Planned>,
): Promise<Result<T>> {
  const request = { account: zone.account, at: { zone: zone.id }, owners: () => [apex], actor, now };
  const written = await store.write(request, (view) => {
    const planned = decide(view);
    if (!planned.ok) return { wanted: undefined, result: planned };
    const { dnssec, keys = [] } = planned.value;
    const { dnssec: _, ...plain } = view.zone.settings;
    const settings = dnssec === undefined ? plain : { ...plain, dnssec };
    return { wanted: undefined, settings, keys, result: ok(dnssec) };
  });
  return (written ?? fail(notNow(`the zone ${zone.name} has just been deleted`))) as Result<T>;
}

const notSigned = (zone: Zone): Fault => notNow(`the zone ${zone.name} is not signed`);

const notNow = (message: string, todo?: string): Fault => ({
  code: "dnssec",
  where: "zone",
  message,
  ...(todo !== undefined && { todo }),
});

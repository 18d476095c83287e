import type { Zone, ZoneSettings } from "../../model.ts";
import type { DecideAct } from "../../store/port.ts";
import type { RecordServiceOptions } from "../options.ts";
import { type Actor, type AnyZoneKey, denied, missing, type NotDone, type Sight } from "../sight.ts";
import { type Asked, type Done, noChange, type Written, writtenBy, writtenIn } from "../write.ts";

/** Decides on new settings inside the transaction; must be pure. */
export type SettingsRule = (zone: Zone) => ZoneSettings | NotDone;

export type ChangeSettings = ReturnType<typeof createChangeSettings>;

export function createChangeSettings({ store, now }: RecordServiceOptions, sight: Sight) {
  return async (
    actor: Actor,
    key: AnyZoneKey,
    rule: SettingsRule,
    { command, ...asked }: Asked & { readonly command?: string } = {},
  ): Promise<Written> => {
    const at = await sight.keyForWriting(actor, key);
    if (at === undefined) return missing("zone");
    const decide: DecideAct<Done | NotDone> = ({ zone }) => {
      const settings = writeObstacle(sight, actor, zone) ?? rule(zone);
      if ("kind" in settings) return noChange(settings);
      return { ...noChange({ kind: "done" }), settings, ...(command && { command }) };
    };
    const request = { ...writtenBy(actor, now()), at, owners: () => [], ...asked };
    return writtenIn<Done>(await store.act(request, decide));
  };
}

/** Why this actor may not change the whole zone. */
export function writeObstacle(sight: Sight, actor: Actor, { name: zone }: Zone): NotDone | undefined {
  if (!sight.allows(actor, { kind: "read-zone", zone })) return missing("zone");
  const refusal = sight.refusal(actor, { kind: "write-zone", zone });
  return refusal && denied(refusal);
}

export type ChangedZone = (Exclude<Written, NotDone> & { readonly zone: Zone }) | NotDone;

/** The outcome of the write, with the zone as the actor sees it afterwards. */
export async function withZone(sight: Sight, actor: Actor, key: AnyZoneKey, written: Written): Promise<ChangedZone> {
  if (written.kind !== "done") return written;
  const zone = await sight.zone(actor, key);
  return zone ? { ...written, zone } : missing("zone");
}

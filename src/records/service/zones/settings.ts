import { parseZoneName } from "../../../core/names/name.ts";
import type { Fault } from "../../../core/result.ts";
import type { Zone, ZoneSettings } from "../../model.ts";
import type { RecordServiceOptions } from "../options.ts";
import { type Actor, denied, missing, type NotDone, refused, type Sight } from "../sight.ts";

type ChangedZone = { readonly kind: "done"; readonly zone: Zone } | NotDone;

/** Decides on new settings inside the transaction; must be pure. */
export type SettingsRule = (zone: Zone) => ZoneSettings | NotDone;

export function settingsOperations({ store, now }: RecordServiceOptions, sight: Sight) {
  const changeSettings = async (actor: Actor, id: string, rule: SettingsRule): Promise<ChangedZone> => {
    const at = now();
    const request = { account: actor.account, at: { zone: id }, owners: () => [], actor: actor.label, now: at };
    const outcome = await store.write<"done" | NotDone>(request, ({ zone }) => {
      if (!sight.allows(actor, { kind: "read-zone", zone: zone.name })) return leave(missing("zone"));
      const refusal = sight.refusal(actor, { kind: "write-zone", zone: zone.name });
      if (refusal) return leave(denied(refusal));
      const settings = rule(zone);
      return "kind" in settings ? leave(settings) : { wanted: undefined, settings, result: "done" };
    });
    if (outcome !== "done") return outcome ?? missing("zone");
    const zone = await sight.zone(actor, id);
    return zone === undefined ? missing("zone") : { kind: "done", zone };
  };

  return {
    changeSettings,

    /** The name is there to be repeated: a zone keeps its name. Without a TTL it keeps that too. */
    changeZone: (actor: Actor, id: string, draft: { readonly name: string; readonly ttl: number | undefined }) =>
      changeSettings(actor, id, (zone) => {
        const name = parseZoneName(draft.name);
        if (!name.ok) return refused(name.faults);
        if (name.value !== zone.name) return refused([nameStays(zone.name)]);
        return draft.ttl === undefined ? zone.settings : { ...zone.settings, ttl: draft.ttl };
      }),
  };
}

const leave = <T>(result: T) => ({ wanted: undefined, result });

const nameStays = (name: string): Fault => ({
  code: "name-stays",
  where: "name",
  message: `a zone cannot be renamed: this one is ${name}`,
  todo: "make a zone of the new name and move the records there",
});

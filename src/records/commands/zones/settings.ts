import type { Instant } from "../../../core/instant.ts";
import type { Zone, ZoneKey, ZoneSettings } from "../../model.ts";
import type { RecordServiceOptions } from "../../options.ts";
import {
  type Actor,
  type AnyZoneKey,
  missing,
  type NotDone,
  type PlainActor,
  permissionsAt,
  plainActor,
  type Sight,
} from "../../queries/sight.ts";
import type { ActRule } from "../../store/port.ts";
import type { Asked, Done, Written } from "../requests.ts";
import { actWatched, noChange, writeObstacle, writtenBy } from "../write.ts";

/** Decides on new settings inside the transaction; must be pure. */
export type SettingsRule = (zone: Zone) => ZoneSettings | NotDone;

export type ChangeSettings = ReturnType<typeof createChangeSettings>;

export function createChangeSettings(options: RecordServiceOptions, sight: Sight) {
  /** `change`: the new values of some settings, or a rule that depends on the zone. `command` is the name of the action. */
  return async (
    actor: Actor,
    key: AnyZoneKey,
    change: Partial<ZoneSettings> | SettingsRule,
    { command: action, ...asked }: Asked & { readonly command?: string } = {},
  ): Promise<Written> => {
    const at = await sight.keyForWriting(actor, key);
    if (at === undefined) return missing("zone");
    const by = { actor: plainActor(actor), at, now: options.now(), ...(action && { action }), ...asked };
    const { request, decide } =
      typeof change === "function"
        ? settingsRule(by, change)
        : patchSettingsRule({ kind: "patch-settings", ...by, patch: change });
    return await actWatched(options, request, decide, action);
  };
}

type By = Asked & {
  readonly actor: PlainActor;
  readonly at: ZoneKey;
  readonly now: Instant;
  /** The name of the action, if it is one. */
  readonly action?: string;
};

export type PatchSettings = By & { readonly kind: "patch-settings"; readonly patch: Partial<ZoneSettings> };

export function patchSettingsRule(command: PatchSettings): ActRule<Done | NotDone> {
  const rule = settingsRule(command, ({ settings }) => ({ ...settings, ...command.patch }));
  return { ...rule, request: { ...rule.request, command } };
}

function settingsRule({ actor, at, now, action, once }: By, rule: SettingsRule): ActRule<Done | NotDone> {
  const sight = permissionsAt(() => now);
  return {
    kind: "act",
    request: { ...writtenBy(actor, now), at, owners: () => [], ...(once && { once }) },
    decide: ({ zone }) => {
      const settings = writeObstacle(sight, actor, zone) ?? rule(zone);
      if ("kind" in settings) return noChange(settings);
      return { ...noChange({ kind: "done" }), settings, ...(action && { command: action }) };
    },
  };
}

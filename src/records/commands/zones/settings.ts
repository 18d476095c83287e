import { parseAddress } from "../../../core/addresses/address.ts";
import type { Instant } from "../../../core/instant.ts";
import { parseZoneName } from "../../../core/names/name.ts";
import { badInput, type Fault } from "../../../core/result.ts";
import type { PrimaryServer, Zone, ZoneKey, ZoneSettings } from "../../model.ts";
import type { RecordServiceOptions } from "../../options.ts";
import {
  type Actor,
  type AnyZoneKey,
  missing,
  type NotDone,
  type PermittedView,
  permissionsAt,
  refused,
} from "../../queries/permitted-view.ts";
import type { ActionRule } from "../../store/port.ts";
import { signedStaysPrimary } from "../edit/check-write.ts";
import type { Done, IdempotencyOption, Written } from "../requests.ts";
import { authorOf, noChange, runLongCommand, writeObstacle } from "../write.ts";

/** `faults`: what is wrong with new servers, whatever the zone is. */
export type SettingsEdit =
  | { readonly kind: "patch"; readonly patch: Partial<ZoneSettings> }
  /** The name must be the current one, because zones cannot be renamed. Without a TTL the zone keeps its own. */
  | { readonly kind: "ttl"; readonly name: string; readonly ttl: number | undefined }
  | { readonly kind: "servers"; readonly primaries: readonly PrimaryServer[]; readonly faults: readonly Fault[] }
  | ({ readonly kind: "add-server" } & NewServer)
  /** `id`: the server that is replaced. */
  | ({ readonly kind: "replace-server" } & NewServer)
  | { readonly kind: "delete-server"; readonly id: string };

type NewServer = {
  readonly id: string;
  readonly address: string;
  readonly port: number;
  readonly faults: readonly Fault[];
};

export const patch = (settings: Partial<ZoneSettings>): SettingsEdit => ({ kind: "patch", patch: settings });

export type ChangeSettings = ReturnType<typeof createChangeSettings>;

/** `action`: the name of the action, if it is one. */
type ActionOption = IdempotencyOption & { readonly action?: string };

export function createChangeSettings(options: RecordServiceOptions, permittedView: PermittedView) {
  return async (
    actor: Actor,
    key: AnyZoneKey,
    edit: SettingsEdit,
    actionOption: ActionOption = {},
  ): Promise<Written> => {
    const at = await permittedView.keyForWriting(actor, key);
    if (at === undefined) return missing("zone");
    const command = { kind: "edit-settings", actor, at, edit, now: options.now(), ...actionOption } as const;
    return await runLongCommand(options, command, editSettingsRule);
  };
}

export type EditSettings = ActionOption & {
  readonly kind: "edit-settings";
  readonly actor: Actor;
  readonly at: ZoneKey;
  readonly edit: SettingsEdit;
  readonly now: Instant;
};

function editSettingsRule({ actor, at, edit, now, action, idempotencyKey }: EditSettings): ActionRule<Done | NotDone> {
  const permissions = permissionsAt(() => now);
  return {
    kind: "action",
    request: { ...authorOf(actor, now), at, owners: () => [], ...(idempotencyKey && { idempotencyKey }) },
    decide: ({ zone }) => {
      const settings = writeObstacle(permissions, actor, zone) ?? publishable(zone, editedSettings(zone, edit, now));
      if ("kind" in settings) return noChange(settings);
      return { ...noChange({ kind: "done" }), settings, ...(action && { actionName: action }) };
    },
  };
}

function editedSettings(zone: Zone, edit: SettingsEdit, now: Instant): ZoneSettings | NotDone {
  const { settings } = zone;
  switch (edit.kind) {
    case "patch":
      return { ...settings, ...edit.patch };
    case "ttl": {
      const name = parseZoneName(edit.name);
      if (!name.ok) return refused(name.faults);
      return name.value === zone.name
        ? { ...settings, ttl: edit.ttl ?? settings.ttl }
        : refused([nameStays(zone.name)]);
    }
    case "servers":
      if (settings.mode === "primary") return refused([zoneIsPrimary]);
      return edit.faults.length > 0 ? refused(edit.faults) : { ...settings, primaries: edit.primaries };
    default: {
      const servers = editedServers(zone, edit, now);
      if ("kind" in servers) return servers;
      return { ...settings, primaries: servers, mode: servers.length > 0 ? "secondary" : "primary" };
    }
  }
}

/** A published zone has its own records, and a default TTL that its provider takes. */
function publishable({ name, settings: { published } }: Zone, edited: ZoneSettings | NotDone): ZoneSettings | NotDone {
  if (published === undefined || "kind" in edited) return edited;
  const { service, rules } = published;
  if (edited.mode === "secondary") return refused([publishedStaysPrimary(name, service)]);
  if (edited.ttl >= rules.lowestTtl && edited.ttl <= rules.highestTtl) return edited;
  const message = `must be from ${rules.lowestTtl} to ${rules.highestTtl}, because ${name} is published at ${service}`;
  return refused([badInput("ttl", message)]);
}

const publishedStaysPrimary = (name: string, service: string): Fault => ({
  code: "zone-is-published",
  where: "zone",
  message: `${name} is published at ${service}, so its records cannot come from a primary server`,
  todo: "unpublish it first",
});

type ServerEdit = Extract<SettingsEdit, { readonly kind: "add-server" | "replace-server" | "delete-server" }>;

/** A zone with at least one primary server is secondary, without any it is primary. */
function editedServers(zone: Zone, edit: ServerEdit, now: Instant): readonly PrimaryServer[] | NotDone {
  const { mode, primaries } = zone.settings;
  const old = primaries.find(({ id }) => id === edit.id);
  if (edit.kind !== "add-server" && old === undefined) return missing("primary server");
  const others = primaries.filter((each) => each !== old);
  if (edit.kind === "delete-server") return others;
  const { id, port } = edit;
  const address = parseAddress(edit.address)?.text ?? edit.address;
  if (old?.address === address && old.port === port) return primaries;
  const isTaken = others.some((other) => other.address === address && other.port === port);
  const faults = [
    ...(old === undefined && mode === "primary" ? ownRecordFaults(zone) : []),
    ...edit.faults,
    ...(isTaken ? [serverTaken] : []),
  ];
  if (faults.length > 0) return refused(faults);
  const server = { id, created: now, ...old, address, port, modified: now };
  return old === undefined ? [...primaries, server] : primaries.map((each) => (each === old ? server : each));
}

/** The SOA record does not count, because every zone has one. */
function ownRecordFaults(zone: Zone): readonly Fault[] {
  if (zone.settings.dnssec !== undefined) return [signedStaysPrimary(zone.name)];
  return zone.recordCount <= 1 ? [] : [zoneHasRecords];
}

const zoneHasRecords: Fault = {
  code: "zone-has-records",
  where: "zone_id",
  message: "the zone already has records, so they cannot come from a primary server",
  todo: "delete all records except the SOA first, or create a new zone",
};

const serverTaken: Fault = {
  code: "server-taken",
  where: "address",
  message: "the zone already has this primary server",
};

const zoneIsPrimary: Fault = {
  code: "zone-is-primary",
  where: "zone",
  message: "the zone is in primary mode, so it has no primary servers",
  todo: "create a zone in secondary mode",
};

const nameStays = (name: string): Fault => ({
  code: "name-stays",
  where: "name",
  message: `a zone cannot be renamed; this one is ${name}`,
  todo: "create a zone with the new name and move the records there",
});

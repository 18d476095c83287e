import { isRelated, parseZoneName } from "../../core/names/name.ts";
import { nameToUnicode, parseTyped } from "../../core/names/unicode.ts";
import type { Grant, Zone } from "../../records/model.ts";
import type { RecordStore } from "../../records/store/port.ts";
import { type CommandIo, noneToRevoke, refuse } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import type { NewOption } from "../io/options.ts";
import { refuseFaults } from "../io/print-faults.ts";
import { minute, printList } from "../io/print-table.ts";
import { sameStore } from "../store/read-store-place.ts";
import { withServiceStore, withStore } from "../store/with-store.ts";

export type GrantAdd = DatabaseOptions & NewOption & { readonly account: string; readonly zone?: string };

export async function grantAdd(text: string, options: GrantAdd, io: CommandIo): Promise<number> {
  const name = parseTyped(parseZoneName, text);
  const zoneName = options.zone === undefined ? undefined : parseTyped(parseZoneName, options.zone);
  const faults = [name, zoneName].flatMap((each) => (each === undefined || each.ok ? [] : each.faults));
  if (!name.ok || faults.length > 0) return refuseFaults(faults, io);
  return await withServiceStore(options, io, async (store) => {
    const zone = zoneName?.ok ? await findZone(store, zoneName.value) : undefined;
    const fault = options.zone === undefined ? undefined : zoneFault(name.value, zone, options.zone);
    if (fault !== undefined) return refuse(1, fault, io);
    const created = Date.now();
    const account = await store.ensureAccount(options.account, created);
    const consent = { zone: zone?.number, account: account.id, name: name.value };
    const grant = await store.addGrant({ ...consent, actor: "operator", created });
    if (grant === "no-zone") io.err(`The zone ${options.zone} has just been deleted, so nothing was granted.\n`);
    else io.out(`Grant ${grant.id}: ${options.account} may create ${inWords(grant)}.\n`);
    return grant === "no-zone" ? 1 : 0;
  });
}

async function findZone(store: RecordStore, name: string): Promise<Zone | undefined> {
  const zone = await store.zoneHolding(name);
  return zone?.name === name ? zone : undefined;
}

function zoneFault(name: string, zone: Zone | undefined, typed: string): string | undefined {
  if (zone === undefined) return `There is no zone ${typed}; create it first, or grant the name without --zone.`;
  if (isRelated(name, zone.name)) return undefined;
  return `${name} is neither in the zone ${zone.name} nor above it; give one that is, or omit --zone.`;
}

export async function grantList(
  options: DatabaseOptions & { readonly json?: boolean },
  io: CommandIo,
): Promise<number> {
  const grants = await withStore(options, io, (store) => store.grants({}));
  const none = `There are no grants yet; create one with: ${io.program} grant add ${await sameStore(options, io)} NAME`;
  const heads = ["id", "account", "may create", "from", "by", "created"];
  const list = { json: options.json, forPrograms: grants.map(forPrograms), heads, rows: grants.map(row), none };
  return printList(list, io);
}

export async function grantRevoke(id: string, options: DatabaseOptions, io: CommandIo): Promise<number> {
  const revoked = /^\d{1,15}$/.test(id) && (await withStore(options, io, (store) => store.revokeGrant(Number(id))));
  if (!revoked) return noneToRevoke("grant", id, `grant list ${await sameStore(options, io)}`, io);
  io.out(`Revoked grant ${id}; zones that were created with it stay.\n`);
  return 0;
}

/** A grant by the owner of a zone also covers the names below. */
const inWords = ({ name, zoneName }: Grant): string => {
  const shown = nameToUnicode(name);
  const isFromThere = zoneName !== undefined && name.length >= zoneName.length;
  return isFromThere ? `${shown} and below` : shown;
};

const row = (grant: Grant): readonly string[] => [
  String(grant.id),
  grant.accountName,
  inWords(grant),
  grant.zoneName === undefined ? "operator" : `owner of ${nameToUnicode(grant.zoneName)}`,
  grant.actor,
  minute(grant.created),
];

const forPrograms = ({ id, accountName, name, zoneName, actor, created }: Grant) => ({
  id,
  account: accountName,
  name,
  zone: zoneName ?? null,
  by: actor,
  created: new Date(created).toISOString(),
});

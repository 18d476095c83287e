import { hostname } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { createToken, hashSecret } from "../../access/secret.ts";
import { parseAddress } from "../../core/addresses/address.ts";
import { scopeOf } from "../../core/addresses/scope.ts";
import { wholeAccount } from "../../core/may.ts";
import { nearest } from "../../core/names/nearest.ts";
import { faultInWords } from "../../core/result.ts";
import { shortKey } from "../../firewall/access/keys.ts";
import { keysFile, openAccess } from "../../firewall/access/store.ts";
import { readKernel } from "../../lib/kernel/read.ts";
import type { KernelRow } from "../../lib/kernel/row.ts";
import { isInUse } from "../../lib/sqlite/sole.ts";
import { openDataFolder, readFileIfThere, replaceFile } from "../../process/data-folder.ts";
import { recordsDatabase } from "../../records/open-store.ts";
import { placeholderNameservers } from "../../records/options.ts";
import type { Actor } from "../../records/queries/permitted-view.ts";
import { createRecordService } from "../../records/service.ts";
import type { RecordStore } from "../../records/store/port.ts";
import { openSqliteStore } from "../../records/store/sqlite/store.ts";
import { setSetting } from "../../updater/config/edit-names.ts";
import { personHere } from "../firewall/user-access.ts";
import type { CommandIo } from "../io/command-io.ts";
import { outwardDevice } from "./outward-device.ts";

/** The data of `moor up`; `made` lists what it has just created. */
export type Trial = {
  readonly folder: string;
  readonly configFile: string;
  readonly tokenFile: string;
  readonly keyFile: string;
  readonly zone: string;
  readonly name: string;
  readonly device: string;
  /** With --interface. */
  readonly isChosen: boolean;
  /** All interfaces of this machine. */
  readonly devices: readonly string[];
  /** Milliseconds. */
  readonly interval: number;
  readonly made: readonly string[];
};

const zoneName = "home.test";

/** Undefined after printing why not. */
export async function prepareTrial(
  folder: string,
  wanted: string | undefined,
  io: CommandIo,
): Promise<Trial | undefined> {
  const rows = await readKernel({ signal: io.signal });
  const devices = rows.map((row) => row.ifname);
  const device = await pickDevice(wanted, rows, io);
  if (device === undefined) return undefined;
  await openDataFolder(folder);
  // `moor up` would overwrite the config and the secret files of that service, and add a zone to its database.
  if (isInUse(recordsDatabase(folder))) {
    io.err(`A running service uses the data in ${folder}; stop it, or choose another folder with --data.\n`);
    return undefined;
  }
  const made: string[] = [];
  const files = { tokenFile: join(folder, "records-token"), keyFile: join(folder, "firewall-key.txt") };
  const name = ownLabel();
  await prepareKey(folder, files.keyFile, made);
  await prepareRecords(folder, files.tokenFile, name, made);
  const isChosen = wanted !== undefined;
  const configFile = join(folder, "up.yaml");
  return { folder, configFile, ...files, zone: zoneName, name, device, isChosen, devices, interval: 2_000, made };
}

async function pickDevice(
  wanted: string | undefined,
  rows: readonly KernelRow[],
  io: CommandIo,
): Promise<string | undefined> {
  const names = rows.map((row) => row.ifname);
  if (wanted !== undefined) {
    if (names.includes(wanted)) return wanted;
    const meant = nearest(wanted, names);
    io.err(
      `There is no interface ${wanted}.${meant ? ` Did you mean ${meant}?` : ""} The interfaces are: ${names.join(", ")}\n`,
    );
    return undefined;
  }
  const device = await outwardDevice(
    rows.map(({ ifname, flags, addr_info }) => ({
      name: ifname,
      loopback: flags.includes("LOOPBACK"),
      addressed: addr_info.length > 0,
      publishable: addr_info.some(({ local }) => !isLinkLocal(local)),
    })),
  );
  if (device === undefined) {
    io.err(`Only loopback has an address. Choose an interface with --interface: ${names.join(", ")}\n`);
  }
  return device;
}

function isLinkLocal(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && scopeOf(address) === "link-local";
}

/** The name of this machine as one DNS label. */
function ownLabel(): string {
  const label = (hostname().split(".")[0] ?? "").toLowerCase().replace(/[^a-z0-9-]/g, "-");
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label) ? label : "host";
}

/** Creates a new key if the file with the secret is missing or no longer works. */
async function prepareKey(folder: string, file: string, made: string[]): Promise<void> {
  const access = openAccess(keysFile(folder));
  try {
    const [, itsKey = "", itsSecret = ""] = /^key=(.*)\nsecret=(.*)\n/.exec((await readFileIfThere(file)) ?? "") ?? [];
    if (access.keys.check(itsKey, itsSecret)) return;
    const now = new Date();
    const { key, secret, name } = access.keys.add({ name: "moor up", privileges: ["interface-status"], now });
    await replaceFile(file, `key=${key}\nsecret=${secret}\n`);
    access.audit.note(personHere(), "key added", `${shortKey(key)} of ${name}`, now);
    made.push(`a key that may read the interfaces, in ${file}`);
  } finally {
    access.close();
  }
}

async function prepareRecords(folder: string, tokenFile: string, name: string, made: string[]): Promise<void> {
  const store = openSqliteStore(recordsDatabase(folder));
  try {
    const account = await store.ensureAccount("main", Date.now());
    await prepareToken(store, account.id, tokenFile, made);
    await prepareZone(store, { account: account.id, label: "moor up", scope: wholeAccount }, name, made);
  } finally {
    store.close();
  }
}

async function prepareToken(store: RecordStore, account: number, file: string, made: string[]): Promise<void> {
  const storedToken = await store.tokenByHash(hashSecret((await readFileIfThere(file))?.trim() ?? ""));
  if (storedToken !== undefined && storedToken.revoked === undefined) return;
  const secret = createToken();
  const token = { account, name: "moor up", hash: hashSecret(secret), scope: wholeAccount, created: Date.now() };
  await store.addToken(token);
  await replaceFile(file, `${secret}\n`);
  made.push(`a token for the record service, in ${file}`);
}

/** Documentation addresses (RFC 5737, RFC 3849), until the first update. */
const placeholders = { A: "192.0.2.1", AAAA: "2001:db8::1" } as const;

async function prepareZone(store: RecordStore, actor: Actor, name: string, made: string[]): Promise<void> {
  const service = createRecordService({ store, now: Date.now, nameservers: placeholderNameservers });
  const page = await service.zones(actor, { name: zoneName, page: 1, perPage: 1 });
  const zone = page.items[0] ?? (await newZone(service, actor, made));
  for (const [type, value] of Object.entries(placeholders) as ["A" | "AAAA", string][]) {
    const existing = await service.records(actor, { zone: zone.id, name, type });
    if (existing.kind === "done" && existing.records.length > 0) continue;
    const draft = { type, name, value, text: value, ttl: 60 };
    const outcome = await service.createRecord(actor, zone.id, draft);
    if (outcome.kind !== "done") throw new Error(`the ${type} record of ${name}.${zoneName} could not be created`);
    made.push(`the record ${name}.${zoneName} ${type}`);
  }
}

async function newZone(service: ReturnType<typeof createRecordService>, actor: Actor, made: string[]) {
  const outcome = await service.createZone(actor, { name: zoneName, ttl: 60 });
  if (outcome.kind !== "done") {
    const why = outcome.kind === "refused" ? outcome.faults.map(faultInWords).join("; ") : outcome.kind;
    throw new Error(`the zone ${zoneName} could not be created: ${why}`);
  }
  made.push(`the zone ${zoneName}`);
  return outcome.zone;
}

/**
 * Written at the first start. Later starts change only what no longer holds: the ports, and the interface if another
 * one was chosen or this one is gone. Everything else belongs to the user.
 */
export async function writeTrialConfig(trial: Trial, urls: { records: string; firewall: string }): Promise<void> {
  const present = await readFileIfThere(trial.configFile);
  if (present === undefined) return await replaceFile(trial.configFile, firstConfig(trial, urls));
  const edited = currentConfig(present, trial, urls);
  if (edited !== present) await replaceFile(trial.configFile, edited);
}

const own = "this-machine";

/** If the user has changed the config so much that a setting is not found, it is left as it is. */
export function currentConfig(
  text: string,
  trial: Pick<Trial, "name" | "zone" | "device" | "isChosen" | "devices">,
  urls: { records: string; firewall: string },
): string {
  const config = parse(text) as Partial<Record<"sources" | "targets" | "names", unknown>> | null;
  const put = (before: string, path: readonly (string | number)[], value: string): string =>
    path.reduce((at: unknown, key) => (at as Record<string, unknown> | undefined)?.[key], config) === value
      ? before
      : (setSetting(before, path, value) ?? before);
  let edited = put(text, ["sources", own, "url"], urls.firewall);
  edited = put(edited, ["targets", own, "url"], urls.records);
  const names = Array.isArray(config?.names) ? (config.names as readonly Readonly<Record<string, unknown>>[]) : [];
  const index = names.findIndex(({ name, zone }) => name === trial.name && zone === trial.zone);
  for (const family of ["ipv4", "ipv6"]) {
    const device = names[index]?.[family];
    const isStale = typeof device === "string" && (trial.isChosen || !trial.devices.includes(device));
    if (isStale) edited = put(edited, ["names", index, family], trial.device);
  }
  return edited;
}

const firstConfig = (trial: Trial, urls: { records: string; firewall: string }): string =>
  `# The config of the updater in moor up. It is yours to edit: changes apply immediately and are kept. On start, moor up
# itself changes only the two URLs, and the interface if that is gone or --interface names another.
interval: ${trial.interval / 1000}s
# Reads the records this often, and corrects them if someone else changed them.
verify: 5m
sources:
  ${own}:
    url: ${urls.firewall}
    keyFile: firewall-key.txt
    ca: ca.pem
targets:
  ${own}:
    url: ${urls.records}
    api: rrsets
    token: { file: records-token }
    ca: ca.pem
names:
  - name: ${trial.name}
    zone: ${trial.zone}
    ipv4: ${trial.device}
    ipv6: ${trial.device}
`;

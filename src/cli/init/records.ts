import { type Family, recordTypeOf } from "../../core/addresses/address.ts";
import { firstFew } from "../../core/first-few.ts";
import { absoluteName, parseOwner, parseZoneName } from "../../core/names/name.ts";
import { asAscii } from "../../core/names/unicode.ts";
import { visible } from "../../core/visible-text.ts";
import type { ListedZone } from "../../providers/provider-calls.ts";
import type { ListedRecord, RecordTarget, TargetFault } from "../../updater/targets/target.ts";
import { openTarget, targetKinds, targetNames, targetSettings, usualApi } from "../../updater/targets/targets.ts";
import type { CommandIo } from "../io/command-io.ts";
import { settingsOf } from "../io/kind-settings.ts";
import { askEntry, type CliValues, type EntryAsking, missingSettings, readSettingOptions } from "./ask-entry.ts";
import { type AnswerOption, type Asker, notAmong, untilRight, WrongAnswer, wrongBecause } from "./asker.ts";
import type { SetupEntry } from "./files.ts";
import type { InitOptions } from "./options.ts";
import { readEntry } from "./read-entry.ts";
import { createTrustAsker } from "./trust.ts";

type Addresses = Partial<Record<Family, string>>;

const flag = "--target-set";

/** The target, the zone and the name. `addresses` are the values of records that have to be created. */
export async function askRecords(
  options: InitOptions,
  wanted: { readonly families: readonly Family[]; readonly addresses: Addresses },
  asker: Asker,
  io: CommandIo,
) {
  const cliValues = settingsOfOptions(options);
  const askTrust = createTrustAsker(
    cliValues.has("fingerprint") ? `${flag} fingerprint=SHA256` : "--records-fingerprint",
    cliValues.get("fingerprint") ?? options.recordsFingerprint,
    asker,
    io,
  );
  const { entry, zones, config, target } = await untilRight(asker, io, async () => {
    const message = "Where are the records?";
    const api = await asker.pick({ flag: "--api", cliValue: options.api, message, choices: apiChoices() });
    const entry = await askTargetEntry(api, { cliValues, askTrust, asker, io });
    const config = await readEntry(targetSettings, entry, `target ${entry.name}`, options, io);
    const target = await openTarget(config);
    try {
      return { entry, zones: await zonesOf(target, io), config, target };
    } catch (error) {
      target.close();
      throw error;
    }
  });
  try {
    const zone = await untilRight(asker, io, () => askZone(options, zones, asker));
    if (zones === undefined && options.create)
      io.err(`--create has no effect here: moor cannot see which records exist at ${targetNames[config.api]}.\n`);
    const asking = { options, zone, target, asker, io, ...wanted };
    const name = await untilRight(asker, io, () => (zones === undefined ? typeName(asking) : askName(asking)));
    return { target: entry, zone: zone.name, name };
  } finally {
    target.close();
  }
}

/** The options that a target needs without a terminal. */
export function missingTargetFlags(options: InitOptions): readonly string[] {
  const { api, records, tokenFile } = options;
  const kind = targetKinds[api ?? usualApi];
  if (kind === undefined) throw notAmong(apiChoices(), "--api", api ?? "");
  if (["v1", "rrsets", undefined].includes(api)) {
    const optionValues = { "--records URL": records, "--api v1 or rrsets": api, "--token-file FILE": tokenFile };
    return Object.entries(optionValues).flatMap(([each, value]) => (value === undefined ? [each] : []));
  }
  return missingSettings(kind, flag, settingsOfOptions(options));
}

/** `--records` and `--token-file` are the settings that nearly all have. */
function settingsOfOptions({ records, tokenFile, targetSet }: InitOptions): CliValues {
  return new Map([
    ...(records === undefined ? [] : [["url", records] as const]),
    ...(tokenFile === undefined ? [] : [["token", tokenFile] as const]),
    ...readSettingOptions(flag, targetSet),
  ]);
}

/** By the names that people know; the code of the config is in grey behind it. */
export const apiChoices = (): readonly AnswerOption[] =>
  Object.entries(targetKinds).map(([value, { schema }]) => ({
    value,
    label: targetNames[value] ?? value,
    hint: `${value}: ${String(schema.description)}`,
  }));

async function askTargetEntry(
  api: string,
  asking: Pick<EntryAsking, "cliValues" | "askTrust" | "asker" | "io">,
): Promise<SetupEntry> {
  const kind = targetKinds[api];
  if (kind === undefined) throw new Error(`no target with the api ${api}`);
  const isOwn = settingsOf(kind).some(({ key, isNeeded }) => key === "url" && isNeeded);
  const words = {
    url: { flag: "--records", message: "What is the URL of the record service?" },
    token: { flag: "--token-file FILE", ...(isOwn && { message: "Its API token?" }) },
  };
  const name = ["v1", "rrsets"].includes(api) ? "records" : api;
  return askEntry({ ...asking, name, kind, tag: { api }, flag, words });
}

/** Undefined for a service that cannot list them. */
async function zonesOf(target: RecordTarget, io: CommandIo): Promise<readonly ListedZone[] | undefined> {
  const zones = await target.zones(io.signal);
  if (zones.kind === "unsupported") return undefined;
  if (zones.kind !== "found") throw wrongBecause(zones, zones.kind === "unauthorised" ? "secret" : undefined);
  if (zones.value.length === 0) throw new WrongAnswer("There are no zones yet; create one in the console.");
  return zones.value;
}

async function askZone(
  { zone }: InitOptions,
  zones: readonly ListedZone[] | undefined,
  asker: Asker,
): Promise<ListedZone> {
  const question = { flag: "--zone", cliValue: zone && asAscii(zone), message: "In which zone is the name?" };
  if (zones === undefined) {
    const fault = (text: string) => (parseZoneName(asAscii(text)).ok ? undefined : `${text} is not a zone.`);
    const typed = parseZoneName(asAscii(await asker.text({ ...question, example: "example.org", fault })));
    return { id: "", name: typed.ok ? typed.value : "" };
  }
  const choices = zones.map(({ name }) => ({ value: name, label: name }));
  const picked = await asker.pick({ ...question, choices });
  return zones.find(({ name }) => name === picked) ?? { id: "", name: picked };
}

type NameAsking = {
  readonly options: InitOptions;
  readonly zone: ListedZone;
  readonly target: RecordTarget;
  readonly families: readonly Family[];
  readonly addresses: Addresses;
  readonly asker: Asker;
  readonly io: CommandIo;
};

/** Not a valid name, so it cannot be one of the choices. */
const another = "+";

async function askName(asking: NameAsking): Promise<string> {
  const { options, zone, target, asker, io } = asking;
  const listed = await target.records(zone.name, io.signal);
  if (listed.kind !== "found") throw wrongBecause(listed);
  const byName = Map.groupBy(listed.value.filter(isAddressRecord), (record) => record.name);
  const cliName = options.name && asAscii(options.name);
  const name = await pickName(byName, cliName, asking);
  const storedSets = byName.get(name) ?? [];
  if (storedSets.length === 0 && !options.create && !asker.asksAgain)
    throw new WrongAnswer(noRecord(zone.name, name, byName));
  const missing = asking.families.filter((family) => !storedSets.some(({ type }) => type === recordTypeOf(family)));
  for (const family of missing) await offerRecord(family, name, asking);
  return name;
}

function noRecord(zone: string, name: string, byName: ReadonlyMap<string, unknown>): string {
  const others = byName.size === 0 ? "" : ` Existing names: ${firstFew([...byName.keys()].map(visible))}`;
  const todo = "create one in the console, with any address, or let moor create it with --create.";
  return `${zone} has no A or AAAA record ${name}; ${todo}${others}`;
}

const isAddressRecord = ({ type }: ListedRecord): boolean => type === "A" || type === "AAAA";

async function pickName(
  byName: ReadonlyMap<string, readonly ListedRecord[]>,
  cliName: string | undefined,
  { options, zone, asker }: NameAsking,
): Promise<string> {
  if (cliName !== undefined && (options.create || !asker.asksAgain)) return ownerIn(cliName, zone);
  const choices: AnswerOption[] = [...byName].map(([value, found]) => ({
    value,
    label: value,
    hint: found.map(({ type, value: content }) => `${type} ${content}`).join(", "),
  }));
  const newName = { value: another, label: "another name", hint: "moor creates its record" };
  const all = asker.asksAgain ? [...choices, newName] : choices;
  const listedName = cliName !== undefined && byName.has(cliName) ? cliName : undefined;
  const question = { flag: "--name", cliValue: listedName, message: "Which name should moor update?", choices: all };
  const picked =
    choices.length === 0 || (cliName !== undefined && listedName === undefined) ? another : await asker.pick(question);
  return picked === another ? typeName({ options: { name: cliName }, zone, asker }) : picked;
}

/** A name that is not picked from a list. */
async function typeName({ options, zone, asker }: Pick<NameAsking, "options" | "zone" | "asker">): Promise<string> {
  const cliName = options.name && asAscii(options.name);
  const fault = (text: string) =>
    parseOwner(asAscii(text), zone.name).ok ? undefined : `${text} is not a name in ${zone.name}.`;
  const message = `Which name in ${zone.name}? @ is the zone itself.`;
  return ownerIn(
    asAscii(await asker.text({ flag: "--name", cliValue: cliName, message, example: "home", fault })),
    zone,
  );
}

function ownerIn(text: string, zone: ListedZone): string {
  const owner = parseOwner(text, zone.name);
  if (owner.ok) return owner.value;
  throw new WrongAnswer(`${text} is not a name in ${zone.name}.`);
}

/** If the answer is no, the record stays missing, and the trial round says so. */
async function offerRecord(family: Family, name: string, asking: NameAsking): Promise<void> {
  const { options, zone, addresses, asker, io } = asking;
  const what = `${recordTypeOf(family)} record ${visible(absoluteName(name, zone.name))}`;
  const value = addresses[family];
  if (value === undefined) {
    io.err(`There is no ${what}, and no public address to create it with at the moment.\n`);
    return;
  }
  if (!options.create && !asker.asksAgain) return;
  if (!options.create || !options.yes) {
    const message = `There is no ${what} yet. Create it now, with ${value}?`;
    const flag = options.create ? "--yes" : "--create";
    if (!(await asker.yes({ flag, cliValue: undefined, message, assumed: true }))) return;
  }
  const fault = await makeRecord({ ...asking, name, family, value });
  if (fault !== undefined) throw new WrongAnswer(`The ${what} was not created: ${fault.because}; ${fault.todo}`);
  io.out(`Created the ${what}, with ${value}.\n`);
}

type NewRecord = {
  readonly zone: ListedZone;
  readonly name: string;
  readonly family: Family;
  readonly value: string;
  readonly target: RecordTarget;
  readonly io: CommandIo;
};

/**
 * Creates a record with the zone's TTL. Undefined if the service lists it afterwards. The answer
 * does not count: it can be lost after the write, or report a success that did not happen.
 */
async function makeRecord(wanted: NewRecord): Promise<TargetFault | undefined> {
  const { target, zone, io } = wanted;
  const answered = await createSet(wanted);
  const listed = await target.records(zone.name, io.signal);
  if (listed.kind !== "found") return answered ?? listed;
  const isThere = listed.value.some(({ name, type, value }) => {
    const owner = parseOwner(name, zone.name);
    return owner.ok && owner.value === wanted.name && type === recordTypeOf(wanted.family) && value === wanted.value;
  });
  if (isThere) return undefined;
  const todo = "create it in the console, with any address";
  return (
    answered ?? { kind: "later", because: "the record service reported success, but does not list the record", todo }
  );
}

async function createSet({ target, zone, name, family, value, io }: NewRecord): Promise<TargetFault | undefined> {
  const outcome = await target.replace({ zone: zone.name, name, family, value, create: true }, io.signal);
  return outcome.kind === "done" ? undefined : outcome.fault;
}

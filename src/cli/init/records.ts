import { type Family, recordTypeOf } from "../../core/addresses/address.ts";
import { firstFew } from "../../core/first-few.ts";
import { absoluteName, parseOwner } from "../../core/names/name.ts";
import { asAscii } from "../../core/names/unicode.ts";
import { visible } from "../../core/visible-text.ts";
import type { ListedRecord, ListedZone, RecordTarget } from "../../updater/targets/target.ts";
import { openTarget } from "../../updater/targets/targets.ts";
import type { TokenTarget } from "../../updater/targets/token-target.ts";
import type { CommandIo } from "../io/command-io.ts";
import { type Asker, type Choice, untilRight, WrongAnswer } from "./asker.ts";
import { readGiven, readTyped } from "./given.ts";
import { makeRecord } from "./make-record.ts";
import type { InitOptions } from "./options.ts";
import { askUrl, createTrustAsker } from "./trust.ts";

type Addresses = Partial<Record<Family, string>>;

/** The record service, the zone and the name. `addresses` are the values of records that have to be created. */
export async function askRecords(
  options: InitOptions,
  wanted: { readonly families: readonly Family[]; readonly addresses: Addresses },
  asker: Asker,
  io: CommandIo,
) {
  const askTrust = createTrustAsker("records", options.recordsFingerprint, asker, io);
  const { service, zones, config, target } = await untilRight(asker, io, async () => {
    const [flag, given] = ["--records", options.records];
    const message = "What is the URL of the record service?";
    const url = await askUrl({ flag, given, message, example: "https://dns.example.org" }, asker);
    const trust = await askTrust(url);
    const api = await asker.pick({
      flag: "--api",
      given: options.api,
      message: "Which API does it speak?",
      choices: apis,
    });
    const token = await askToken(options, asker, io);
    const config: TokenTarget = { url, trust, name: "records", api, token: () => token };
    const target = await openTarget(config);
    try {
      return { service: { url: url.href, api, token, trust }, zones: await zonesOf(target, io), config, target };
    } catch (error) {
      target.close();
      throw error;
    }
  });
  try {
    const zone = await untilRight(asker, io, () => askZone(options, zones, asker));
    const asking = { options, zone, config, target, asker, io, ...wanted };
    const name = await untilRight(asker, io, () => askName(asking));
    return { records: service, zone: zone.name, name };
  } finally {
    target.close();
  }
}

const apis: readonly Choice[] = [
  { value: "v1", label: "v1", hint: "/api/v1, Auth-API-Token" },
  { value: "rrsets", label: "rrsets", hint: "/v1, Authorization: Bearer" },
];

async function askToken({ tokenFile }: InitOptions, asker: Asker, io: CommandIo): Promise<string> {
  const given = tokenFile === undefined ? undefined : readGiven("--token-file", tokenFile, io).trim();
  const fault = (typed: string) => {
    const read = typed === given ? { text: typed } : readTyped(typed, io);
    if ("wrong" in read) return `${read.wrong} Type the token, or the path of a file that contains it.`;
    return /\s/.test(read.text.trim()) ? "A token has no spaces." : undefined;
  };
  const typed = await asker.secret({ flag: "--token-file FILE", given, message: "Its API token?", fault });
  const read = typed === given ? { text: typed } : readTyped(typed, io);
  return "text" in read ? read.text.trim() : typed;
}

async function zonesOf(target: RecordTarget, io: CommandIo): Promise<readonly ListedZone[]> {
  const zones = await target.zones(io.signal);
  if (zones.kind !== "found") throw new WrongAnswer(`${zones.because}; ${zones.todo}`);
  if (zones.value.length === 0) throw new WrongAnswer("There are no zones yet; create one in the console.");
  return zones.value;
}

async function askZone({ zone }: InitOptions, zones: readonly ListedZone[], asker: Asker): Promise<ListedZone> {
  const choices = zones.map(({ name }) => ({ value: name, label: name }));
  const given = zone && asAscii(zone);
  const picked = await asker.pick({ flag: "--zone", given, message: "In which zone is the name?", choices });
  return zones.find(({ name }) => name === picked) ?? { id: "", name: picked };
}

type NameAsking = {
  readonly options: InitOptions;
  readonly zone: ListedZone;
  readonly config: TokenTarget;
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
  if (listed.kind !== "found") throw new WrongAnswer(`${listed.because}; ${listed.todo}`);
  const byName = Map.groupBy(listed.value.filter(isAddressRecord), (record) => record.name);
  const given = options.name && asAscii(options.name);
  const name = await pickName(byName, given, asking);
  const held = byName.get(name) ?? [];
  if (held.length === 0 && !options.create && !asker.asksAgain)
    throw new WrongAnswer(noRecord(zone.name, name, byName));
  const missing = asking.families.filter((family) => !held.some(({ type }) => type === recordTypeOf(family)));
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
  given: string | undefined,
  { options, zone, asker }: NameAsking,
): Promise<string> {
  if (given !== undefined && (options.create || !asker.asksAgain)) return ownerIn(given, zone);
  const choices: Choice[] = [...byName].map(([value, found]) => ({
    value,
    label: value,
    hint: found.map(({ type, value: held }) => `${type} ${held}`).join(", "),
  }));
  const newName = { value: another, label: "another name", hint: "moor creates its record" };
  const all = asker.asksAgain ? [...choices, newName] : choices;
  const known = given !== undefined && byName.has(given) ? given : undefined;
  const question = { flag: "--name", given: known, message: "Which name should moor update?", choices: all };
  const picked =
    choices.length === 0 || (given !== undefined && known === undefined) ? another : await asker.pick(question);
  if (picked !== another) return picked;
  const fault = (text: string) =>
    parseOwner(asAscii(text), zone.name).ok ? undefined : `${text} is not a name in ${zone.name}.`;
  const message = `Which name in ${zone.name}? @ is the zone itself.`;
  return ownerIn(asAscii(await asker.text({ flag: "--name", given, message, example: "home", fault })), zone);
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
  if (!options.create) {
    if (!asker.asksAgain) return;
    const message = `There is no ${what} yet. Create it now, with ${value}?`;
    if (!(await asker.yes({ flag: "--create", given: undefined, message, assumed: true }))) return;
  }
  const fault = await makeRecord({ ...asking, name, family, value });
  if (fault !== undefined) throw new WrongAnswer(`The ${what} was not created: ${fault.because}; ${fault.todo}`);
  io.out(`Created the ${what}, with ${value}.\n`);
}

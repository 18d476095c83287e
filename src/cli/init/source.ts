import { type Family, families, recordTypeOf } from "../../core/addresses/address.ts";
import type { InterfaceReport } from "../../core/addresses/interface-report.ts";
import type { SourceConfig } from "../../updater/config/kinds.ts";
import { openSource, sourceKinds, sourceNames, sourceSettings, usualKind } from "../../updater/sources/sources.ts";
import type { CommandIo } from "../io/command-io.ts";
import { settingsToAsk } from "../io/kind-settings.ts";
import { askEntry, type CliValues, missingSettings, readSettingOptions } from "./ask-entry.ts";
import { type AnswerOption, type Asker, NoAnswer, notAmong, untilRight, WrongAnswer, wrongBecause } from "./asker.ts";
import { askDevice, deviceChoices, publicAddress } from "./devices.ts";
import { discover, type Proposal } from "./discover.ts";
import { type SetupEntry, secretFile, trustSettings, type YamlValue } from "./files.ts";
import type { InitOptions } from "./options.ts";
import { readEntry } from "./read-entry.ts";
import { isPath, readOptionFile, readTyped } from "./read-option-file.ts";
import { askUrl, createTrustAsker, type TrustAsker } from "./trust.ts";

/**
 * What was found out about the source: its entry, the devices of the name, and the addresses that could be published
 * now.
 */
export type SourceAnswers = {
  readonly source: SetupEntry;
  readonly devices: Partial<Record<Family, YamlValue>>;
  readonly addresses: Partial<Record<Family, string>>;
};

const flag = "--source-set";

/** Asks for a source and reads it; then for the interface of each record. */
export async function askSource(options: InitOptions, asker: Asker, io: CommandIo): Promise<SourceAnswers> {
  const cliValues = readSettingOptions(flag, options.sourceSet);
  const trusts = {
    firewall: createTrustAsker("--firewall-fingerprint", options.firewallFingerprint, asker, io),
    other: createTrustAsker(`${flag} fingerprint=SHA256`, cliValues.get("fingerprint"), asker, io),
  };
  const isOpen = options.kind === undefined && options.firewall === undefined && asker.asksAgain;
  const proposals = isOpen ? await discover(io) : [];
  let kind: string | undefined;
  const { source, report } = await untilRight(asker, io, async () => {
    // A kind without further questions cannot be corrected, so another kind has to be chosen.
    if (kind === undefined || asksNothing(kind)) kind = await askKind(options, proposals, asker);
    const proposedSettings = proposals.find((proposal) => proposal.kind === kind)?.settings ?? {};
    const source = await askSourceEntry(kind, { options, cliValues, discovered: proposedSettings, trusts, asker, io });
    const read = async (entry: SetupEntry) =>
      await readReport(await readEntry(sourceSettings, entry, `source ${entry.name}`, options, io), io);
    return isFirewall(kind) ? await readFirewall(source, read) : { source, report: await read(source) };
  });
  const { only, families: possible = families } = sourceKinds[kind ?? ""] ?? {};
  const devices: Partial<Record<Family, YamlValue>> = {};
  const addresses: Partial<Record<Family, string>> = {};
  for (const family of possible) {
    const device = await (only === undefined
      ? untilRight(asker, io, () => askDevice(family, report, options[family], asker, io))
      : askFamily(family, report, only, options[family], asker));
    if (device === "none") continue;
    devices[family] = only === undefined ? device : true;
    const address = publicAddress(report, device, family);
    if (address !== undefined) addresses[family] = address;
  }
  if (!devices.ipv4 && !devices.ipv6)
    throw new NoAnswer("Without an interface there is nothing to update; choose one with --ipv4 or --ipv6.");
  return { source, devices, addresses };
}

/** The options that a source needs without a terminal. */
export function missingSourceFlags({ kind = usualKind, ...options }: InitOptions): readonly string[] {
  const about = sourceKinds[kind];
  if (about === undefined) throw notAmong(kindChoices([]), "--kind", kind);
  if (isFirewall(kind)) {
    const flags = { firewall: "--firewall URL", firewallKeyFile: "--firewall-key-file FILE" } as const;
    return Object.entries(flags).flatMap(([key, each]) => (options[key as keyof typeof flags] ? [] : [each]));
  }
  return missingSettings(about, flag, readSettingOptions(flag, options.sourceSet));
}

const isFirewall = (kind: string): boolean => sourceKinds[kind] === sourceKinds[usualKind];

const asksNothing = (kind: string): boolean =>
  !isFirewall(kind) && settingsToAsk(sourceKinds[kind] as (typeof sourceKinds)[string]).length === 0;

/**
 * Each kind once, though some have two names. Found ones come first, and `web` before those that have no public
 * address.
 */
export function kindChoices(proposals: readonly Proposal[]): readonly AnswerOption[] {
  const kinds = Object.entries(sourceKinds).filter(
    ([, kind], at, all) => all.findIndex(([, other]) => other === kind) === at,
  );
  const sure = proposals.filter(({ isDoubtful }) => !isDoubtful);
  const first = [...sure.map(({ kind }) => kind), "web", ...proposals.map(({ kind }) => kind)];
  const rank = (kind: string) => (first.includes(kind) ? first.indexOf(kind) : first.length);
  return kinds
    .map(([value, { schema }]) => {
      const proposal = proposals.find(({ kind }) => kind === value);
      const hint = `${value}: ${proposal ? `found: ${proposal.because}` : String(schema.description)}`;
      return { value, label: sourceNames[value] ?? value, hint };
    })
    .toSorted((a, b) => rank(a.value) - rank(b.value));
}

async function askKind({ kind, firewall }: InitOptions, proposals: readonly Proposal[], asker: Asker): Promise<string> {
  if (kind !== undefined && isFirewall(kind)) return usualKind;
  const usual = firewall !== undefined || !asker.asksAgain ? usualKind : undefined;
  const message = "Where should moor read the addresses?";
  return asker.pick({ flag: "--kind", cliValue: kind ?? usual, message, choices: kindChoices(proposals) });
}

type SourceAsking = {
  readonly options: InitOptions;
  readonly cliValues: CliValues;
  /** What is known about a source that was found. */
  readonly discovered: Proposal["settings"];
  readonly trusts: Readonly<Record<"firewall" | "other", TrustAsker>>;
  readonly asker: Asker;
  readonly io: CommandIo;
};

async function askSourceEntry(kind: string, asking: SourceAsking): Promise<SetupEntry> {
  const { options, cliValues, discovered, trusts, asker, io } = asking;
  if (isFirewall(kind)) return askFirewall(options, discovered.url, trusts.firewall, asker, io);
  const about = sourceKinds[kind];
  if (about === undefined) throw new Error(`no source of kind ${kind}`);
  // What is not asked for is used as it was found; the rest is proposed.
  const askedKeys = settingsToAsk(about).map(({ key }) => key);
  const [open, certain] = [true, false].map((isAsked) =>
    Object.entries(discovered).filter(([key]) => askedKeys.includes(key) === isAsked),
  );
  const words = Object.fromEntries((open ?? []).map(([key, proposed]) => [key, { proposed }]));
  const all = new Map([...(certain ?? []), ...cliValues]);
  const entry = { name: kind, kind: about, tag: { kind }, flag, words };
  return askEntry({ ...entry, cliValues: all, askTrust: trusts.other, asker, io });
}

/** A key of an OPNsense with the privilege "Status: Interfaces", and no other, can read only the overview. */
async function readFirewall(
  source: SetupEntry,
  read: (entry: SetupEntry) => Promise<InterfaceReport>,
): Promise<{ readonly source: SetupEntry; readonly report: InterfaceReport }> {
  try {
    return { source, report: await read(source) };
  } catch (error) {
    if (!(error instanceof WrongAnswer)) throw error;
    const narrow = { ...source, settings: { ...source.settings, report: "overview" } };
    const report = await read(narrow).catch(() => undefined);
    if (report === undefined) throw error;
    return { source: narrow, report };
  }
}

async function readReport(config: SourceConfig, io: CommandIo): Promise<InterfaceReport> {
  const source = await openSource(config);
  try {
    const reading = await source.read(io.signal);
    if (reading.kind === "unavailable") throw wrongBecause(reading);
    return reading.report;
  } finally {
    source.close();
  }
}

/** For a source that knows only one connection: whether the name has a record of this family. */
async function askFamily(
  family: Family,
  report: InterfaceReport,
  only: string,
  cliValue: string | undefined,
  asker: Asker,
): Promise<string> {
  const choices = deviceChoices(report, family).map((choice) =>
    choice.value === "none" ? { ...choice, label: "no" } : { ...choice, label: "yes" },
  );
  const message = `Should the name have an ${recordTypeOf(family)} record?`;
  const answer = cliValue === "true" || cliValue === "yes" ? only : cliValue;
  return asker.pick({ flag: `--${family}`, cliValue: answer, message, choices });
}

/**
 * An OPNsense or `moor firewall`: the URL (`proposedUrl`, if one was discovered), and a key with its secret, which are
 * downloaded as one file.
 */
async function askFirewall(
  options: InitOptions,
  proposedUrl: string | undefined,
  askTrust: TrustAsker,
  asker: Asker,
  io: CommandIo,
): Promise<SetupEntry> {
  const name = "firewall";
  const question = { flag: "--firewall", cliValue: options.firewall, message: "What is the URL of the firewall?" };
  const proposed = proposedUrl === undefined ? {} : { proposed: proposedUrl };
  const url = await askUrl({ ...question, ...proposed, example: "https://192.168.1.1" }, asker);
  const trust = trustSettings(name, await askTrust(url));
  const { key, secret } = await askKey(options, asker, io);
  const file = secretFile(name, "key.txt", `key=${key}\nsecret=${secret}`);
  return {
    name,
    settings: { url: url.href, ...trust.settings, keyFile: file.path },
    files: [file, ...trust.files],
  };
}

type KeyPair = { readonly key: string; readonly secret: string };

/** The answer may also be the path of the downloaded file, which contains both the key and its secret. */
async function askKey({ firewallKeyFile }: InitOptions, asker: Asker, io: CommandIo): Promise<KeyPair> {
  const flag = "--firewall-key-file FILE";
  const cliPair =
    firewallKeyFile === undefined
      ? undefined
      : pairIn(firewallKeyFile, readOptionFile("--firewall-key-file", firewallKeyFile, io));
  if (typeof cliPair === "string") throw new WrongAnswer(cliPair);
  const typedPair = (typed: string): KeyPair | string | undefined => {
    if (typed === cliPair?.key || !isPath(typed, io)) return undefined;
    const read = readTyped(typed, io);
    return "wrong" in read ? read.wrong : pairIn(typed, read.text);
  };
  const fault = (typed: string) => {
    const pair = typedPair(typed);
    return typeof pair === "string" ? `${pair} Type the key, or the path of the downloaded file.` : undefined;
  };
  const key = await asker.text({
    flag,
    cliValue: cliPair?.key,
    message: "The API key of a user of the firewall, or the path of its downloaded file?",
    fault,
  });
  const pair = typedPair(key);
  if (typeof pair === "object") return pair;
  const secret = await asker.secret({ flag, cliValue: cliPair?.secret, message: "The secret of that key?" });
  return { key: key.trim(), secret };
}

function pairIn(file: string, text: string): KeyPair | string {
  const half = (line: "key" | "secret") => new RegExp(`^${line}=(\\S+)`, "m").exec(text)?.[1];
  const [key, secret] = [half("key"), half("secret")];
  if (key !== undefined && secret !== undefined) return { key, secret };
  return `${file} has no line ${key === undefined ? "key" : "secret"}=…; use the file as downloaded from the firewall.`;
}

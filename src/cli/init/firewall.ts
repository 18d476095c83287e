import { type Family, families, recordTypeOf } from "../../core/addresses/address.ts";
import { chooseAddress } from "../../core/addresses/choose-address.ts";
import type { InterfaceReport } from "../../core/addresses/interface-report.ts";
import { visible } from "../../core/visible-text.ts";
import type { FirewallSource } from "../../updater/sources/firewall.ts";
import type { SourceConfig } from "../../updater/sources/source.ts";
import { openSource } from "../../updater/sources/sources.ts";
import type { CommandIo } from "../io/command-io.ts";
import { type Asker, type Choice, NoAnswer, untilRight, WrongAnswer } from "./asker.ts";
import { isPath, readGiven, readTyped } from "./given.ts";
import type { InitOptions } from "./options.ts";
import { askUrl, createTrustAsker } from "./trust.ts";

/** The firewall, the interfaces, and the addresses that could be published at the moment. */
export async function askFirewall(options: InitOptions, asker: Asker, io: CommandIo) {
  const askTrust = createTrustAsker("firewall", options.firewallFingerprint, asker, io);
  const { firewall, report } = await untilRight(asker, io, async () => {
    const [flag, given] = ["--firewall", options.firewall];
    const message = "What is the URL of the firewall?";
    const url = await askUrl({ flag, given, message, example: "https://192.168.1.1" }, asker);
    const trust = await askTrust(url);
    const { key, secret } = await askKey(options, asker, io);
    return {
      firewall: { url: url.href, key, secret, trust },
      report: await readReport(url, trust, { key, secret }, io),
    };
  });
  const devices: Partial<Record<Family, string>> = {};
  const addresses: Partial<Record<Family, string>> = {};
  for (const family of families) {
    const device = await untilRight(asker, io, () => askDevice(family, report, options[family], asker, io));
    if (device === "none") continue;
    devices[family] = device;
    const address = publicAddress(report, device, family);
    if (address !== undefined) addresses[family] = address;
  }
  if (!devices.ipv4 && !devices.ipv6)
    throw new NoAnswer("Without an interface there is nothing to update; choose one with --ipv4 or --ipv6.");
  return { setup: { firewall, ...devices }, addresses };
}

type KeyPair = { readonly key: string; readonly secret: string };

async function readReport(
  url: URL,
  trust: Awaited<ReturnType<ReturnType<typeof createTrustAsker>>>,
  { key, secret }: KeyPair,
  io: CommandIo,
): Promise<InterfaceReport> {
  const config: SourceConfig & FirewallSource = {
    ...{ url, trust, name: "firewall", kind: "firewall" },
    key: () => key,
    secret: () => secret,
  };
  const source = await openSource(config);
  try {
    const reading = await source.read(io.signal);
    if (reading.kind === "unavailable") throw new WrongAnswer(`${reading.because}; ${reading.todo}`);
    return reading.report;
  } finally {
    source.close();
  }
}

/** The answer may also be the path of the downloaded file, which contains both the key and its secret. */
async function askKey({ firewallKeyFile }: InitOptions, asker: Asker, io: CommandIo): Promise<KeyPair> {
  const flag = "--firewall-key-file FILE";
  const given =
    firewallKeyFile === undefined
      ? undefined
      : pairIn(firewallKeyFile, readGiven("--firewall-key-file", firewallKeyFile, io));
  if (typeof given === "string") throw new WrongAnswer(given);
  const typedPair = (typed: string): KeyPair | string | undefined => {
    if (typed === given?.key || !isPath(typed, io)) return undefined;
    const read = readTyped(typed, io);
    return "wrong" in read ? read.wrong : pairIn(typed, read.text);
  };
  const fault = (typed: string) => {
    const found = typedPair(typed);
    return typeof found === "string" ? `${found} Type the key, or the path of the downloaded file.` : undefined;
  };
  const key = await asker.text({ flag, given: given?.key, message: "The API key of a user of the firewall?", fault });
  const pair = typedPair(key);
  if (typeof pair === "object") return pair;
  const secret = await asker.secret({ flag, given: given?.secret, message: "The secret of that key?" });
  return { key: key.trim(), secret };
}

function pairIn(file: string, text: string): KeyPair | string {
  const half = (line: "key" | "secret") => new RegExp(`^${line}=(\\S+)`, "m").exec(text)?.[1];
  const [key, secret] = [half("key"), half("secret")];
  if (key !== undefined && secret !== undefined) return { key, secret };
  return `${file} has no line ${key === undefined ? "key" : "secret"}=…; use the file as downloaded from the firewall.`;
}

const publicAddress = (report: InterfaceReport, device: string, family: Family): string | undefined => {
  const { choice } = chooseAddress(report, { device, family, public: "require" });
  return choice.kind === "address" ? choice.address.text : undefined;
};

/** Interfaces with a public address first, then those with another one. If no interface has an address, "none" comes first. */
export function deviceChoices(report: InterfaceReport, family: Family): readonly Choice[] {
  const ranked = [...report.keys()].map((device) => {
    const { choice } = chooseAddress(report, { device, family, public: "warn" });
    const text = choice.kind === "address" ? choice.address.text : undefined;
    const isPublic = text !== undefined && publicAddress(report, device, family) !== undefined;
    const hint = text === undefined ? "no usable address" : `${text}${isPublic ? "" : ", not public"}`;
    return { rank: text === undefined ? 3 : isPublic ? 0 : 1, choice: { value: device, label: device, hint } };
  });
  const none = { rank: 2, choice: { value: "none", label: "none", hint: `no ${recordTypeOf(family)} record` } };
  const hasAny = ranked.some(({ rank }) => rank < 2);
  const all = hasAny ? [...ranked, { ...none, rank: 4 }] : [none, ...ranked];
  return all.toSorted((a, b) => a.rank - b.rank).map(({ choice }) => choice);
}

/** Warns about an interface without a public address while another can still be picked. */
async function askDevice(
  family: Family,
  report: InterfaceReport,
  given: string | undefined,
  asker: Asker,
  io: CommandIo,
): Promise<string> {
  const flag = `--${family}`;
  const message = `Which interface has the address for the ${recordTypeOf(family)} record?`;
  for (;;) {
    const device = await asker.pick({ flag, given, message, choices: deviceChoices(report, family) });
    if (device === "none" || !asker.asksAgain || publicAddress(report, device, family) !== undefined) return device;
    const { considered } = chooseAddress(report, { device, family, public: "require" });
    const seen = considered.map(({ text, verdict }) => `${visible(text)} (${verdict})`).join(", ") || "none at all";
    io.err(
      `${visible(device)} has no address for the ${recordTypeOf(family)} record that can be reached from the internet: ${seen}.\n`,
    );
    const another = "Choose another interface?";
    if (!(await asker.yes({ flag, given: undefined, message: another, assumed: true }))) return device;
  }
}

import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { createToken } from "../../access/secret.ts";
import { families, recordTypeOf } from "../../core/addresses/address.ts";
import { chooseAddress } from "../../core/addresses/choose-address.ts";
import type { InterfaceReport } from "../../core/addresses/interface-report.ts";
import { asAscii } from "../../core/names/unicode.ts";
import { visible } from "../../core/visible-text.ts";
import { isUtf16, withoutMark } from "../../process/utf8-text.ts";
import { fetchCertificate } from "../../updater/http/fetch-certificate.ts";
import { firstFew } from "../../updater/round/first-few.ts";
import { openSource } from "../../updater/sources/sources.ts";
import type { RecordTarget } from "../../updater/targets/target.ts";
import { openTarget } from "../../updater/targets/targets.ts";
import type { CommandIo } from "../io/command-io.ts";
import { defaultConfig } from "../update/load-config.ts";
import { update } from "../update/update.ts";
import { type Asker, type Choice, createFlagAsker, createTerminalAsker, NoAnswer } from "./asker.ts";
import { adoptDraft, inTheWay, type Setup, type ShownTrust, setupFiles, shownPath, writeDraft } from "./files.ts";
import { offerUnit } from "./unit.ts";

export type InitOptions = {
  readonly config?: string | undefined;
  readonly firewall?: string | undefined;
  readonly firewallKeyFile?: string | undefined;
  readonly firewallFingerprint?: string | undefined;
  readonly records?: string | undefined;
  readonly api?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly recordsFingerprint?: string | undefined;
  readonly zone?: string | undefined;
  readonly name?: string | undefined;
  readonly ipv4?: string | undefined;
  readonly ipv6?: string | undefined;
  readonly yes?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly unit?: string | undefined;
  readonly control?: string | undefined;
};

const usualControl = "127.0.0.1:9053";

/** `moor init`: a config that works, asked for step by step or told by options. */
export async function init(options: InitOptions, io: CommandIo): Promise<number> {
  const assumeYes = options.yes ?? false;
  const asker = io.isTerminal ? await createTerminalAsker(io, assumeYes) : createFlagAsker(assumeYes);
  try {
    if (!io.isTerminal) refuseWithout(options);
    const firewall = await askFirewall(options, asker, io);
    const records = await askRecords(options, asker, io);
    const { control: listen = usualControl } = options;
    const control = listen === "none" ? {} : { control: { listen, token: createToken() } };
    return await finish({ ...firewall, ...records, ...control }, options, asker, io);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    io.err(`${error.message}\n`);
    return 2;
  }
}

/** What has no choices to pick from, since it says whom to ask for them; and then those. */
const neededFlags = {
  ...{ firewall: "--firewall URL", firewallKeyFile: "--firewall-key-file FILE", records: "--records URL" },
  ...{ api: "--api v1 or rrsets", tokenFile: "--token-file FILE" },
} as const;
const pickedFlags = { zone: "--zone", name: "--name", ipv4: "--ipv4", ipv6: "--ipv6" } as const;

/** One alone is asked for in its own words. */
function refuseWithout(options: InitOptions): void {
  const missing = (flags: Readonly<Partial<Record<keyof InitOptions, string>>>) =>
    Object.entries(flags).flatMap(([key, flag]) => (options[key as keyof InitOptions] === undefined ? [flag] : []));
  const needed = missing(neededFlags);
  const all = [...needed, ...missing(pickedFlags)];
  if (needed.length === 0 || all.length === 1) return;
  throw new NoAnswer(`There is no terminal to ask at. Say what is missing: ${all.join(", ")}`);
}

async function askFirewall(options: InitOptions, asker: Asker, io: CommandIo) {
  const url = await askUrl(asker, "--firewall", options.firewall, "Where is the firewall?", "https://192.168.1.1");
  const trust = await askTrust(url, "firewall", options.firewallFingerprint, asker, io);
  const { key, secret } = await askKey(options, asker, io);
  const source = await openSource({
    ...{ url, trust, name: "firewall", kind: "firewall" },
    key: () => key,
    secret: () => secret,
  });
  try {
    const reading = await source.read(io.signal);
    if (reading.kind === "unavailable") throw new NoAnswer(`${reading.because}; ${reading.todo}`);
    const devices: Partial<Record<"ipv4" | "ipv6", string>> = {};
    for (const family of families) {
      const device = await askDevice(family, reading.report, options[family], asker);
      if (device !== "none") devices[family] = device;
    }
    if (!devices.ipv4 && !devices.ipv6) throw new NoAnswer("There is nothing to keep without an interface.");
    return { firewall: { url: url.href, key, secret, trust }, ...devices };
  } finally {
    source.close();
  }
}

async function askRecords(options: InitOptions, asker: Asker, io: CommandIo) {
  const url = await askUrl(
    asker,
    "--records",
    options.records,
    "Where is the record service?",
    "https://dns.example.org",
  );
  const trust = await askTrust(url, "records", options.recordsFingerprint, asker, io);
  const apis: readonly Choice[] = [
    { value: "v1", label: "v1", hint: "/api/v1, Auth-API-Token" },
    { value: "rrsets", label: "rrsets", hint: "/v1, Authorization: Bearer" },
  ];
  const api = await asker.pick({
    flag: "--api",
    given: options.api,
    message: "Which API does it speak?",
    choices: apis,
  });
  const given = options.tokenFile === undefined ? undefined : readGiven("--token-file", options.tokenFile, io).trim();
  const token = await asker.secret({ flag: "--token-file FILE", given, message: "Its API token?" });
  const target = await openTarget({ url, trust, name: "records", api, token: () => token });
  try {
    const zone = await askZone(options, target, asker, io);
    const name = await askName(options, zone, target, asker, io);
    return { records: { url: url.href, api, token, trust }, zone, name };
  } finally {
    target.close();
  }
}

async function askUrl(
  asker: Asker,
  flag: string,
  given: string | undefined,
  message: string,
  example: string,
): Promise<URL> {
  const fault = (text: string) => {
    if (isWebAddress(text)) return undefined;
    const meant = `https://${text}`;
    return `${text} is no web address; write ${isWebAddress(meant) && !text.includes("/") ? meant : example}`;
  };
  const text = await asker.text({ flag, given, message, example, fault });
  const wrong = fault(text);
  if (wrong !== undefined) throw new NoAnswer(wrong);
  return new URL(text);
}

const isWebAddress = (text: string) => URL.canParse(text) && /^https?:/.test(text);

/**
 * The well-known authorities, where they vouch for the certificate or there is none to look at. Else the private authority that is
 * shown with it, since a certificate is made anew in time; or, without one, the certificate itself.
 */
async function askTrust(
  url: URL,
  which: "firewall" | "records",
  given: string | undefined,
  asker: Asker,
  io: CommandIo,
): Promise<ShownTrust> {
  if (url.protocol === "http:") return { kind: "system" };
  const shown = await fetchCertificate(url, io.signal).catch((error: unknown) => {
    throw new NoAnswer((error as Error).message);
  });
  if (shown.doubt === undefined) return { kind: "system" };
  const { authority, fingerprint } = shown;
  io.out(`${url.host} shows a certificate that no well-known authority vouches for (${shown.doubt}):\n`);
  io.out(`  made out to  ${shown.subject}\n  signed by    ${shown.issuer}\n  valid until  ${shown.validTo}\n`);
  io.out(`  SHA-256      ${fingerprint}\n`);
  if (authority) io.out(`  SHA-256 of who signed it, as moor ca shows it\n               ${authority.fingerprint}\n`);
  const flag = `--${which}-fingerprint`;
  const plain = (text: string) => text.replaceAll(/[^0-9a-f]/gi, "").toUpperCase();
  const isGiven = (shownOne: string) => given !== undefined && plain(given) === plain(shownOne);
  if (given !== undefined && !isGiven(fingerprint) && !isGiven(authority?.fingerprint ?? "")) {
    throw new NoAnswer(`${flag} says otherwise: somebody stands between, or it was renewed.`);
  }
  const message = "Compare it with the one that the service itself shows. Is it the same?";
  if (!(await asker.yes({ flag, given, message, assumed: false }))) throw new NoAnswer("Then nothing is sent there.");
  if (authority === undefined || isGiven(fingerprint)) return { kind: "fingerprint", sha256: fingerprint };
  return { kind: "ca", pem: authority.pem };
}

async function askKey({ firewallKeyFile }: InitOptions, asker: Asker, io: CommandIo) {
  const flag = "--firewall-key-file FILE";
  const text = firewallKeyFile === undefined ? undefined : readGiven("--firewall-key-file", firewallKeyFile, io);
  const half = (line: "key" | "secret") => {
    const found = new RegExp(`^${line}=(\\S+)`, "m").exec(text ?? "")?.[1];
    if (text === undefined || found !== undefined) return found;
    throw new NoAnswer(`${firewallKeyFile} has no line ${line}=…; take the file as the firewall offers it.`);
  };
  const key = await asker.text({ flag, given: half("key"), message: "The API key of a user there?" });
  const secret = await asker.secret({ flag, given: half("secret"), message: "And its secret?" });
  return { key, secret };
}

function askDevice(
  family: "ipv4" | "ipv6",
  report: InterfaceReport,
  given: string | undefined,
  asker: Asker,
): Promise<string> {
  const choices = [...report.keys()].map((device) => {
    const { choice } = chooseAddress(report, { device, family, public: "warn" });
    return { value: device, label: device, hint: choice.kind === "address" ? choice.address.text : "no fit address" };
  });
  const type = recordTypeOf(family);
  const message = `Which interface gives the ${type} record its address?`;
  return asker.pick({
    flag: `--${family}`,
    given,
    message,
    choices: [...choices, { value: "none", label: "none", hint: `no ${type} record` }],
  });
}

async function askZone({ zone }: InitOptions, target: RecordTarget, asker: Asker, io: CommandIo): Promise<string> {
  const zones = await target.zones(io.signal);
  if (zones.kind !== "found") throw new NoAnswer(`${zones.because}; ${zones.todo}`);
  if (zones.value.length === 0) throw new NoAnswer("There are no zones yet; make one in the console.");
  const choices = zones.value.map(({ name }) => ({ value: name, label: name }));
  return asker.pick({ flag: "--zone", given: zone && asAscii(zone), message: "In which zone is the name?", choices });
}

async function askName(
  { name }: InitOptions,
  zone: string,
  target: RecordTarget,
  asker: Asker,
  io: CommandIo,
): Promise<string> {
  const records = await target.records(zone, io.signal);
  if (records.kind !== "found") throw new NoAnswer(`${records.because}; ${records.todo}`);
  const fit = records.value.filter(({ type }) => type === "A" || type === "AAAA");
  const byName = Map.groupBy(fit, (record) => record.name);
  const choices = [...byName].map(([value, found]) => ({
    value,
    label: value,
    hint: found.map(({ type, value: held }) => `${type} ${held}`).join(", "),
  }));
  if (choices.length === 0)
    throw new NoAnswer(`${zone} has no A or AAAA record yet; make one in the console, with any address.`);
  const given = name && asAscii(name);
  if (given && !byName.has(given))
    throw new NoAnswer(
      `${zone} has no A or AAAA record ${given}; make one in the console, with any address. There are: ${firstFew([...byName.keys()].map(visible))}`,
    );
  return asker.pick({ flag: "--name", given, message: "Which name is to be kept?", choices });
}

async function finish(setup: Setup, options: InitOptions, asker: Asker, io: CommandIo): Promise<number> {
  const config = resolve(io.cwd, options.config ?? defaultConfig);
  const folder = dirname(config);
  const files = setupFiles(setup, basename(config));
  const blocked = options.force ? [] : inTheWay(folder, files);
  if (blocked.length > 0) {
    throw new NoAnswer(
      `${blocked.map((file) => shownPath(io.cwd, file)).join(", ")} would be overwritten; --force does so.`,
    );
  }
  const draft = await writeDraft(folder, files);
  try {
    io.out("\nOne round, without writing anything:\n");
    const tried = { config: resolve(draft, basename(config)), dryRun: true, needsAddress: true };
    const code = await update(tried, withoutPart(`/${basename(draft)}`, io));
    if (code !== 0 && !options.force && (options.yes || !io.isTerminal)) {
      io.err(`That did not go well, so nothing was written; ${toGoOn}\n`);
      return code;
    }
    await askToWrite(code === 0, options, asker);
    await adoptDraft(draft, folder, files);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  const written = files.map(({ path }) => resolve(folder, path));
  const unit = await offerUnit(config, options.unit, asker, io);
  tellNext(config, unit === undefined ? written : [...written, unit], setup.control?.listen, io);
  return 0;
}

/** What is tried is named as what it becomes. */
const withoutPart = (part: string, io: CommandIo): CommandIo => ({
  ...io,
  out: (text) => io.out(text.replaceAll(part, "")),
  err: (text) => io.err(text.replaceAll(part, "")),
});

const toGoOn =
  "mend what it says, choose another interface or none with --ipv4 and --ipv6, or write the config all the same with --force";

async function askToWrite(wentWell: boolean, { force }: InitOptions, asker: Asker): Promise<void> {
  const message = wentWell ? "Write this config?" : "That did not go well. Write the config all the same?";
  const given = force ? "force" : undefined;
  if (await asker.yes({ flag: "--yes", given, message, assumed: wentWell })) return;
  throw new NoAnswer("Nothing was written.");
}

function tellNext(config: string, written: readonly string[], control: string | undefined, io: CommandIo): void {
  const page = control === undefined ? "" : `# while it runs, in a browser on this machine\nhttp://${control}/\n\n`;
  const here = (path: string) => shownPath(io.cwd, path);
  io.out(`\nWritten: ${written.map(here).join(", ")}\n\nWorth typing next:\n
# keep the names, in this terminal
${io.program} update --config ${here(config)}

# what is wanted, stored and published, and why
${io.program} status --config ${here(config)}

${page}# as a service: the first lines of the unit say how (--unit FILE writes one; packaging/systemd has one for all users)
`);
}

function readGiven(flag: string, file: string, { cwd }: CommandIo): string {
  let text: string;
  try {
    text = readFileSync(resolve(cwd, file), "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new NoAnswer(`${flag} ${file} cannot be read (${code ?? message}).`);
  }
  if (isUtf16(text)) throw new NoAnswer(`${flag} ${file} is not UTF-8; save it again as UTF-8.`);
  return withoutMark(text);
}

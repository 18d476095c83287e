import { hostname } from "node:os";
import { relative, resolve } from "node:path";
import type { OidcSettings } from "../../access/oidc/settings.ts";
import { createToken } from "../../access/secret.ts";
import type { Example } from "../../contract/overview.ts";
import { ok } from "../../core/result.ts";
import { shellWord } from "../../core/shell-word.ts";
import { startFirewall } from "../../firewall/start.ts";
import { hereOf, type ListenAddress } from "../../lib/http/listen.ts";
import { caFileIn } from "../../lib/tls/certificates.ts";
import { closeInReverse, type Opened } from "../../process/lifecycle.ts";
import { createLog, type Logger, noLog } from "../../process/log.ts";
import { placeholderNameservers } from "../../records/options.ts";
import { startRecords } from "../../records/start.ts";
import { startDns } from "../../serving/start.ts";
import type { UpdaterConfig } from "../../updater/config/config.ts";
import type { ControlConfig } from "../../updater/config/outlets.ts";
import { keepNames } from "../../updater/keep-names.ts";
import { createPageKeeper, type PageKeeper } from "../../updater/page/keep-page.ts";
import { createPageListener } from "../../updater/page/listener.ts";
import { openPasskeyFile } from "../../updater/page/passkey-file.ts";
import { openPageSignIn } from "../../updater/page/sign-in.ts";
import { describeInterval } from "../../updater/report/describe-interval.ts";
import { summarise } from "../../updater/report/describe-round.ts";
import { openHistory } from "../../updater/report/history.ts";
import { Reporter } from "../../updater/report/reporter.ts";
import { createStatusKeeper } from "../../updater/report/status.ts";
import type { Round } from "../../updater/round/result.ts";
import type { StateFile } from "../../updater/round/state-file.ts";
import { openUpdater, type Updater } from "../../updater/updater.ts";
import type { CommandIo } from "../io/command-io.ts";
import { type OidcFlags, readOidc } from "../io/oidc-option.ts";
import { noteServiceUrl } from "../io/service-url.ts";
import { browserWarning, linkToShow } from "../io/sign-in.ts";
import { dataFlag } from "../io/try-lines.ts";
import { watchRecords } from "../records/watch.ts";
import { loadConfig, lockState, openState, readTyped } from "../update/load-config.ts";
import { examplesOf } from "./examples.ts";
import { addressOn, openToOthers, seenFrom } from "./other-machines.ts";
import { prepareTrial, type Trial, writeTrialConfig } from "./prepare.ts";
import { bringTogether, type Together } from "./together.ts";

export type UpCommand = OidcFlags & {
  readonly data: string;
  readonly interface?: string;
  /** True: listen on all addresses, with links to the address of the interface. */
  readonly host?: string | true;
  readonly records: ListenAddress;
  readonly firewall: ListenAddress;
  readonly dns: ListenAddress;
  /** Where the updater's page is. */
  readonly updater: ListenAddress;
  readonly metrics?: ListenAddress;
  /** Also print what was created, and commands to try. */
  readonly examples?: boolean;
};

/** Runs everything on one machine, to try it. */
export async function up(options: UpCommand, io: CommandIo): Promise<number> {
  const log = createLog({ format: "text", write: io.err });
  const opened: Opened[] = [];
  try {
    const oidc = await readOidc(options, io);
    if (oidc === "refused") return 2;
    const folder = resolve(io.cwd, options.data);
    const trial = await prepareTrial(folder, options.interface, io);
    if (trial === undefined) return 2;
    const host = options.host === true ? addressOn(trial.device) : options.host;
    const together = bringTogether(host === undefined ? [] : [host]);
    const urls = await startServices(options, folder, host, { ...together, ...oidc, log, opened });
    await writeTrialConfig(trial, urls);
    together.suggest(examplesOf(trial, urls, io.program, (path) => path));
    const control = controlAt(host === undefined ? options.updater : openToOthers(options.updater, host));
    const watched = await startUpdater(trial, control, opened, io);
    if (watched === undefined) return 1;
    const page = await openUpPage(watched, { ...together, log, opened });
    if (page.url !== undefined) together.links.push({ service: "updater", url: page.url, together: true });
    const pageUrl = page.url && seenFrom(page.url, host);
    if (options.examples) printState(trial, urls, pageUrl, io);
    else printPlaces(urls, pageUrl, io);
    const ready = await firstRound(watched.updater, page, io);
    watched.updater.close();
    const here = (path: string) => relative(io.cwd, path) || ".";
    if (options.examples) printExamples(examplesOf(trial, urls, io.program, here), io);
    printEnd(trial, options.examples ?? false, io);
    await printLink(trial, urls, io);
    if (ready) await keepUpdating(watched, trial, { control, keeper: page.keeper, log }, io);
    return 0;
  } finally {
    if (opened.length > 0) io.out("\nStopping.\n");
    await closeInReverse(opened, log);
  }
}

export type Urls = {
  /** For this machine. */
  readonly records: string;
  readonly firewall: string;
  /** For browsers, which may be on other machines. */
  readonly pages: { readonly records: string; readonly firewall: string };
  readonly dns: ListenAddress;
  readonly caFile: string;
  /** Creates a sign-in link. */
  readonly signIn: () => Promise<string>;
};

async function startServices(
  options: UpCommand,
  dataFolder: string,
  host: string | undefined,
  {
    log,
    opened,
    links,
    pagesOf,
    updater,
    oidc,
  }: Together & {
    readonly oidc?: OidcSettings;
    readonly log: Logger;
    readonly opened: Opened[];
  },
): Promise<Urls> {
  const listenAt = (at: ListenAddress) => (host === undefined ? at : openToOthers(at, host));
  const shared = { dataFolder, log };
  const records = await startRecords({
    ...shared,
    listen: listenAt(options.records),
    listenOption: "--records",
    nameservers: placeholderNameservers,
    counted: options.metrics !== undefined,
    // Only here: the updater's page has one user, and whoever could sign in there would be the owner of everything.
    oidc,
    ...pagesOf("records"),
    updater,
  });
  opened.push({ name: "record service", close: records.close });
  const listen = [listenAt(options.dns)];
  const dns = await startDns({ listen, store: records.store, nameservers: placeholderNameservers, log });
  opened.push({ name: "nameserver", close: dns.close });
  await dns.loaded;
  await watchRecords(records, dns, { at: options.metrics, opened });
  const firewall = await startFirewall({
    ...shared,
    listen: listenAt(options.firewall),
    listenOption: "--firewall",
    ...pagesOf("firewall"),
  });
  opened.push({ name: "firewall status service", close: firewall.close });
  links.push({ service: "records", url: records.url, together: true });
  links.push({ service: "firewall", url: firewall.url, together: true });
  const pages = { records: seenFrom(records.url, host), firewall: seenFrom(firewall.url, host) };
  for (const service of ["records", "firewall"] as const) await noteServiceUrl(dataFolder, service, pages[service]);
  const [at = options.dns] = dns.addresses;
  const signIn = () => records.createSignInLink("main", pages.records);
  const caFile = caFileIn(dataFolder);
  return { records: records.url, firewall: firewall.url, pages, dns: hereOf(at), caFile, signIn };
}

/**
 * Not in the config file, because the options decide. The password only turns HTTPS on: users sign in as on the other
 * pages of `moor up`.
 */
function controlAt(at: ListenAddress): ControlConfig {
  const [token, password] = [createToken(), createToken()];
  return { ...at, token: () => token, password: () => password };
}

async function startUpdater(
  trial: Trial,
  control: ControlConfig,
  opened: Opened[],
  io: CommandIo,
): Promise<Watched | undefined> {
  const read = loadConfig(trial.configFile, io);
  if (read === undefined) return undefined;
  const lock = lockState(read);
  opened.push({ name: "state file", close: lock.close });
  const state = await openState(read, true, io);
  if (state === undefined) return undefined;
  const config = { ...read, control };
  return { config, state, updater: await openUpdater(config, { state, now: Date.now, random: Math.random }) };
}

/** False if it was stopped before the round ended. */
async function firstRound(updater: Updater, { onFirstRound }: UpPage, io: CommandIo): Promise<boolean> {
  const round = await updater.round(io.signal);
  await onFirstRound(round);
  for (const result of round.results) {
    const { what, because, todo } = summarise(result, true);
    io.out(`${result.record.displayName}: ${what}: ${because}${todo ? `; ${todo}` : ""}\n`);
  }
  return !io.signal.aborted;
}

type Keeping = { readonly control: ControlConfig; readonly keeper: PageKeeper; readonly log: Logger };

/** As `moor update` does: a changed config is used without a restart. */
async function keepUpdating(
  { config, state }: Watched,
  trial: Trial,
  { control, keeper, log }: Keeping,
  io: CommandIo,
) {
  const reload = (instead?: string) => {
    const read = readTyped(trial.configFile, io, instead);
    return read.ok ? ok({ ...read.value, control }) : read;
  };
  const tools = { state, log, now: Date.now, random: Math.random, host: hostname(), env: {}, reload, page: keeper };
  await keepNames(config, tools, io.signal);
}

function printPlaces({ pages, dns }: Urls, updater: string | undefined, io: CommandIo): void {
  const places = [`DNS ${pages.records}`, `firewall ${pages.firewall}`, ...(updater ? [`updater ${updater}`] : [])];
  io.out(`moor is up: ${places.join(", ")}, nameserver ${dns.host} port ${dns.port}\n`);
}

function printEnd(trial: Trial, hasExamples: boolean, io: CommandIo): void {
  const data = shellWord(relative(io.cwd, trial.folder) || ".");
  const examples = hasExamples ? "" : `; the first page has commands to try, and --examples prints them`;
  io.out(`Ctrl-C stops it. The same command starts it again, with the same data in ${data}${examples}.\n`);
}

function printState(trial: Trial, urls: Urls, updater: string | undefined, io: CommandIo): void {
  io.out("moor is up, everything on this machine:\n");
  const { records, firewall } = urls.pages;
  io.out(`  record service   ${records}  (its API is described at ${records}/docs)\n`);
  io.out(`  nameserver       ${urls.dns.host} port ${urls.dns.port}, UDP and TCP\n`);
  io.out(`  firewall status  ${firewall}\n`);
  io.out(
    `  updater          follows ${trial.device}: ${describeInterval({ interval: trial.interval, sources: new Map() })}\n`,
  );
  if (updater) io.out(`                   ${updater}  (its page)\n`);
  io.out(`  data             ${trial.folder}\n`);
  for (const made of trial.made) io.out(`  created          ${made}\n`);
  io.out("\n");
}

async function printLink(trial: Trial, urls: Urls, io: CommandIo): Promise<void> {
  const data = dataFlag({ data: trial.folder });
  const link = await linkToShow(urls.signIn, io);
  if (link === undefined) {
    io.out(`\nTo get a sign-in link for all pages:\n  ${io.program} sign-in ${data} --url ${urls.pages.records}\n`);
  } else {
    io.out(`\n${browserWarning(relative(io.cwd, urls.caFile))}`);
    io.out(`Sign in to all pages with this link; it works once, within 15 minutes:\n  ${link}\n`);
  }
}

function printExamples(examples: readonly Example[], io: CommandIo): void {
  const lines = examples.map(({ about, command }) => `# ${about}\n${command}\n`);
  io.out(`\nWhat you can do next, in another terminal:\n\n${lines.join("\n")}\n`);
}

/** The updater's page in `moor up`. */
type UpPage = {
  readonly keeper: PageKeeper;
  /** Undefined if the page cannot be served; the names are updated anyway. */
  readonly url: string | undefined;
  /** For a round that was printed already: it goes only to the history. */
  readonly onFirstRound: (round: Round) => Promise<void>;
};

type Watched = { readonly config: UpdaterConfig; readonly updater: Updater; readonly state: StateFile };

/** Opened before the first round, so that the URL can be printed. */
async function openUpPage(
  { config, updater, state }: Watched,
  { log, opened, pagesOf, following }: Together & { readonly log: Logger; readonly opened: Opened[] },
): Promise<UpPage> {
  const status = createStatusKeeper(Date.now);
  const updaterState = { status: () => status.now(), check: updater.retryNow, silence: () => status.silence() };
  // Where the page is has its place in what `moor up` prints.
  const quiet = { ...log, info: () => undefined };
  const file = openPasskeyFile(config, log);
  if (file) opened.push({ name: "passkeys of the updater's page", close: file.close });
  const signIn = openPageSignIn({ log, now: Date.now, passkeys: file?.passkeys, ...pagesOf("updater") });
  const keeper = following(
    createPageKeeper({ log, now: Date.now, listener: createPageListener(quiet, "--updater"), signIn }),
  );
  const { published, putBack, devices } = updater;
  const url = await keeper.serve(config, { published, putBack, devices, ...updaterState });
  opened.push({ name: "updater's page", close: keeper.close });
  return {
    keeper,
    url,
    onFirstRound: async (round) => {
      status.note(round, state, Date.now());
      const history = openHistory(config.historyFile, () => undefined);
      new Reporter(noLog, (notice) => history.add(notice, new Date())).report(round);
      await history.settled();
    },
  };
}

import { mkdir, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { createToken } from "../../access/secret.ts";
import { families } from "../../core/addresses/address.ts";
import type { CommandIo } from "../io/command-io.ts";
import { defaultConfig } from "../update/load-config.ts";
import { update } from "../update/update.ts";
import { type Asker, createFlagAsker, createTerminalAsker, NoAnswer } from "./asker.ts";
import {
  adoptDraft,
  inTheWay,
  pagePassword,
  type Setup,
  serviceConfig,
  setupFiles,
  shownPath,
  writeDraft,
} from "./files.ts";
import { importFrom } from "./from/from.ts";
import type { InitOptions } from "./options.ts";
import { askRecords, missingTargetFlags } from "./records.ts";
import { askSource, missingSourceFlags } from "./source.ts";

const usualControl = "127.0.0.1:9053";

/** `moor init`: writes a config that works, from answers or from options. */
export async function init(options: InitOptions, io: CommandIo): Promise<number> {
  const assumeYes = options.yes ?? false;
  const asker = io.isTerminal ? await createTerminalAsker(io, assumeYes) : createFlagAsker(assumeYes);
  try {
    if (options.from !== undefined) {
      refuseBesideFrom(options);
      const setup = await importFrom(options.from, io);
      return await finish({ ...setup, ...controlOf(options) }, options, asker, io);
    }
    if (!io.isTerminal) refuseWithout(options);
    const { source, devices, addresses } = await askSource(options, asker, io);
    const wanted = { families: families.filter((family) => devices[family] !== undefined), addresses };
    const { target, zone, name } = await askRecords(options, wanted, asker, io);
    const names = [{ name, zone, ...devices }];
    const answers = { sources: [source], targets: [target], names, interval: "30s", onlyPublic: true };
    return await finish({ ...answers, ...controlOf(options) }, options, asker, io);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    io.err(`${error.message}\n`);
    return 2;
  }
}

function controlOf({ control: listen = usualControl }: InitOptions): Pick<Setup, "control"> {
  if (listen === "none") return {};
  const isOpen = !/^(?:127\.|localhost:|\[::1\])/.test(listen);
  return { control: { listen, token: createToken(), ...(isOpen && { password: createToken() }) } };
}

const pageWords = ({ listen, password }: NonNullable<Setup["control"]>): string =>
  password === undefined
    ? `on this machine\nhttp://${listen}/`
    : `with the password in ${pagePassword}\nhttps://${listen.replace("0.0.0.0", hostname()).replace("[::]", hostname())}/`;

/** Picked from what the services list. */
const pickedFlags = { zone: "--zone", name: "--name", ipv4: "--ipv4", ipv6: "--ipv6" } as const;

/** If only one is missing, its own question says what to give. */
function refuseWithout(options: InitOptions): void {
  const needed = [...missingSourceFlags(options), ...missingTargetFlags(options)];
  const picked = Object.entries(pickedFlags).flatMap(([key, flag]) =>
    options[key as keyof InitOptions] === undefined ? [flag] : [],
  );
  const all = [...needed, ...picked];
  if (needed.length === 0 || all.length === 1) return;
  throw new NoAnswer(
    `There is no terminal, so the questions cannot be asked. Add the missing options: ${all.join(", ")}`,
  );
}

const besideFrom = [
  ...["kind", "sourceSet", "firewall", "firewallKeyFile", "firewallFingerprint", "records", "api", "targetSet"],
  ...["tokenFile", "recordsFingerprint", "zone", "name", "create", "ipv4", "ipv6"],
] as readonly (keyof InitOptions)[];

function refuseBesideFrom(options: InitOptions): void {
  const flagsBeside = besideFrom.filter((key) => options[key] !== undefined && String(options[key]) !== "");
  if (flagsBeside.length === 0) return;
  const flags = flagsBeside.map((key) => `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
  throw new NoAnswer(`With --from, everything comes from that file. Leave out ${flags.join(", ")}.`);
}

async function finish(setup: Setup, options: InitOptions, asker: Asker, io: CommandIo): Promise<number> {
  const config = resolve(io.cwd, options.config ?? defaultConfig);
  const folder = dirname(config);
  const files = setupFiles(setup, config);
  const blocked = options.force ? [] : inTheWay(folder, files);
  if (blocked.length > 0) {
    throw new NoAnswer(
      `${blocked.map((file) => shownPath(io.cwd, file)).join(", ")} would be overwritten; to do so, add --force.`,
    );
  }
  const draft = await writeDraft(folder, files);
  try {
    // The old client may still be running, and the import must work without a network: the config is only checked.
    const isImport = options.from !== undefined;
    io.out(isImport ? "\nThe new config:\n" : "\nOne round, without writing anything:\n");
    const trial = isImport ? { check: true } : { dryRun: true, needsAddress: true };
    const tried = { config: resolve(draft.folder, basename(config)), ...trial };
    const code = await update(tried, withoutPart(`/${basename(draft.folder)}`, io));
    if (code !== 0 && !options.force && (options.yes || !io.isTerminal)) {
      io.err(`${isImport ? wrongImport : failedRound}\n`);
      return code;
    }
    await askToWrite(code === 0, options, asker);
    await adoptDraft(draft.folder, folder, files);
  } finally {
    await draft.discard();
  }
  const written = files.map(({ path }) => resolve(folder, path));
  const unit = await offerUnit(config, options.unit, asker, io);
  printNext(config, unit === undefined ? written : [...written, unit], { ...options, control: setup.control }, io);
  return 0;
}

/** Prints the final path of the config instead of the draft's. */
const withoutPart = (part: string, io: CommandIo): CommandIo => ({
  ...io,
  out: (text) => io.out(text.replaceAll(part, "")),
  err: (text) => io.err(text.replaceAll(part, "")),
});

const failedRound =
  "The round failed, so nothing was written; correct what it reports, choose another interface or none with --ipv4 and --ipv6, " +
  "or write the config anyway with --force";
const wrongImport =
  "The new config has mistakes, so nothing was written; correct them in the old config or in --control, or write the new one anyway with --force";

async function askToWrite(succeeded: boolean, { force, from }: InitOptions, asker: Asker): Promise<void> {
  const anyway =
    from === undefined ? "The round failed. Write the config anyway?" : "The new config has mistakes. Write it anyway?";
  const message = succeeded ? "Write this config?" : anyway;
  const forceAnswer = force ? "force" : undefined;
  if (await asker.yes({ flag: "--yes", cliValue: forceAnswer, message, assumed: succeeded })) return;
  throw new NoAnswer("Nothing was written.");
}

const unitHint =
  "# to run it as a service, see the first lines of the unit (--unit FILE writes one; packaging/systemd has a system-wide one)\n";
/** Not in a terminal: only the unit creates the folder of the state file, and its user must own the files there. */
const serviceStart = `# run it as a service, now and after every start of the machine
systemctl enable --now moor-update`;

function printNext(
  config: string,
  written: readonly string[],
  { control, from }: { readonly control: Setup["control"] | undefined; readonly from?: string | undefined },
  io: CommandIo,
): void {
  const page = control === undefined ? "" : `# its page while it runs, in a browser ${pageWords(control)}\n\n`;
  const isService = config === serviceConfig;
  const here = (path: string) => shownPath(io.cwd, path);
  const first =
    from === undefined
      ? ""
      : `# show what it would do, without writing anything; then stop the old client: two would overwrite each other
${io.program} update --dry-run --config ${here(config)}

`;
  const run = isService
    ? serviceStart
    : `# run the updater in this terminal\n${io.program} update --config ${here(config)}`;
  io.out(`\nWritten: ${written.map(here).join(", ")}\n\nWhat you can do next:\n
${first}${run}

# show the wanted, the stored and the published address, and explain them
${io.program} status --config ${here(config)}

${page}${isService ? "" : unitHint}`);
}

/** Offers a systemd unit for the current user; the one for the whole machine is in packaging/systemd. */
async function offerUnit(
  config: string,
  cliPath: string | undefined,
  asker: Asker,
  io: CommandIo,
): Promise<string | undefined> {
  const configFolder = io.env.XDG_CONFIG_HOME ?? (io.env.HOME && join(io.env.HOME, ".config"));
  const usual = configFolder ? join(configFolder, "systemd", "user", "moor-update.service") : undefined;
  if (cliPath === undefined) {
    if (!io.isTerminal || usual === undefined) return undefined;
    const message = `Write a systemd unit for your user (${usual})?`;
    if (!(await asker.yes({ flag: "--unit FILE", cliValue: cliPath, message, assumed: false }))) return undefined;
  }
  const file = cliPath === undefined ? usual : resolve(io.cwd, cliPath);
  if (file === undefined) return undefined;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, printUnit(config, io));
  return file;
}

function printUnit(config: string, { script, program }: CommandIo): string {
  // systemd does not accept quotes or backslashes in the path of the executable, so the executable is `env`.
  const command = `/usr/bin/env ${script === undefined ? program : unitWord(script)}`;
  return `# systemctl --user daemon-reload && systemctl --user enable --now moor-update
# loginctl enable-linger     keeps it running while you are not logged in
[Unit]
Description=moor: keeps DNS names pointing at their addresses
After=network-online.target

[Service]
Type=notify
NotifyAccess=all
WatchdogSec=10min
ExecStart=${command} update --config ${unitWord(config)}
SyslogIdentifier=moor-update
ExecReload=/bin/sh -c 'kill -HUP $MAINPID'
Restart=on-failure
RestartSec=5s
RestartPreventExitStatus=2
UMask=0077
NoNewPrivileges=true
ProtectSystem=strict
ReadWritePaths=${unitPath(dirname(config))} -%C/moor
PrivateTmp=true

[Install]
WantedBy=default.target
`;
}

/** Only commands in a unit expand variables. */
const unitWord = (text: string): string => unitPath(text).replaceAll("$", "$$$$");

/** systemd.syntax(7), "Quoting", and systemd.unit(5), "Specifiers". */
const unitPath = (text: string): string => `"${text.replaceAll(/["\\]/g, "\\$&").replaceAll("%", "%%")}"`;

import { rm } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { createToken } from "../../access/secret.ts";
import { families } from "../../core/addresses/address.ts";
import type { CommandIo } from "../io/command-io.ts";
import { defaultConfig } from "../update/load-config.ts";
import { update } from "../update/update.ts";
import { type Asker, createFlagAsker, createTerminalAsker, NoAnswer } from "./asker.ts";
import { adoptDraft, inTheWay, type Setup, setupFiles, shownPath, writeDraft } from "./files.ts";
import { askFirewall } from "./firewall.ts";
import type { InitOptions } from "./options.ts";
import { askRecords } from "./records.ts";
import { offerUnit } from "./unit.ts";

const usualControl = "127.0.0.1:9053";

/** `moor init`: a config that works, asked for step by step or told by options. */
export async function init(options: InitOptions, io: CommandIo): Promise<number> {
  const assumeYes = options.yes ?? false;
  const asker = io.isTerminal ? await createTerminalAsker(io, assumeYes) : createFlagAsker(assumeYes);
  try {
    if (!io.isTerminal) refuseWithout(options);
    const { setup: firewall, addresses } = await askFirewall(options, asker, io);
    const wanted = { families: families.filter((family) => firewall[family] !== undefined), addresses };
    const records = await askRecords(options, wanted, asker, io);
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
  printNext(config, unit === undefined ? written : [...written, unit], setup.control?.listen, io);
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

function printNext(config: string, written: readonly string[], control: string | undefined, io: CommandIo): void {
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

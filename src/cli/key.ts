import { resolve } from "node:path";
import { type ApiKey, type KeyStore, openKeys } from "../firewall/keys.ts";
import type { Privilege } from "../firewall/privileges.ts";
import { keysFile } from "../firewall/start.ts";
import { openDataFolder, readFileIfThere, replaceFile } from "../process/data-folder.ts";
import type { CommandIo } from "./command-io.ts";
import { printTable } from "./print-table.ts";

type InData = { readonly data: string };

export type KeyAdd = InData & { readonly name: string; readonly privilege: Privilege; readonly to?: string };

/** Shows or writes the key as OPNsense's download has it. */
export async function keyAdd(options: KeyAdd, io: CommandIo): Promise<number> {
  const file = options.to === undefined ? undefined : resolve(io.cwd, options.to);
  if (file !== undefined && (await readFileIfThere(file)) !== undefined) {
    io.err(`${options.to} is there already, and may hold a key in use; choose another file, or remove that one.\n`);
    return 2;
  }
  return withKeys(options, io, async (keys) => {
    const made = keys.add({ name: options.name, privileges: [options.privilege], now: new Date() });
    const text = `key=${made.key}\nsecret=${made.secret}\n`;
    if (file !== undefined) await writeOrRevoke(keys, made, () => replaceFile(file, text));
    io.err(`Key ${shortened(made.key)} (${made.name}): ${inWords[options.privilege]}.\n`);
    if (file === undefined) {
      io.err("This is the only time that its secret is shown:\n");
      io.out(text);
    } else io.err(`Written to ${options.to}\n`);
    return 0;
  });
}

export async function keyList(options: InData & { readonly json?: boolean }, io: CommandIo): Promise<number> {
  const all = await withKeys(options, io, async (keys) => keys.list());
  if (options.json) io.out(`${JSON.stringify(all.map(forPrograms), null, 2)}\n`);
  else if (all.length === 0) io.out(`There are no keys yet; make one with: ${io.program} key add\n`);
  else io.out(printTable(["key", "name", "may", "made", "state"], all.map(row)));
  return 0;
}

/** `key` is a key or the beginning of one, as the list shows it. */
export async function keyRevoke(key: string, options: InData, io: CommandIo): Promise<number> {
  const outcome = await withKeys(options, io, async (keys) => keys.revoke(key.replace(/…$/, ""), new Date()));
  switch (outcome.kind) {
    case "revoked":
      io.out(`Key ${shortened(outcome.key.key)} (${outcome.key.name}) is revoked.\n`);
      return 0;
    case "already-revoked":
      io.err(`Key ${shortened(outcome.key.key)} was revoked before, on ${minute(outcome.key.revoked)}.\n`);
      return 0;
    case "several":
      io.err(
        `${outcome.count} keys begin with ${key}; type more of the one you mean. ${io.program} key list shows them.\n`,
      );
      return 1;
    case "unknown":
      io.err(`There is no key ${key}; ${io.program} key list shows those there are.\n`);
      return 1;
    default:
      return outcome satisfies never;
  }
}

/** A key whose secret nobody ever saw is of no use to anyone. */
async function writeOrRevoke(keys: KeyStore, made: ApiKey, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    keys.revoke(made.key, new Date());
    throw error;
  }
}

async function withKeys<T>({ data }: InData, io: CommandIo, work: (keys: KeyStore) => Promise<T>): Promise<T> {
  const folder = resolve(io.cwd, data);
  await openDataFolder(folder);
  const keys = openKeys(keysFile(folder));
  try {
    return await work(keys);
  } finally {
    keys.close();
  }
}

const inWords: Readonly<Record<Privilege, string>> = {
  all: "may do everything",
  "interface-status": "may read the interfaces",
};

const shortened = (key: string): string => `${key.slice(0, 12)}…`;
const minute = (at: Date | undefined): string => at?.toISOString().slice(0, 16).replace("T", " ") ?? "";

const row = ({ key, name, privileges, created, revoked }: ApiKey): readonly string[] => [
  shortened(key),
  name,
  privileges.length === 0 ? "nothing" : privileges.join(", "),
  minute(created),
  revoked === undefined ? "good" : "revoked",
];

const forPrograms = ({ key, name, privileges, created, revoked }: ApiKey) => ({
  key,
  name,
  privileges,
  created: created.toISOString(),
  revoked: revoked?.toISOString() ?? null,
});

import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { createToken, hashSecret } from "../../access/secret.ts";
import type { Network } from "../../core/addresses/network.ts";
import type { Fault } from "../../core/result.ts";
import { readFileIfThere, replaceFile } from "../../process/data-folder.ts";
import type { Account } from "../../records/model.ts";
import type { RecordStore } from "../../records/store/port.ts";
import {
  importObstacles,
  importZone,
  inOrder,
  type ReadAccount,
  type ReadZone,
  readAccount,
} from "../../records/tools/account/import.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { printFaults } from "../io/print-faults.ts";
import { mustBeWritable } from "../io/write-secret.ts";
import { withNewStore } from "../store/with-store.ts";
import { counted, faultsInWords } from "../store/words.ts";

export type ImportCommand = DatabaseOptions & {
  readonly account: string;
  readonly replace?: boolean;
  readonly edited?: boolean;
  readonly allowPrimary: readonly Network[];
  /** Where to write the secrets of the new tokens. */
  readonly tokens?: string;
};

export async function importFrom(folder: string, options: ImportCommand, io: CommandIo): Promise<number> {
  const path = resolve(io.cwd, folder);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === false)
    return refuse(1, `${folder} is a file; give a folder that moor export wrote.`, io);
  const { edited = false, allowPrimary: allowedPrimaries } = options;
  const read = await readAccount((file) => readFileIfThere(join(path, file)), { edited, allowedPrimaries });
  if (!read.ok) {
    printFaults(read.faults, io);
    io.err(`Nothing was imported: ${folder} has ${faultsInWords(read.faults.length)}.\n`);
    return 1;
  }
  if (options.tokens !== undefined) await mustBeWritable(resolve(io.cwd, options.tokens));
  return await withNewStore(options, io, async (store) => {
    const there = await store.account(options.account);
    const obstacles = await importObstacles(store, there, read.value.zones, options.replace ?? false);
    if (obstacles.length > 0) {
      printFaults(obstacles, io);
      io.err("Nothing was imported.\n");
      return 1;
    }
    const account = await store.ensureAccount(options.account, Date.now());
    const taken = await importZones(store, account, read.value.zones, io);
    await importTokens(store, account, read.value, options, io);
    printMissingKeys(read.value.zones, io);
    await printUnsigned(store, account, read.value.zones, io);
    return taken ? 1 : 0;
  });
}

async function importZones(
  store: RecordStore,
  account: Account,
  zones: readonly ReadZone[],
  io: CommandIo,
): Promise<boolean> {
  const counts = { made: 0, replaced: 0, same: 0 };
  const faults: Fault[] = [];
  for (const zone of inOrder(zones)) {
    io.signal.throwIfAborted();
    const outcome = await importZone(store, account, zone, Date.now());
    if (typeof outcome === "string") counts[outcome] += 1;
    else faults.push(outcome);
  }
  printFaults(faults, io);
  const { made, replaced, same } = counts;
  io.out(
    `Imported into the account ${account.name}: ${counted(made, "zone")} created, ${replaced} replaced, ${same} unchanged.\n`,
  );
  return faults.length > 0;
}

/** Skips a token if the account already has one with the same name and scope. */
async function importTokens(
  store: RecordStore,
  account: Account,
  { tokens }: ReadAccount,
  { tokens: file }: ImportCommand,
  io: CommandIo,
): Promise<void> {
  if (tokens.length === 0) return;
  if (file === undefined) {
    io.out(
      `These tokens were not created: ${tokens.map(({ name }) => name).join(", ")}; to create them, run the import again with --replace --tokens FILE\n`,
    );
    return;
  }
  const there = (await store.tokens({ account: account.id })).filter((token) => token.revoked === undefined);
  const existingTokens = new Set(there.map(({ name, scope }) => JSON.stringify([name, scope])));
  const wanted = tokens.filter(({ name, scope }) => !existingTokens.has(JSON.stringify([name, scope])));
  const secrets = wanted.map(() => createToken(32));
  // Written to disk before they become valid, so that no valid secret is lost.
  await replaceFile(resolve(io.cwd, file), wanted.map(({ name }, i) => `${secrets[i]} ${name}\n`).join(""));
  for (const [i, { name, scope }] of wanted.entries()) {
    const hash = hashSecret(secrets[i] ?? "");
    await store.addToken({ account: account.id, name, hash, scope, created: Date.now() });
  }
  io.out(`Created ${counted(wanted.length, "token")}; the secrets are in ${file}\n`);
}

function printMissingKeys(zones: readonly ReadZone[], io: CommandIo): void {
  for (const { entry } of zones)
    for (const { address, tsig } of entry.primaries)
      if (tsig)
        io.err(`zone ${entry.name}: set the key of its primary server ${address} again; exports contain no secrets\n`);
}

async function printUnsigned(store: RecordStore, account: Account, zones: readonly ReadZone[], io: CommandIo) {
  for (const { entry } of zones) {
    if (!entry.signed || (await store.zoneBy(account.id, entry))?.settings.dnssec !== undefined) continue;
    io.err(
      `zone ${entry.name}: it was signed where it was exported, but is not signed here, because exports contain no secrets. ` +
        `If its parent has a DS record, resolvers reject the zone until it has its key: run ${io.program} dnssec export there, then ${io.program} dnssec on --key here\n`,
    );
  }
}

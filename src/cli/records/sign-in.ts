import { resolve } from "node:path";
import { keysFile } from "../../firewall/access/store.ts";
import * as firewallConsole from "../../firewall/http/console-link.ts";
import { findDatabase } from "../../process/data-folder.ts";
import { createLog } from "../../process/log.ts";
import * as recordsConsole from "../../records/make-sign-in-link.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { findStore } from "../store/with-store.ts";

export type SignInCommand = DatabaseOptions & {
  readonly firewall?: boolean;
  readonly account?: string;
  readonly url?: string;
};

/** `moor sign-in`: the way into the pages for whoever has no password, or has lost it. */
export async function signIn(options: SignInCommand, io: CommandIo): Promise<number> {
  const { data, firewall, account, url } = options;
  const where = url ?? `https://127.0.0.1:${firewall ? 8443 : 8053}`;
  if (!URL.canParse(where)) return refuse(2, `--url: ${where} is not an address such as https://127.0.0.1:8053`, io);
  const { origin } = new URL(where);
  const log = createLog({ format: "text", write: io.err });
  const { link, name, isNew } = firewall
    ? await firewallConsole.makeSignInLink(await findKeys(resolve(io.cwd, data)), account, origin)
    : await recordsConsole.makeSignInLink(await findStore(options, io), log, account ?? "main", origin);
  if (isNew) io.err(firewall ? newUser(name) : newAccount(name));
  io.err(
    `A link that signs in to ${firewall ? "the firewall's pages" : "the DNS console"}, once and within 15 minutes:\n`,
  );
  io.out(`${link}\n`);
  return 0;
}

/** A link into a database that no service has would open nothing. */
async function findKeys(folder: string): Promise<string> {
  const file = keysFile(folder);
  await findDatabase(file);
  return file;
}

const newAccount = (name: string): string =>
  `The account ${name} was not there yet: a new one is made, which has no zones.\n`;
const newUser = (name: string): string =>
  `The user ${name} was not there yet: a new one is made, who may do everything.\n`;

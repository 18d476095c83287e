import { resolve } from "node:path";
import { keysFile } from "../../firewall/access/store.ts";
import * as firewallConsole from "../../firewall/http/console-link.ts";
import { findDatabase } from "../../process/data-folder.ts";
import { createLog } from "../../process/log.ts";
import * as recordsConsole from "../../records/console/make-sign-in-link.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import type { DatabaseOptions } from "../io/database-options.ts";
import { type NotedService, readServiceUrl } from "../io/service-url.ts";
import { findStore } from "../store/with-store.ts";

export type SignInCommand = DatabaseOptions & {
  readonly firewall?: boolean;
  readonly account?: string;
  readonly url?: string;
};

/** `moor sign-in`: prints a sign-in link, for a user without a password or who lost it. */
export async function signIn(options: SignInCommand, io: CommandIo): Promise<number> {
  const { data, firewall, account, url } = options;
  const folder = resolve(io.cwd, data);
  const where = url ?? (await placeOf(folder, firewall ? "firewall" : "records"));
  if (!URL.canParse(where))
    return refuse(2, `--url: ${where} is not a URL; write one such as https://127.0.0.1:8053`, io);
  const { origin } = new URL(where);
  const log = createLog({ format: "text", write: io.err });
  const { link, name, isNew } = firewall
    ? await firewallConsole.makeSignInLink(await findKeys(folder), account, origin)
    : await recordsConsole.makeSignInLink(await findStore(options, io), log, account ?? "main", origin);
  if (isNew) io.err(firewall ? newUser(name) : newAccount(name));
  io.err(
    `Sign in to ${firewall ? "the firewall's pages" : "the DNS console"} with this link; it works once, within 15 minutes:\n`,
  );
  io.out(`${link}\n`);
  return 0;
}

/** Where the service is, or will be if it is started without options. */
const placeOf = async (folder: string, service: NotedService): Promise<string> =>
  (await readServiceUrl(folder, service)) ?? `https://127.0.0.1:${service === "firewall" ? 8443 : 8053}`;

/** Creates no database: a link is useless if no service uses the database. */
async function findKeys(folder: string): Promise<string> {
  const file = keysFile(folder);
  await findDatabase(file);
  return file;
}

const newAccount = (name: string): string => `Created the account ${name}, which did not exist yet. It has no zones.\n`;
const newUser = (name: string): string =>
  `Created the user ${name}, who did not exist yet. The user has all privileges.\n`;

import { resolve } from "node:path";
import { keysFile } from "../firewall/access-store.ts";
import * as firewallConsole from "../firewall/console-link.ts";
import { openDataFolder } from "../process/data-folder.ts";
import * as recordsConsole from "../records/console-open.ts";
import { recordsDatabase } from "../records/start.ts";
import type { CommandIo } from "./command-io.ts";

export type SignInCommand = {
  readonly data: string;
  readonly firewall?: boolean;
  readonly account?: string;
  readonly url?: string;
};

/** `moor sign-in`: the way into the pages for whoever has no password, or has lost it. */
export async function signIn({ data, firewall, account, url }: SignInCommand, io: CommandIo): Promise<number> {
  const where = url ?? `https://127.0.0.1:${firewall ? 8443 : 8053}`;
  if (!URL.canParse(where)) {
    io.err(`--url: ${where} is not an address such as https://127.0.0.1:8053\n`);
    return 2;
  }
  const folder = resolve(io.cwd, data);
  await openDataFolder(folder);
  const { origin } = new URL(where);
  const link = firewall
    ? await firewallConsole.makeSignInLink(keysFile(folder), account, origin)
    : await recordsConsole.makeSignInLink(recordsDatabase(folder), account ?? "main", origin);
  io.err(
    `A link that signs in to ${firewall ? "the firewall's pages" : "the DNS console"}, once and within 15 minutes:\n`,
  );
  io.out(`${link}\n`);
  return 0;
}

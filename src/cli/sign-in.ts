import { resolve } from "node:path";
import { openDataFolder } from "../process/data-folder.ts";
import { makeSignInLink } from "../records/console-open.ts";
import { recordsDatabase } from "../records/start.ts";
import type { CommandIo } from "./command-io.ts";

export type SignInCommand = { readonly data: string; readonly account: string; readonly url: string };

/** `moor sign-in`: the way into the console for whoever has no password, or has lost it. */
export async function signIn({ data, account, url }: SignInCommand, io: CommandIo): Promise<number> {
  if (!URL.canParse(url)) {
    io.err(`--url: ${url} is not an address such as https://127.0.0.1:8053\n`);
    return 2;
  }
  const folder = resolve(io.cwd, data);
  await openDataFolder(folder);
  const link = await makeSignInLink(recordsDatabase(folder), account, new URL(url).origin);
  io.err(`A link that signs in to the DNS console as ${account}, once and within 15 minutes:\n`);
  io.out(`${link}\n`);
  return 0;
}

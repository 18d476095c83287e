import type { CommandIo } from "./command-io.ts";

export type Pages = {
  readonly name: "pages" | "console";
  readonly url: string;
  /** Makes a link later. */
  readonly command: string;
  /** Undefined when somebody has a password already. */
  readonly makeLink: (() => Promise<string>) | undefined;
  readonly caFile: string | undefined;
};

/** How to sign in to the pages of a service that has started. */
export async function printSignIn({ name, url, command, makeLink, caFile }: Pages, io: CommandIo): Promise<void> {
  if (makeLink === undefined) {
    io.out(`Its ${name} ${name === "pages" ? "are" : "is"} at ${url}; a lost password: ${command}\n`);
    return;
  }
  const link = await linkToShow(makeLink, io);
  if (link === undefined) {
    io.out(`A link that signs in to its ${name} is made with: ${command}\n`);
    return;
  }
  io.out(`Sign in to its ${name} with this link, once and within 15 minutes:\n  ${link}\n`);
  if (caFile !== undefined) io.out(browserWarning(caFile));
}

/** Stands below links: no browser knows the authority that moor made for itself. */
export const browserWarning = (caFile: string): string =>
  `The browser will warn of the certificate: it comes from moor's own authority, ${caFile}. Import that file there, or go on.\n`;

/**
 * A link that signs in, for the person in front of the terminal; undefined where what is printed may end in a log, and where none
 * can be made now. The service runs all the same: `moor sign-in` makes one later.
 */
export async function linkToShow(make: () => Promise<string>, io: CommandIo): Promise<string | undefined> {
  if (!io.isTerminal) return undefined;
  try {
    return await make();
  } catch (error) {
    io.err(`A sign-in link cannot be made now: ${(error as Error).message}\n`);
    return undefined;
  }
}

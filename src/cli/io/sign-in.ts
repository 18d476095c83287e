import type { CommandIo } from "./command-io.ts";

export type Pages = {
  readonly name: "pages" | "console";
  readonly url: string;
  /** The command that creates a link later. */
  readonly command: string;
  /** Undefined if a password is already set. */
  readonly makeLink: (() => Promise<string>) | undefined;
  readonly caFile: string | undefined;
};

/** How to sign in to the pages of a service that has started. */
export async function printSignIn({ name, url, command, makeLink, caFile }: Pages, io: CommandIo): Promise<void> {
  if (makeLink === undefined) {
    io.out(`Its ${name} ${name === "pages" ? "are" : "is"} at ${url}; if you lose the password: ${command}\n`);
    return;
  }
  const link = await linkToShow(makeLink, io);
  if (link === undefined) {
    io.out(`To get a sign-in link for its ${name}: ${command}\n`);
    return;
  }
  io.out(`Sign in to its ${name} with this link; it works once, within 15 minutes:\n  ${link}\n`);
  if (caFile !== undefined) io.out(browserWarning(caFile));
}

/** Printed below links: no browser knows moor's private authority. */
export const browserWarning = (caFile: string): string =>
  `The browser warns about the certificate, because moor's private authority issued it. Import ${caFile}, or continue anyway.\n`;

/**
 * A sign-in link for the person at the terminal. Undefined if the output may end up in a log, or if no link can be
 * created now; the service runs anyway, and `moor sign-in` creates one later.
 */
export async function linkToShow(make: () => Promise<string>, io: CommandIo): Promise<string | undefined> {
  if (!io.isTerminal) return undefined;
  try {
    return await make();
  } catch (error) {
    io.err(`A sign-in link cannot be created now: ${(error as Error).message}\n`);
    return undefined;
  }
}

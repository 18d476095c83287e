import { type ImportedSource, part } from "./imported.ts";

/** The interface of this machine with that name. */
export const fromInterface = (device: string): ImportedSource => ({ source: part("interface"), device });

/** The services that moor knows, whatever the other program asked. */
export const fromWeb: ImportedSource = { source: part("web") };

/** The other programs run a shell. */
export const fromCommand = (command: string): ImportedSource => ({
  source: part("command", { command: ["/bin/sh", "-c", command] }),
});

export const oneAddressPerLine = "moor expects addresses only, one per line, in the output of the program";

export const severalServices =
  "moor asks several well-known services instead, and two must agree; to ask others, set `services:` of the source";

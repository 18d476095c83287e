import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { visible } from "../../../core/visible-text.ts";
import type { CommandIo } from "../../io/command-io.ts";
import { NoAnswer, WrongAnswer } from "../asker.ts";
import type { Setup } from "../files.ts";
import { readFileText } from "../read-option-file.ts";
import { assemble, hostsOf } from "./assemble.ts";
import { importDdclient } from "./ddclient.ts";
import { importDdnsGo } from "./ddns-go.ts";
import { importDdnsUpdater } from "./ddns-updater.ts";
import { importFavonia } from "./favonia.ts";
import { createNotes, type Imported, type KeptNotes, type Note } from "./imported.ts";
import { importInadyn } from "./inadyn.ts";
import { importOpenwrt } from "./openwrt.ts";
import { type KnownProgram, recognise } from "./recognise.ts";

/**
 * `moor init --from FILE`: a config from that of another program, after printing what is different in it. Sends
 * nothing.
 */
export async function importFrom(file: string, io: CommandIo): Promise<Setup> {
  const read = readFileText(file, io);
  if ("wrong" in read) throw new WrongAnswer(`--from ${file} ${read.wrong}.`);
  const program = recognise(read.text);
  if (typeof program !== "string")
    throw new WrongAnswer(
      `${file} is not a config of ${Object.keys(readers).join(", ")}: ${program.seems}. Give the config file of one of these programs.`,
    );
  const notes = createNotes();
  const imported = readers[program](read.text, notes, io);
  if ("message" in imported)
    throw new WrongAnswer(`${file}:${imported.line}: ${imported.message}; ${program} could not read it either.`);
  const setup = await assemble(imported, notes, io);
  io.out(`${file} is a config of ${program}.\n`);
  printNotes("Not carried over:", file, notes.all.lost, io);
  printNotes("Assumed, or different in moor; please check:", file, notes.all.assumed, io);
  if (setup.names.length === 0) throw new NoAnswer("There is no name that moor can update, so nothing was written.");
  io.out(`\nCarried over: ${hostsOf(setup).map(visible).join(", ")}\n`);
  return setup;
}

type Fault = { readonly line: number; readonly message: string };

const readers: Readonly<Record<KnownProgram, (text: string, notes: KeptNotes, io: CommandIo) => Imported | Fault>> = {
  ddclient: (text, notes, io) => importDdclient(text, notes, (path) => readNamed(path, io)),
  inadyn: importInadyn,
  "ddns-updater": importDdnsUpdater,
  "ddns-go": importDdnsGo,
  "cloudflare-ddns": (text, notes, io) => importFavonia(text, notes, (path) => readNamed(path, io)),
  "ddns-scripts": importOpenwrt,
};

function readNamed(path: string, { cwd }: CommandIo): string | undefined {
  try {
    return readFileSync(resolve(cwd, path), "utf8");
  } catch {
    return undefined;
  }
}

function printNotes(title: string, file: string, notes: readonly Note[], io: CommandIo): void {
  if (notes.length === 0) return;
  io.out(`\n${title}\n`);
  for (const { line, text } of notes) io.out(`  ${file}:${line}: ${visible(text)}\n`);
}

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

/** The programs whose configs can be taken over. */
type KnownProgram = "ddclient" | "inadyn" | "ddns-updater" | "ddns-go" | "cloudflare-ddns" | "ddns-scripts";

/** Which program a config is for, by what only its format has; otherwise what else it seems to be. */
function recognise(text: string): KnownProgram | { readonly seems: string } {
  const body = text.trim();
  if (body === "") return { seems: "it is empty" };
  if (body.startsWith("{")) {
    return /"settings"\s*:/.test(body) ? "ddns-updater" : { seems: "it is JSON, but has no list `settings`" };
  }
  if (body.startsWith("<")) return { seems: "it looks like XML or a web page" };
  if (/^(?:sources|targets|names):/m.test(body)) return { seems: "it looks like a config of moor itself" };
  if (/^\s*config\s+["']?service\b/m.test(body)) return "ddns-scripts";
  if (/^dnsconf:/m.test(body) || /^ipv[46]:\s*\n\s+enable:/m.test(body)) return "ddns-go";
  if (/\b(?:CLOUDFLARE|CF)_API_TOKEN(?:_FILE)?["']?\s*[=:]/.test(body) && /DOMAINS["']?\s*[=:]/.test(body))
    return "cloudflare-ddns";
  if (/^\s*(?:provider|custom)\s+\S+\s*\{/m.test(body)) return "inadyn";
  if (/^\s*(?:--)?(?:dyndns_system|update_period|dyndns_server_name)\b/m.test(body))
    return { seems: "it looks like a config of inadyn 1; inadyn 2 converts it" };
  const assignments = body.match(/^[^#\n]*?\b(?:protocol|use(?:v[46])?|login|password|server|daemon|zone)=/gm);
  return assignments ? "ddclient" : { seems: "it looks like none of these" };
}

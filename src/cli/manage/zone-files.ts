import { mkdir, readdir, readFile, rename, rm, rmdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseZoneName } from "../../core/names/name.ts";
import { parseTyped } from "../../core/names/unicode.ts";
import { type Fault, fail, failAll, ok, type Result } from "../../core/result.ts";
import { finish } from "../../core/steps.ts";
import { parseZoneFile } from "../../core/zone-file/parse.ts";
import { findingZoneName } from "../../core/zone-file/zone-name.ts";
import { asDiskTrouble } from "../../lib/sqlite/faults.ts";
import { replaceFile, withoutDraft } from "../../process/data-folder.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import { printFaults, refuseFaults } from "../io/print-faults.ts";
import { counted, faultsInWords } from "../store/words.ts";
import { type ImportOptions, importZone, reportImports, type ZoneImport, type ZoneToImport } from "./import-zone.ts";
import { call, listAll, type ManageOptions, type RecordsApi, zonePath } from "./records-api.ts";
import { withApi } from "./with-api.ts";

const ending = ".zone";

/** `moor zone import ZONE FILE`, or one path: a file that says which zone it is, or a folder of such files. */
export async function importFiles(words: readonly string[], options: ImportOptions, io: CommandIo): Promise<number> {
  const [first, second, ...more] = words;
  if (first === undefined || more.length > 0) return refuse(2, wanted, io);
  const path = second ?? first;
  const there = await stat(resolve(io.cwd, path)).catch(() => undefined);
  if (there === undefined && second === undefined) return refuse(2, wanted, io);
  const isFolder = there?.isDirectory() === true;
  if (isFolder && second !== undefined) return refuse(2, `${path} is a folder; name only the folder, or a file`, io);
  const names = isFolder ? (await readdir(resolve(io.cwd, path))).filter((name) => name.endsWith(ending)) : [];
  if (isFolder && names.length === 0) return refuse(1, `${path} has no files that end in ${ending}`, io);
  const files = isFolder ? names.toSorted().map((name) => join(path, name)) : [path];
  const typed = second === undefined ? undefined : parseTyped(parseZoneName, first, "ZONE");
  if (typed?.ok === false) return refuseFaults(typed.faults, io);
  const read = await readFiles(files, typed?.value, io);
  if (!read.ok) {
    printFaults(read.faults, io);
    if (isFolder) io.err(`Nothing was imported: ${path} has ${faultsInWords(read.faults.length)}.\n`);
    return 1;
  }
  return await withApi(options, io, async (api) => {
    const imported: ZoneImport[] = [];
    for (const zone of read.value) {
      io.signal.throwIfAborted();
      imported.push(await importZone(api, zone, options, io));
    }
    return reportImports(imported, options, io);
  });
}

const wanted =
  "Give a zone and its file, as in: zone import example.org example.org.zone; or a folder of files; or --from";

/** All zones, or all faults of all files. */
async function readFiles(
  files: readonly string[],
  name: string | undefined,
  io: CommandIo,
): Promise<Result<readonly ZoneToImport[]>> {
  const zones = new Map<string, ZoneToImport>();
  const faults: Fault[] = [];
  for (const file of files) {
    const zone = readZone(await readFile(resolve(io.cwd, file), "utf8"), name);
    if (zone.ok && !zones.has(zone.value.name)) zones.set(zone.value.name, zone.value);
    for (const fault of zone.ok ? [] : zone.faults) faults.push({ ...fault, where: `${file}, ${fault.where}` });
    if (zone.ok && zones.get(zone.value.name) !== zone.value) faults.push(secondFile(file, zone.value.name));
  }
  return faults.length > 0 ? failAll(faults) : ok([...zones.values()].toSorted(byName));
}

function readZone(text: string, given: string | undefined): Result<ZoneToImport> {
  const found = given ?? finish(findingZoneName(text));
  if (found === undefined) return fail(noName);
  const name = parseZoneName(found);
  if (!name.ok) return name;
  const read = parseZoneFile(text, name.value);
  if (!read.ok) return read;
  const notes = read.value.notes.map(({ where, message }) => `${where}: ${message}`);
  return ok({ ...read.value, name: name.value, notes, left: [] });
}

/** A zone comes before those inside it. */
const byName = (a: ZoneToImport, b: ZoneToImport): number =>
  a.name.length - b.name.length || (a.name < b.name ? -1 : 1);

const noName: Fault = {
  code: "no-zone-name",
  where: "line 1",
  message: "the file does not say which zone it is for",
  todo: "start it with a line such as $ORIGIN example.org., or name the zone before the file",
};

const secondFile = (file: string, zone: string): Fault => ({
  code: "named-twice",
  where: file,
  message: `another file is for the zone ${zone} too`,
  todo: "put the records of a zone into one file",
});

/**
 * `moor zone export --all`: a file per zone in a new folder. The same zones give the same bytes. Nothing is left of an
 * export that fails.
 */
export async function exportAll(folder: string, options: ManageOptions, io: CommandIo): Promise<number> {
  const path = resolve(io.cwd, folder);
  const there = await readdir(path).catch((error: NodeJS.ErrnoException) => (error.code === "ENOENT" ? [] : undefined));
  if (there === undefined) return refuse(1, `${folder} is not a folder; give a new one`, io);
  if (there.length > 0) return refuse(1, `${folder} is not empty; give a new folder`, io);
  const draft = `${path}.part`;
  await rm(draft, { recursive: true, force: true });
  try {
    await mkdir(draft);
    return await withApi(options, io, async (api) => {
      const { written, without } = await writeZones(api, draft, io.signal);
      await rmdir(path).catch(() => undefined);
      await rename(draft, path);
      for (const name of without) io.err(`${name}: not exported, because its records come from its primary servers.\n`);
      const counts = { zones: written, folder };
      io.out(options.json ? `${JSON.stringify(counts)}\n` : `${folder}: ${counted(written, "zone")}\n`);
      return 0;
    });
  } catch (error) {
    throw asDiskTrouble(withoutDraft(error, draft, path), path);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Zones are created and deleted while the pages of the list are read, so it is read until it has nothing new. */
async function writeZones(api: RecordsApi, folder: string, signal: AbortSignal) {
  const seen = new Set<string>();
  const without: string[] = [];
  let written = 0;
  for (;;) {
    const zones = (await listAll(api, "/zones", "zones", 50)).filter(({ name }) => !seen.has(String(name)));
    if (zones.length === 0) return { written, without };
    for (const { name, mode } of zones) {
      signal.throwIfAborted();
      const zone = String(name);
      seen.add(zone);
      if (mode === "secondary") {
        without.push(zone);
        continue;
      }
      const { status, body } = await call(api, "GET", `${zonePath(zone)}/zonefile?labels=true`, {
        expected: [404],
      });
      // Deleted since it was listed.
      if (status === 404) continue;
      await replaceFile(join(folder, fileName(zone)), String(body.zonefile), 0o644);
      written += 1;
    }
  }
}

/** Names of classless reverse zones contain a slash. */
const fileName = (zone: string): string => `${zone.replaceAll("/", "%2f")}${ending}`;

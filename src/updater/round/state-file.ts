import { constants } from "node:fs";
import { access, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { Instant } from "../../core/instant.ts";
import { isObject } from "../../core/is-object.ts";
import { linkTarget, replaceFile, swapFile } from "../../process/data-folder.ts";
import { lookOf } from "../config/watch-files.ts";
import { mergeState, type StateContent, type StoredAddress, type Unsaved } from "./merge-state.ts";

export type OpenedState =
  | { readonly kind: "open"; readonly state: StateFile; readonly warning?: string }
  | { readonly kind: "unusable"; readonly because: string; readonly todo: string };

/** How the file is written: `lasting` survives a power cut; after `quick`, the old content may come back. */
export type StateDisk = Record<"lasting" | "quick", (path: string, text: string) => Promise<void>>;

const realDisk: StateDisk = { lasting: replaceFile, quick: swapFile };

export async function openStateFile(
  path: string,
  now: Instant,
  options: { readonly write: boolean; readonly disk?: StateDisk },
): Promise<OpenedState> {
  const { disk = realDisk } = options;
  if (options.write) {
    // Checked before anything is sent: a write that cannot be stored would be repeated at every start.
    const refused = await access(dirname(linkTarget(path)), constants.W_OK).then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code ?? "unwritable",
    );
    if (refused) return unusable(path, "its folder cannot be written", refused);
  }
  // Taken before the read, so that a write by another process in between is noticed.
  const look = lookOf(path);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT"
      ? { kind: "open", state: new StateFile(path, noContent(), disk, { look, text: "" }) }
      : unusable(path, "it cannot be read", code);
  }
  const content = parseContent(text);
  if (content === "newer") return newer(path);
  const seen = { look, text };
  if (content) return { kind: "open", state: new StateFile(path, content, disk, seen) };
  const warning = await setAside(path, now, options.write);
  return { kind: "open", state: new StateFile(path, noContent(), disk, seen), warning };
}

const unusable = (path: string, what: string, code = "unknown error"): OpenedState => ({
  kind: "unusable",
  because: `the state file ${path} cannot be used: ${what} (${code})`,
  todo: "fix the permissions, or choose another file with `state:` in the config",
});

/** The file is not touched, so that nothing is lost when the newer version runs again. */
const newer = (path: string): OpenedState => ({
  kind: "unusable",
  because: `the state file ${path} was written by a newer version of moor, and this version cannot read it`,
  todo: "run the newer version again, or move the file away: every address is then written again",
});

/** Returns the warning. */
async function setAside(path: string, now: Instant, write: boolean): Promise<string> {
  const file = linkTarget(path);
  const aside = `${file}.damaged-${new Date(now).toISOString().replaceAll(/[-:.]/g, "")}`;
  if (write) await rename(file, aside);
  const kept = write
    ? `it is kept as ${aside}, and every address is written again`
    : "it would be renamed, and every address would be written again";
  return `the state file ${path} was damaged: ${kept}`;
}

const noContent = (): StateContent => ({ entries: {}, holds: {}, versions: {} });

/** How the file looked when it was last read or written. */
type SeenFile = { readonly look: string; readonly text: string };

/** The last written address per name and family, and the end of each service's Retry-After. */
export class StateFile {
  readonly #path: string;
  readonly #content: StateContent;
  readonly #disk: StateDisk;
  #seen: SeenFile;
  #dirty = false;
  // A doubt must survive a power cut. Losing anything else costs only a repeated write, and each disk sync would delay
  // every change.
  #doubted = false;
  readonly #unsaved: Unsaved = new Map();
  #saving: Promise<void> = Promise.resolve();
  #othersWrote = false;
  /** Names that are about to be written. What is stored of them is in doubt in the file, but not yet here. */
  readonly #ahead = new Set<string>();
  #aheadSaved: Promise<void> = Promise.resolve();

  constructor(path: string, content: StateContent, disk: StateDisk, seen: SeenFile) {
    this.#path = path;
    this.#content = content;
    this.#disk = disk;
    this.#seen = seen;
  }

  get(key: string): StoredAddress | undefined {
    return this.#content.entries[key];
  }

  /**
   * In memory immediately, and in the file when the promise resolves, unless other names follow (`doubt`): they save
   * it too. Rejects if it cannot be written.
   */
  set(key: string, entry: StoredAddress): Promise<void> {
    this.#put(key, entry);
    return this.#ahead.size > 0 ? Promise.resolve() : this.#save();
  }

  /**
   * Before a write: marks what is stored as in doubt, in the file when the promise resolves. The names in `next`, which
   * are about to follow, are marked in the same save: a sync of the disk per name would take most of the time.
   */
  doubt(key: string, next: () => readonly string[]): Promise<void> {
    const entry = this.#content.entries[key];
    if (entry) this.#put(key, { ...entry, inDoubt: true });
    if (this.#ahead.delete(key)) {
      // The last one may take long.
      if (this.#ahead.size === 0) void this.#save().catch(() => undefined);
      return this.#aheadSaved;
    }
    this.#ahead.clear();
    for (const each of next().slice(0, mostAhead)) if (each !== key) this.#ahead.add(each);
    const isInFile = !this.#dirty && !Array.from(this.#ahead).some((each) => this.#content.entries[each]);
    this.#doubted ||= !isInFile;
    this.#aheadSaved = isInFile ? Promise.resolve() : this.#save();
    // If it is not in the file, nothing is in doubt there.
    this.#aheadSaved.catch(() => this.#ahead.clear());
    return this.#aheadSaved;
  }

  #put(key: string, entry: StoredAddress): void {
    const version = this.#content.versions[key] ?? 0;
    if (!this.#unsaved.has(key)) this.#unsaved.set(key, version);
    this.#content.entries[key] = entry;
    this.#content.versions[key] = version + 1;
    this.#doubted ||= entry.inDoubt === true && !this.#ahead.has(key);
    this.#dirty = true;
  }

  /** The names that were to follow do not. */
  async nothingFollows(): Promise<void> {
    if (this.#ahead.size === 0) return;
    this.#ahead.clear();
    await this.#save();
  }

  hold(target: string): Instant | undefined {
    return this.#content.holds[target];
  }

  setHold(target: string, until: Instant): Promise<void> {
    this.#content.holds[target] = until;
    return this.#save();
  }

  /**
   * Retries what an earlier `set` could not write, and adopts what another process has written. Returns whether another
   * process has written since the last call.
   */
  async flush(): Promise<boolean> {
    await this.#saveNext();
    const wroteSince = this.#othersWrote;
    this.#othersWrote = false;
    return wroteSince;
  }

  #save(): Promise<void> {
    this.#dirty = true;
    return this.#saveNext();
  }

  /** One after the other, each with everything known by then: an earlier save never overwrites a later one. */
  #saveNext(): Promise<void> {
    this.#saving = this.#saving
      .catch(() => undefined)
      .then(async () => {
        await this.#mergeOthers();
        if (this.#dirty) await this.#write();
      });
    return this.#saving;
  }

  async #write(): Promise<void> {
    const how = this.#doubted ? "lasting" : "quick";
    [this.#dirty, this.#doubted] = [false, false];
    const text = printContent(withDoubts(this.#content, this.#ahead));
    const inFile = new Map(this.#unsaved);
    this.#unsaved.clear();
    try {
      await this.#disk[how](linkTarget(this.#path), text);
    } catch (error) {
      this.#dirty = true;
      this.#doubted ||= how === "lasting";
      for (const [key, follows] of inFile) this.#unsaved.set(key, follows);
      throw error;
    }
    this.#seen = { look: lookOf(this.#path), text };
  }

  /** Adopts what another process has written. */
  async #mergeOthers(): Promise<void> {
    const look = lookOf(this.#path);
    if (look === this.#seen.look) return;
    const before = this.#seen.text;
    this.#seen = { look, text: await readFile(this.#path, "utf8").catch(() => "") };
    // Only the metadata changed: restored from a backup, touched, or on a file system that renumbers its inodes.
    if (this.#seen.text === before) return;
    const theirs = parseContent(this.#seen.text);
    if (!theirs || theirs === "newer") return;
    this.#othersWrote = true;
    if (!mergeState(this.#content, theirs, this.#unsaved)) return;
    this.#dirty = true;
    this.#doubted ||= Object.values(this.#content.entries).some(({ inDoubt }) => inDoubt);
  }
}

const version = 1;
/** Names that are marked in one save. */
const mostAhead = 50;

function withDoubts(content: StateContent, keys: ReadonlySet<string>): StateContent {
  if (keys.size === 0) return content;
  const entries = { ...content.entries };
  for (const key of keys) if (entries[key]) entries[key] = { ...entries[key], inDoubt: true };
  return { ...content, entries };
}

const printContent = (content: StateContent) => `${JSON.stringify({ version, ...content }, undefined, 2)}\n`;

function parseContent(text: string): StateContent | "newer" | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  if (typeof value.version === "number" && value.version > version) return "newer";
  if (value.version !== version || !isObject(value.entries)) return undefined;
  const { entries, holds, versions } = value;
  if (!Object.values(entries).every(isStored) || !isNumbers(holds) || !isNumbers(versions)) return undefined;
  return { entries, holds, versions } as StateContent;
}

const isNumbers = (value: unknown) =>
  isObject(value) && Object.values(value).every((number) => typeof number === "number");

const isStored = (value: unknown) =>
  isObject(value) && typeof value.address === "string" && typeof value.storedAt === "string";

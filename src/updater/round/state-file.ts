import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { Instant } from "../../core/instant.ts";
import { isObject, objectOfJson } from "../../core/is-object.ts";
import { linkTarget } from "../../process/data-folder.ts";
import { fingerprintOf } from "../config/watch-files.ts";
import { mergeState, type StateContent, type StoredAddress, type StoredEvent, type Unsaved } from "./merge-state.ts";
import { type Durability, realDisk, SharedFile, type StateDisk } from "./shared-file.ts";

export type OpenedState =
  | { readonly kind: "open"; readonly state: StateFile; readonly warning?: string }
  | { readonly kind: "unusable"; readonly because: string; readonly todo: string };

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
  const fingerprint = fingerprintOf(path);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT"
      ? { kind: "open", state: new StateFile(new SharedFile(path, disk, { fingerprint, text: "" }), noContent()) }
      : unusable(path, "it cannot be read", code);
  }
  const content = parseContent(text);
  if (content === "newer") return newer(path);
  const file = new SharedFile(path, disk, { fingerprint, text });
  if (content) return { kind: "open", state: new StateFile(file, content) };
  const warning = await setAside(path, now, options.write);
  return { kind: "open", state: new StateFile(file, noContent()), warning };
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

const noContent = (): StateContent => ({ entries: {}, holds: {}, versions: {}, events: {} });

/** Names that are about to be written. The file has what is stored of them in doubt when `saved` resolves. */
type Batch = { readonly keys: Set<string>; readonly saved: Promise<void> };

/** The last written address per name and family, and the end of each service's Retry-After. */
export class StateFile {
  readonly #file: SharedFile;
  readonly #content: StateContent;
  readonly #unsaved: Unsaved = new Map();
  /** How the next save has to be written; undefined if the file has everything. */
  #durability: Durability | undefined;
  #batch: Batch = { keys: new Set(), saved: Promise.resolve() };
  #lastSave: Promise<void> = Promise.resolve();
  #othersWrote = false;
  /** Another process may have read them before, and write them again. */
  readonly #droppedEvents = new Set<string>();

  constructor(file: SharedFile, content: StateContent) {
    this.#file = file;
    this.#content = content;
  }

  get(key: string): StoredAddress | undefined {
    return this.#content.entries[key];
  }

  /**
   * In memory immediately, and in the file when the promise resolves; during a batch, with its last name. Rejects if it
   * cannot be written.
   */
  set(key: string, entry: StoredAddress): Promise<void> {
    this.#put(key, entry);
    return this.#batch.keys.size > 0 ? Promise.resolve() : this.#save();
  }

  /**
   * Before a write: marks what is stored as in doubt, in the file when the promise resolves. The names in `next`, which
   * are about to follow, are marked in the same save, as a batch: a sync of the disk per name would take most of the
   * time.
   */
  markInDoubt(key: string, next: () => readonly string[]): Promise<void> {
    const entry = this.#content.entries[key];
    if (entry) this.#put(key, { ...entry, inDoubt: true });
    if (!this.#batch.keys.delete(key)) this.#batch = this.#startBatch(next().slice(0, mostInBatch), key);
    // The write of the last one may take long.
    else if (this.#batch.keys.size === 0) void this.#save().catch(() => undefined);
    return this.#batch.saved;
  }

  /** A name of the batch needs no write after all: what is stored of it is not in doubt. */
  async leaveBatch(key: string): Promise<void> {
    if (this.#batch.keys.delete(key) && this.#batch.keys.size === 0) await this.#save();
  }

  /** The names of the batch that were to follow do not. */
  async endBatch(): Promise<void> {
    if (this.#batch.keys.size === 0) return;
    this.#batch.keys.clear();
    await this.#save();
  }

  rateLimitedUntil(target: string): Instant | undefined {
    return this.#content.holds[target];
  }

  setRateLimitedUntil(target: string, until: Instant): Promise<void> {
    this.#content.holds[target] = until;
    return this.#save();
  }

  /** Returns its id. In the file with the next `set`. */
  noteEvent(event: StoredEvent): string {
    const id = randomUUID();
    const { events } = this.#content;
    const [oldest] = Object.keys(events);
    if (oldest !== undefined && Object.keys(events).length >= mostEvents) this.#dropEvent(oldest);
    events[id] = event;
    return id;
  }

  events(): readonly (readonly [id: string, event: StoredEvent])[] {
    return Object.entries(this.#content.events);
  }

  /** Without `by`, everybody was told. */
  eventDelivered(id: string, by?: string): Promise<void> {
    const event = this.#content.events[id];
    if (!event) return Promise.resolve();
    if (by === undefined) this.#dropEvent(id);
    else this.#content.events[id] = { ...event, done: [...event.done, by] };
    return this.#save();
  }

  #dropEvent(id: string): void {
    delete this.#content.events[id];
    this.#droppedEvents.add(id);
  }

  /**
   * Retries what an earlier `set` could not write, and adopts what another process has written. Returns whether another
   * process has written since the last call.
   */
  async flush(): Promise<boolean> {
    await this.#saveIfNeeded();
    const wroteSince = this.#othersWrote;
    this.#othersWrote = false;
    return wroteSince;
  }

  #startBatch(next: readonly string[], first: string): Batch {
    const keys = new Set(next.filter((key) => key !== first));
    const isInFile = this.#durability === undefined && !next.some((key) => keys.has(key) && this.#content.entries[key]);
    if (isInFile) return { keys, saved: Promise.resolve() };
    this.#require("lasting");
    const saved = this.#save();
    // If it is not in the file, nothing is in doubt there.
    saved.catch(() => keys.clear());
    return { keys, saved };
  }

  #put(key: string, entry: StoredAddress): void {
    const version = this.#content.versions[key] ?? 0;
    if (!this.#unsaved.has(key)) this.#unsaved.set(key, version);
    this.#content.entries[key] = entry;
    this.#content.versions[key] = version + 1;
    this.#require(entry.inDoubt && !this.#batch.keys.has(key) ? "lasting" : "quick");
  }

  /**
   * A doubt must survive a power cut. Losing anything else costs only a repeated write, and each sync of the disk would
   * delay every change.
   */
  #require(durability: Durability): void {
    if (this.#durability !== "lasting") this.#durability = durability;
  }

  #save(): Promise<void> {
    this.#require("quick");
    return this.#saveIfNeeded();
  }

  /** One after the other, each with everything known by then: an earlier save never overwrites a later one. */
  #saveIfNeeded(): Promise<void> {
    this.#lastSave = this.#lastSave
      .catch(() => undefined)
      .then(async () => {
        await this.#mergeOthers();
        if (this.#durability !== undefined) await this.#write(this.#durability);
      });
    return this.#lastSave;
  }

  async #write(durability: Durability): Promise<void> {
    this.#durability = undefined;
    const text = printContent(withDoubts(this.#content, this.#batch.keys));
    const unsavedBefore = new Map(this.#unsaved);
    this.#unsaved.clear();
    try {
      await this.#file.write(text, durability);
    } catch (error) {
      this.#require(durability);
      for (const [key, savedVersion] of unsavedBefore) this.#unsaved.set(key, savedVersion);
      throw error;
    }
  }

  /** Adopts what another process has written. */
  async #mergeOthers(): Promise<void> {
    const theirs = parseContent((await this.#file.readIfChanged()) ?? "");
    if (!theirs || theirs === "newer") return;
    this.#othersWrote = true;
    for (const [id, event] of Object.entries(theirs.events))
      if (!this.#droppedEvents.has(id)) this.#content.events[id] ??= event;
    if (!mergeState(this.#content, theirs, this.#unsaved)) return;
    this.#require(Object.values(this.#content.entries).some(({ inDoubt }) => inDoubt) ? "lasting" : "quick");
  }
}

/**
 * Raised only if older builds would misread the file. A key that is added or renamed does not raise it: `parseContent`
 * reads every older form, and `test/updater/state-files` has one of each.
 */
const version = 1;
const mostEvents = 100;
/** Names that are marked in one save. */
const mostInBatch = 50;

function withDoubts(content: StateContent, keys: ReadonlySet<string>): StateContent {
  if (keys.size === 0) return content;
  const entries = { ...content.entries };
  for (const key of keys) if (entries[key]) entries[key] = { ...entries[key], inDoubt: true };
  return { ...content, entries };
}

const printContent = (content: StateContent) => `${JSON.stringify({ version, ...content }, undefined, 2)}\n`;

function parseContent(text: string): StateContent | "newer" | undefined {
  const value = objectOfJson(text);
  if (!value) return undefined;
  if (typeof value.version === "number" && value.version > version) return "newer";
  if (value.version !== version || !isObject(value.entries)) return undefined;
  // A missing key was not written yet by the build that wrote the file; `turns` is what rc.1 called the versions.
  const { entries, holds = {}, versions = value.turns ?? {}, events = {} } = value;
  if (!Object.values(entries).every(isStored) || !isNumbers(holds) || !isNumbers(versions)) return undefined;
  if (!isObject(events) || !Object.values(events).every(isEvent)) return undefined;
  return { entries, holds, versions, events } as StateContent;
}

const isEvent = (value: unknown) =>
  isObject(value) &&
  [value.name, value.new, value.at].every((text) => typeof text === "string") &&
  Array.isArray(value.done);

const isNumbers = (value: unknown) =>
  isObject(value) && Object.values(value).every((number) => typeof number === "number");

const isStored = (value: unknown) =>
  isObject(value) && typeof value.address === "string" && typeof value.storedAt === "string";

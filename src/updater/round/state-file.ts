import { constants } from "node:fs";
import { access, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { Instant } from "../../core/instant.ts";
import { isObject } from "../../core/is-object.ts";
import { replaceFile, swapFile } from "../../process/data-folder.ts";
import { linkTarget } from "../config/link-target.ts";
import { lookOf } from "../config/watch-files.ts";
import { mergeState, type StateContent, type StoredAddress, type Unsaved } from "./merge-state.ts";

/** What was written last, one entry a name and family, and until when a service wants to be left alone. */
export type StateFile = {
  get(key: string): StoredAddress | undefined;
  /** Known at once, in the file when the promise is kept; throws when it cannot be put there. */
  set(key: string, entry: StoredAddress): Promise<void>;
  hold(target: string): Instant | undefined;
  setHold(target: string, until: Instant): Promise<void>;
  /**
   * Tries again what an earlier `set` could not put on disk, and takes what another process has put there. Says whether one
   * has since the last time.
   */
  flush(): Promise<boolean>;
};

export type OpenedState =
  | { readonly kind: "open"; readonly state: StateFile; readonly warning?: string }
  | { readonly kind: "unusable"; readonly because: string; readonly todo: string };

/** How the file is written: so that it outlives a power cut, or so that only what was there before does. */
export type StateDisk = Record<"lasting" | "quick", (path: string, text: string) => Promise<void>>;

const realDisk: StateDisk = { lasting: replaceFile, quick: swapFile };

export async function openStateFile(
  path: string,
  now: Instant,
  options: { readonly write: boolean; readonly disk?: StateDisk },
): Promise<OpenedState> {
  const { disk = realDisk } = options;
  if (options.write) {
    // Before anything is sent: a write that cannot be remembered would be repeated at every start.
    const refused = await access(dirname(linkTarget(path)), constants.W_OK).then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code ?? "unwritable",
    );
    if (refused) return unusable(path, "its folder cannot be written", refused);
  }
  // Before it is read: what another writes meanwhile is then seen to be new.
  const look = lookOf(path);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT"
      ? opened(path, noContent(), disk, { look, text: "" })
      : unusable(path, "it cannot be read", code);
  }
  const content = parseContent(text);
  if (content === "newer") return newer(path);
  if (content) return opened(path, content, disk, { look, text });
  return { ...opened(path, noContent(), disk, { look, text }), warning: await setAside(path, now, options.write) };
}

const unusable = (path: string, what: string, code = "unknown error"): OpenedState => ({
  kind: "unusable",
  because: `the state file ${path} cannot be used: ${what} (${code})`,
  todo: "fix the permissions, or name another file with `state:` in the config",
});

/** It stays where it is: whoever goes back to the newer program finds all of it again. */
const newer = (path: string): OpenedState => ({
  kind: "unusable",
  because: `the state file ${path} was written by a newer version of moor, and this version cannot read it`,
  todo: "run the newer version again, or move the file away: every address is then written again",
});

/** What to warn of. */
async function setAside(path: string, now: Instant, write: boolean): Promise<string> {
  const file = linkTarget(path);
  const aside = `${file}.damaged-${new Date(now).toISOString().replaceAll(/[-:.]/g, "")}`;
  if (write) await rename(file, aside);
  const kept = write ? `it is kept as ${aside}, and` : "it would be renamed, and";
  return `the state file ${path} was damaged: ${kept} every address is written again`;
}

const noContent = (): StateContent => ({ entries: {}, holds: {}, turns: {} });

/** `seen`: the file as it was read last, or written. */
function opened(
  path: string,
  content: StateContent,
  disk: StateDisk,
  seen: { look: string; text: string },
): Extract<OpenedState, { kind: "open" }> {
  let dirty = false;
  // A doubt must outlive a power cut. Whatever else is lost in one costs no more than a write that says the same again, and
  // each sync of the disk holds up every change by its time.
  let doubted = false;
  const unsaved: Unsaved = new Map();
  let saving: Promise<void> = Promise.resolve();
  let othersWrote = false;
  const hearOthers = async () => {
    const look = lookOf(path);
    if (look === seen.look) return;
    const before = seen.text;
    seen = { look, text: await readFile(path, "utf8").catch(() => "") };
    // Put back from a backup, touched, or on a disk that numbers its files anew.
    if (seen.text === before) return;
    const theirs = parseContent(seen.text);
    if (!theirs || theirs === "newer") return;
    othersWrote = true;
    if (!mergeState(content, theirs, unsaved)) return;
    dirty = true;
    doubted ||= Object.values(content.entries).some(({ inDoubt }) => inDoubt);
  };
  // One after the other, each with all that is known by then: a later save never loses to an earlier one.
  const inTurn = () => {
    saving = saving
      .catch(() => undefined)
      .then(async () => {
        await hearOthers();
        if (!dirty) return;
        const how = doubted ? "lasting" : "quick";
        [dirty, doubted] = [false, false];
        const text = printContent(content);
        const inFile = new Map(unsaved);
        unsaved.clear();
        await disk[how](linkTarget(path), text).catch((error: unknown) => {
          dirty = true;
          doubted ||= how === "lasting";
          for (const [key, follows] of inFile) unsaved.set(key, follows);
          throw error;
        });
        seen = { look: lookOf(path), text };
      });
    return saving;
  };
  const save = () => {
    dirty = true;
    return inTurn();
  };
  const state: StateFile = {
    get: (key) => content.entries[key],
    set(key, entry) {
      const turn = content.turns[key] ?? 0;
      if (!unsaved.has(key)) unsaved.set(key, turn);
      content.entries[key] = entry;
      content.turns[key] = turn + 1;
      doubted ||= entry.inDoubt === true;
      return save();
    },
    hold: (target) => content.holds[target],
    setHold(target, until) {
      content.holds[target] = until;
      return save();
    },
    async flush() {
      await inTurn();
      const wroteSince = othersWrote;
      othersWrote = false;
      return wroteSince;
    },
  };
  return { kind: "open", state };
}

const version = 1;

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
  const { entries, holds = {}, turns = {} } = value;
  if (!Object.values(entries).every(isStored) || !isNumbers(holds) || !isNumbers(turns)) return undefined;
  return { entries, holds, turns } as StateContent;
}

const isNumbers = (value: unknown) =>
  isObject(value) && Object.values(value).every((number) => typeof number === "number");

const isStored = (value: unknown) =>
  isObject(value) && typeof value.address === "string" && typeof value.storedAt === "string";

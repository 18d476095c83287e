import { constants } from "node:fs";
import { access, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { Instant } from "../core/instant.ts";

/** What was written last, one entry a name and family, and until when a service wants to be left alone. */
export type StateFile = {
  get(key: string): StoredAddress | undefined;
  /** Known at once, on disk when the promise is kept; throws when it cannot be put there. */
  set(key: string, entry: StoredAddress): Promise<void>;
  hold(target: string): Instant | undefined;
  setHold(target: string, until: Instant): Promise<void>;
  /** Tries again what an earlier `set` could not put on disk. */
  flush(): Promise<void>;
};

export type StoredAddress = {
  readonly address: string;
  readonly storedAt: string;
  /** Another address was sent since, and how that ended is not known: the record may hold either. */
  readonly inDoubt?: boolean;
};

export type OpenedState =
  | { readonly kind: "open"; readonly state: StateFile; readonly warning?: string }
  | { readonly kind: "unusable"; readonly because: string; readonly todo: string };

type Content = { readonly entries: Record<string, StoredAddress>; readonly holds: Record<string, Instant> };

export async function openStateFile(
  path: string,
  now: Instant,
  options: { readonly write: boolean },
): Promise<OpenedState> {
  if (options.write) {
    // Before anything is sent: a write that cannot be remembered would be repeated at every start.
    const refused = await access(dirname(path), constants.W_OK).then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code ?? "unwritable",
    );
    if (refused) return unusable(path, "its folder cannot be written", refused);
  }
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? opened(path, { entries: {}, holds: {} }) : unusable(path, "it cannot be read", code);
  }
  const content = parseContent(text);
  return content ? opened(path, content) : setAside(path, now, options.write);
}

const unusable = (path: string, what: string, code = "unknown error"): OpenedState => ({
  kind: "unusable",
  because: `the state file ${path} cannot be used: ${what} (${code})`,
  todo: "mend the permissions, or name another file with `state:` in the config",
});

async function setAside(path: string, now: Instant, write: boolean): Promise<OpenedState> {
  const aside = `${path}.damaged-${new Date(now).toISOString().replaceAll(/[-:.]/g, "")}`;
  if (write) await rename(path, aside);
  const kept = write ? `it is kept as ${aside}, and` : "it would be set aside, and";
  return {
    ...opened(path, { entries: {}, holds: {} }),
    warning: `the state file ${path} was damaged: ${kept} every address is written once more`,
  };
}

function opened(path: string, content: Content): Extract<OpenedState, { kind: "open" }> {
  let dirty = false;
  let saving: Promise<void> = Promise.resolve();
  const save = () => {
    dirty = true;
    // One after the other, each with all that is known by then: a later save never loses to an earlier one.
    saving = saving
      .catch(() => undefined)
      .then(async () => {
        if (!dirty) return;
        dirty = false;
        await replaceFile(path, printContent(content)).catch((error: unknown) => {
          dirty = true;
          throw error;
        });
      });
    return saving;
  };
  const state: StateFile = {
    get: (key) => content.entries[key],
    set(key, entry) {
      content.entries[key] = entry;
      return save();
    },
    hold: (target) => content.holds[target],
    setHold(target, until) {
      content.holds[target] = until;
      return save();
    },
    flush: async () => {
      if (dirty) await save();
    },
  };
  return { kind: "open", state };
}

/** Either the old content or the new one is there, whatever happens in between. */
async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.new`;
  const file = await open(temporary, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const printContent = ({ entries, holds }: Content) =>
  `${JSON.stringify({ version: 1, entries, holds }, undefined, 2)}\n`;

function parseContent(text: string): Content | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value.version !== 1 || !isObject(value.entries)) return undefined;
  const holds = value.holds ?? {};
  if (!Object.values(value.entries).every(isStored) || !isObject(holds)) return undefined;
  if (!Object.values(holds).every((until) => typeof until === "number")) return undefined;
  return { entries: value.entries, holds } as Content;
}

const isStored = (value: unknown) =>
  isObject(value) && typeof value.address === "string" && typeof value.storedAt === "string";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

import { randomBytes } from "node:crypto";
import { readlinkSync, realpathSync, renameSync } from "node:fs";
import { chmod, chown, type FileHandle, mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";

/**
 * The folder holds secrets, so only its owner may read it. A folder that also holds other files, such as /tmp, keeps
 * its mode: their owners would be locked out. Errors say what to do.
 */
export async function openDataFolder(path: string): Promise<void> {
  try {
    await makeFolder(path);
    if (!(await stat(path)).isDirectory()) throw new Error("it is a file");
    if ((await readdir(path)).every((name) => ofMoor.test(name))) await chmod(path, 0o700);
  } catch (error) {
    const message = `the folder ${path} cannot be used: ${(error as Error).message}; choose another folder, or fix this`;
    throw new Error(message, { cause: error });
  }
}

/** moor's databases, certificates, secrets and configs, and drafts of them. */
const ofMoor = /^\.?(?:ca|server|records|firewall|updater|moor|up)[.-]/;

/** For commands that need the folder of an existing service: a mistyped name must not create a new one. */
export async function findDataFolder(path: string, todo = findIt): Promise<void> {
  if (!(await isThere(path))) throw new Error(`there is no folder ${path}; ${todo}`);
  await openDataFolder(path);
}

/** For commands that need an existing database: with a mistyped name, the service must not look empty. */
export async function findDatabase(file: string, todo = findIt): Promise<void> {
  const folder = dirname(file);
  // With `/.` at the end, the path exists only if it is a folder.
  if (!(await isThere(file)) && (await isThere(`${folder}/.`)))
    throw new Error(`there is no ${basename(file)} in the folder ${folder}; ${todo}`);
  await findDataFolder(folder, todo);
}

const findIt = "give the folder of the service with --data, or start the service first";

/** For commands that create a store only if asked to. */
export const findOrCreate = "give the folder of the service with --data, or add --new to create a store there";

/** Node's `recursive` option loops forever where mkdir fails with ENOENT although the parent exists, as in /proc. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || (await isThere(dirname(path)))) throw error;
    await makeFolder(dirname(path));
    await mkdir(path, { mode: 0o700 });
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

type Hooks = {
  readonly prepare?: (draft: FileHandle) => Promise<void>;
  /**
   * Called immediately before the file is replaced: nothing else in this process happens in between. If it throws, the
   * file stays.
   */
  readonly lastCheck?: () => void;
};

/** The file has the new content even after a power cut: write, fsync, rename, fsync the folder. */
export async function replaceFile(path: string, content: string, mode = 0o600, hooks?: Hooks): Promise<void> {
  await swapFile(path, content, mode, hooks);
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Like `replaceFile`, for a file of the user: its owner and its mode stay, or it is not replaced. */
export async function replaceKeeping(path: string, content: string, lastCheck: () => void): Promise<void> {
  const { mode, uid, gid } = await stat(path);
  const prepare = async (draft: FileHandle) => {
    // The umask may have removed permissions.
    await draft.chmod(mode & 0o777);
    const made = await draft.stat();
    if (made.uid !== uid || made.gid !== gid) await draft.chown(uid, gid);
  };
  await replaceFile(path, content, mode & 0o777, { prepare, lastCheck });
}

/** The file has the old or the new content, never a mix. After a power cut it may be either. */
export async function swapFile(path: string, content: string, mode = 0o600, hooks: Hooks = {}): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(4).toString("hex")}`);
  try {
    const file = await open(draft, "wx", mode);
    try {
      await hooks.prepare?.(file);
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    hooks.lastCheck?.();
    renameSync(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw withoutDraft(error, draft, path);
  }
}

/** Nobody has heard of the draft: without a folder for it, the folder is missing. */
export function withoutDraft(error: unknown, draft: string, path: string): unknown {
  const fault = error as NodeJS.ErrnoException;
  if (fault.path === draft) fault.path = fault.code === "ENOENT" ? dirname(path) : path;
  return fault;
}

/**
 * Reserves a new name before `put` replaces the file: two processes that choose the same name do not overwrite each
 * other.
 */
export async function asNewFile(path: string, put: () => Promise<void>): Promise<void> {
  await (await open(path, "wx", 0o600)).close();
  try {
    await put();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** Root may have created the file for a service that runs as the owner of the folder and must be able to open it. */
export async function giveToOwnerOf(folder: string, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  await chown(path, uid, gid);
}

/** A file that cannot be read is not a missing one: only ENOENT returns undefined, every other failure throws. */
export async function readFileIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new Error(`${path} cannot be read (${code ?? message})`, { cause: error });
  }
}

/** The limit of Linux. */
const mostLinks = 40;

/** The file that a path leads to through symbolic links, even if it does not exist yet. */
export function linkTarget(path: string): string {
  let at = path;
  for (let links = 0; links < mostLinks; links++) {
    try {
      // The native version: the other one resolves `link/..` to the folder that contains the link.
      at = join(realpathSync.native(dirname(at)), basename(at));
      const to = readlinkSync(at);
      at = isAbsolute(to) ? to : `${dirname(at)}/${to}`;
    } catch {
      // Not a link, or it does not exist. Any other problem shows up when it is written.
      return at;
    }
  }
  return path;
}

import { chmod, chown, mkdtemp, readdir, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import {
  findDatabase,
  findDataFolder,
  openDataFolder,
  readFileIfThere,
  replaceFile,
  replaceKeeping,
} from "./data-folder.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-data-folder-"));
});

describe("openDataFolder", () => {
  it("creates all missing folders, readable only by their owner", async () => {
    const path = join(folder, "a", "b", "c");
    await openDataFolder(path);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    await openDataFolder(path);
  });

  it.each([
    ["makes an empty folder private", [], 0o700],
    [
      "makes a folder private that holds only moor's files",
      ["ca.key", "records.sqlite-wal", ".up.yaml.0a1b", "moor.yaml"],
      0o700,
    ],
    ["leaves a folder open that others use too", ["records.sqlite", "of somebody else"], 0o1777],
  ])("%s", async (_, names, mode) => {
    for (const name of names) await writeFile(join(folder, name), "");
    await chmod(folder, 0o1777);
    await openDataFolder(folder);
    expect((await stat(folder)).mode & 0o7777).toBe(mode);
  });

  it("fails immediately where no folder can be created", async () => {
    await expect(openDataFolder("/proc/nope")).rejects.toThrow("the folder /proc/nope cannot be used: ENOENT");
    await expect(openDataFolder("/proc/nope/deeper")).rejects.toThrow("ENOENT");
  });

  it("does not touch a file that has the name of the folder, and says so", async () => {
    const path = join(folder, "file");
    await writeFile(path, "precious", { mode: 0o644 });
    await expect(openDataFolder(path)).rejects.toThrow(
      `the folder ${path} cannot be used: it is a file; choose another folder`,
    );
    await expect(openDataFolder(join(path, "inside"))).rejects.toThrow("ENOTDIR");
    expect((await stat(path)).mode & 0o777).toBe(0o644);
  });
});

describe("findDataFolder", () => {
  it("creates nothing for a mistyped name, and says what to do", async () => {
    await expect(findDataFolder(join(folder, "misstyped"))).rejects.toThrow(
      /there is no folder .*misstyped; give the folder of/,
    );
    expect(await readdir(folder)).toEqual([]);
    await findDataFolder(folder);
  });
});

describe("findDatabase", () => {
  it("does not touch a folder without the database, and says what to do", async () => {
    await chmod(folder, 0o755);
    const file = join(folder, "records.sqlite");
    await expect(findDatabase(file)).rejects.toThrow(
      `no records.sqlite in the folder ${folder}; give the folder of the service`,
    );
    expect([await readdir(folder), (await stat(folder)).mode & 0o777]).toEqual([[], 0o755]);
    await expect(findDatabase(join(folder, "mistyped", "x"))).rejects.toThrow(/there is no folder .*mistyped; give/);
    await writeFile(file, "");
    await expect(findDatabase(join(file, "x"))).rejects.toThrow("it is a file");
    await findDatabase(file);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });
});

describe("replaceFile", () => {
  it("replaces the content and leaves nothing else behind", async () => {
    const path = join(folder, "secret");
    await replaceFile(path, "one");
    await replaceFile(path, "two");
    expect(await readFileIfThere(path)).toBe("two");
    expect(await readdir(folder)).toEqual(["secret"]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("leaves the old content and no draft when it fails", async () => {
    const path = join(folder, "a-folder");
    await openDataFolder(join(path, "inside"));
    await expect(replaceFile(path, "text")).rejects.toThrow();
    expect(await readdir(folder)).toEqual(["a-folder"]);
  });
});

describe("readFileIfThere", () => {
  it("returns undefined for a missing file, and an error for one that cannot be read", async () => {
    expect(await readFileIfThere(join(folder, "none"))).toBeUndefined();
    await expect(readFileIfThere(folder)).rejects.toThrow("EISDIR");
  });
});

it("replaceKeeping keeps the mode of a file, and its owner where root writes the file of another user", async () => {
  const file = join(folder, "moor.yaml");
  await writeFile(file, "old");
  await chmod(file, 0o664);
  if (process.getuid?.() === 0) await chown(file, 4_321, 4_322);
  const { uid, gid } = await stat(file);
  const stop = new Error("stop");
  const stopped = replaceKeeping(file, "new", () => {
    throw stop;
  });
  await expect(stopped).rejects.toBe(stop);
  expect(await readFileIfThere(file)).toBe("old");
  await replaceKeeping(file, "new", () => undefined);
  const after = await stat(file);
  expect([after.mode & 0o777, after.uid, after.gid, await readFileIfThere(file)]).toEqual([0o664, uid, gid, "new"]);
  expect(await readdir(folder)).toEqual(["moor.yaml"]);
});

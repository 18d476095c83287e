import { basename } from "node:path";

/** What is wrong with a file that was to be read or written, in words; undefined for any other error. */
export function fileTrouble(error: unknown): string | undefined {
  const { code = "", path } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  const because = causes[code];
  if (path === undefined || because === undefined) return undefined;
  return `${path} ${because}${basename(path) === "-" && code === "ENOENT" ? notStandardInput : ""}`;
}

const causes: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  ENOTDIR: "does not exist: a part of the path is a file",
  EISDIR: "is a folder; give a file",
  EACCES: "cannot be opened: permission denied; run the command as a user who may",
  EPERM: "cannot be changed: permission denied; run the command as a user who may",
  EROFS: "cannot be written: its file system is read-only",
};

const notStandardInput = "; - does not mean standard input here, give the path of a file";

import { readFile } from "node:fs/promises";
import { linkTarget, replaceFile, swapFile } from "../../process/data-folder.ts";
import { fingerprintOf } from "../config/watch-files.ts";

/** How the file is written: `lasting` survives a power cut; after `quick`, the old content may come back. */
export type Durability = "lasting" | "quick";

export type StateDisk = Record<Durability, (path: string, text: string) => Promise<void>>;

export const realDisk: StateDisk = { lasting: replaceFile, quick: swapFile };

/** The file when it was last read or written here. */
export type SeenFile = { readonly fingerprint: string; readonly text: string };

/** A text file that other processes may write too. */
export class SharedFile {
  readonly #path: string;
  readonly #disk: StateDisk;
  #seen: SeenFile;

  constructor(path: string, disk: StateDisk, seen: SeenFile) {
    this.#path = path;
    this.#disk = disk;
    this.#seen = seen;
  }

  async write(text: string, durability: Durability): Promise<void> {
    await this.#disk[durability](linkTarget(this.#path), text);
    this.#seen = { fingerprint: fingerprintOf(this.#path), text };
  }

  /** Undefined unless another process has changed the text; empty if the file cannot be read. */
  async readIfChanged(): Promise<string | undefined> {
    const fingerprint = fingerprintOf(this.#path);
    if (fingerprint === this.#seen.fingerprint) return undefined;
    const before = this.#seen.text;
    this.#seen = { fingerprint, text: await readFile(this.#path, "utf8").catch(() => "") };
    // Only the metadata changed: restored from a backup, touched, or on a file system that renumbers its inodes.
    return this.#seen.text === before ? undefined : this.#seen.text;
  }
}

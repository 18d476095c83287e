import { join } from "node:path";
import { readFileIfThere, swapFile } from "../process/data-folder.ts";
import { type EndWork, runPeriodically } from "../process/duties.ts";
import type { Logger } from "../process/log.ts";

/** Zones that are remembered. */
const most = 2_000;
/** Milliseconds between two looks at whether the file is still true. */
const pause = 60_000;

/** The zones that were asked for lately, remembered across restarts: the next process loads them before it is ready. */
export class AskedZones {
  readonly #file: string;
  /** In the order in which they were asked for. */
  readonly #names: Set<string>;
  readonly #end: EndWork;
  #isNew = false;

  private constructor(file: string, names: readonly string[], log: Logger) {
    this.#file = file;
    this.#names = new Set(names);
    const fail = (error: unknown) =>
      log.warn({ err: error, file }, "the zones that are asked for cannot be noted; after a restart they load later");
    this.#end = runPeriodically(() => this.#write(), pause, fail);
  }

  static async open(folder: string, log: Logger): Promise<AskedZones> {
    const file = join(folder, "records-asked-zones");
    const text = (await readFileIfThere(file)) ?? "";
    return new AskedZones(file, text.split("\n").filter(Boolean), log);
  }

  note(zone: string): void {
    this.#isNew ||= !this.#names.has(zone);
    this.#names.delete(zone);
    this.#names.add(zone);
    if (this.#names.size > most) for (const oldest of this.#names.values().take(1)) this.#names.delete(oldest);
  }

  /** The latest first. */
  latest(): readonly string[] {
    return [...this.#names].reverse();
  }

  async close(): Promise<void> {
    await this.#end();
    await this.#write();
  }

  async #write(): Promise<void> {
    if (!this.#isNew) return;
    this.#isNew = false;
    await swapFile(this.#file, [...this.#names].map((name) => `${name}\n`).join(""));
  }
}

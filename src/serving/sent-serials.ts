import { closeSync, fdatasync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { compareSerials } from "../core/records/serial.ts";
import { readFileIfThere, swapFile } from "../process/data-folder.ts";
import { type EndWork, runPeriodically } from "../process/duties.ts";
import type { Logger } from "../process/log.ts";
import type { LeftPlace, LogPlace } from "../records/model.ts";

export type SentSerialsOptions = {
  /** The data folder of this node. */
  readonly folder: string;
  readonly log: Logger;
};

/** A mark is noted this far ahead, so that few changes of a zone write to the file. */
const [serialsAhead, positionsAhead] = [100, 10_000];
const space = 2 ** 32;
/** Milliseconds between two notes of the place in the log. */
const pause = 1_000;

/**
 * Remembers across restarts what this node has sent out: for each zone a serial that it has not reached yet, for the
 * log a position, and the place in the log that it has followed. A mark is in the file before anything beyond the last
 * one is sent.
 */
export class SentSerials {
  /** Where the node was when it last stopped; undefined if it starts for the first time. */
  readonly left: LeftPlace | undefined;
  readonly #options: SentSerialsOptions;
  readonly #marks: Map<string, number>;
  readonly #file: number;
  #position: number;
  #noted: LogPlace | undefined;
  #timeline = "";
  #end: EndWork | undefined;
  #place: () => LogPlace | undefined = () => undefined;
  #isFailing = false;

  private constructor(options: SentSerialsOptions, before: Before) {
    this.#options = options;
    [this.left, this.#marks, this.#position] = [before.left, before.marks, before.position];
    this.#file = openSync(marksFile(options.folder), "a", 0o600);
  }

  static async open(options: SentSerialsOptions): Promise<SentSerials> {
    const [marks, left] = await Promise.all(
      [marksFile, placeFile].map((file) => readFileIfThere(file(options.folder))),
    );
    const before = { ...readMarks(marks ?? ""), left: readLeft(left) };
    // One line per zone again.
    const lines = [...before.marks].map(([zone, mark]) => lineOf(mark, zone));
    await swapFile(marksFile(options.folder), [lineOf(before.position, ""), ...lines].join(""));
    return new SentSerials(options, before);
  }

  /** No position up to this one may be used for something else. */
  position(): number {
    return this.#position;
  }

  /** Zones that were sent, and serials above all that were. */
  marks(): Iterable<readonly [zone: string, mark: number]> {
    return this.#marks;
  }

  note(zone: string, serial: number): void {
    const mark = this.#marks.get(zone);
    if (mark !== undefined && compareSerials(serial, mark) === -1) return;
    const next = (serial + serialsAhead) % space;
    this.#marks.set(zone, next);
    this.#write(lineOf(next, zone));
  }

  notePosition(position: number): void {
    if (position < this.#position) return;
    this.#position = position + positionsAhead;
    this.#write(lineOf(this.#position, ""));
  }

  /** Notes the place from now on. `timeline` is the database's. */
  follow(place: () => LogPlace, timeline: () => Promise<string>): void {
    this.#place = place;
    let [next, isKnown] = [0, false];
    const note = async () => {
      if (!isKnown || performance.now() >= next) {
        this.#timeline = await timeline();
        [next, isKnown] = [performance.now() + 60 * pause, true];
      }
      await this.#notePlace(false);
    };
    this.#end = runPeriodically(note, pause, (error) => this.#fail(error));
  }

  async close(): Promise<void> {
    await this.#end?.();
    await this.#notePlace(true).catch((error: unknown) => this.#fail(error));
    closeSync(this.#file);
  }

  async #notePlace(isLast: boolean): Promise<void> {
    const place = this.#place();
    if (place === undefined || (place === this.#noted && !isLast)) return;
    await promisify(fdatasync)(this.#file);
    const left: LeftPlace = { ...place, timeline: this.#timeline, isLast };
    await swapFile(placeFile(this.#options.folder), JSON.stringify(left));
    this.#noted = place;
    this.#isFailing = false;
  }

  /** Immediately: a process that is killed then has not sent what is not in the file. */
  #write(line: string): void {
    try {
      writeSync(this.#file, line);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#options.log.warn(
      { err: error },
      "the serials that were sent out cannot be noted in the data folder; if the database loses changes while this node is down, serials may go back",
    );
  }
}

const marksFile = (folder: string): string => join(folder, "records-sent-serials");
const placeFile = (folder: string): string => join(folder, "records-log-place.json");

/** The line without a zone has the position. */
const lineOf = (mark: number, zone: string): string => `${mark} ${zone}\n`;

type Before = { readonly marks: Map<string, number>; readonly position: number; readonly left: LeftPlace | undefined };

function readMarks(text: string): Pick<Before, "marks" | "position"> {
  const marks = new Map<string, number>();
  let position = 0;
  for (const line of text.split("\n")) {
    const [, mark, zone] = /^(\d+) (.*)$/.exec(line) ?? [];
    if (zone === "") position = Math.max(position, Number(mark));
    else if (zone !== undefined) marks.set(zone, Number(mark));
  }
  return { marks, position };
}

/** A file that was damaged is one that knows nothing. */
function readLeft(text: string | undefined): LeftPlace | undefined {
  try {
    const { position, link, timeline, isLast } = JSON.parse(text ?? "null") as Partial<LeftPlace>;
    const isWhole = Number.isSafeInteger(position) && typeof link === "string" && typeof timeline === "string";
    return isWhole ? ({ position, link, timeline, isLast: isLast === true } as LeftPlace) : undefined;
  } catch {
    return undefined;
  }
}

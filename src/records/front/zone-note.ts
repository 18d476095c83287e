import type { Instant } from "../../core/instant.ts";
import type { Logger } from "../../process/log.ts";
import type { PublishedZone } from "../model.ts";
import type { RecordStore } from "../store/port.ts";

export type NoteOptions = {
  readonly store: Pick<RecordStore, "notePublishedZone">;
  readonly now: () => Instant;
  readonly log: Logger;
  /** The end of the log that was passed on. */
  readonly position: () => number;
  /** Something about the sets of the zone was stored. */
  readonly changed: (zone: number) => void;
};

/** What is noted about a published zone as a whole: in the store, and here as it was last written. */
export class ZoneNote {
  readonly #zone: number;
  readonly #options: NoteOptions;
  #note: PublishedZone;

  constructor(zone: number, note: PublishedZone, options: NoteOptions) {
    [this.#zone, this.#note, this.#options] = [zone, note, options];
  }

  get ttl(): number | undefined {
    return this.#note.ttl;
  }

  get readAt(): Instant {
    return this.#note.readAt;
  }

  /** As it was read from the store. A read of the zone that is due stays due. */
  renew(note: PublishedZone): void {
    this.#note = { ...note, readAt: Math.min(note.readAt, this.#note.readAt) };
  }

  async save(part: Partial<PublishedZone>): Promise<void> {
    await this.#options.store.notePublishedZone(this.#zone, part);
    this.#note = { ...this.#note, ...part };
  }

  /** Why nothing can be sent; undefined if it can. */
  async trouble(text: string | undefined): Promise<void> {
    const { trouble } = this.#note;
    if (trouble?.text === text) return;
    const { now, log } = this.#options;
    await this.save({ trouble: text === undefined ? undefined : { text, since: trouble?.since ?? now() } });
    if (text !== undefined) log.warn({ zone: this.#zone, because: text }, "changes wait for the provider");
    else log.info({ zone: this.#zone }, "the provider accepts changes again");
  }

  async saveWaiting(waiting: number): Promise<void> {
    const note = { waiting, through: this.#options.position() };
    if (note.waiting === this.#note.waiting && note.through === this.#note.through) return;
    await this.save(note);
    this.#options.changed(this.#zone);
  }
}

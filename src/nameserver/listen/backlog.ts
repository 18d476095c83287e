/** Datagrams that libuv reads in one pass of the event loop, if so many have arrived. */
const fullRead = 32;
/** Milliseconds of full passes after which queries count as arriving faster than they can be answered. */
const longBacklog = 10;
/** Milliseconds of a pass in which answers are then still made. */
const timeToMake = 1;

export type BacklogTools = { readonly clock: () => number; readonly atEndOfPass: (end: () => void) => void };

const realTools: BacklogTools = { clock: () => performance.now(), atEndOfPass: (end) => void setImmediate(end) };

/**
 * Whether queries arrive faster than they can be answered. They wait in the kernel, which drops the newest when its
 * buffer is full, so that every client would wait as long as the whole buffer takes. While the backlog is long, answers
 * at hand are still given, but others are made only in a part of each pass, and the rest of the queries is dropped:
 * whoever asks for what is expensive does not delay the others.
 */
export class Backlog {
  readonly #tools: BacklogTools;
  /** When the first of the full passes began. */
  #since: number | undefined;
  #startOfPass = 0;
  #inPass = 0;
  #spent = 0;

  constructor(tools: BacklogTools = realTools) {
    this.#tools = tools;
  }

  arrived(): void {
    this.#inPass += 1;
    if (this.#inPass > 1) return;
    this.#startOfPass = this.#tools.clock();
    this.#tools.atEndOfPass(this.#endPass);
  }

  isLong(): boolean {
    return this.#since !== undefined && this.#startOfPass - this.#since >= longBacklog;
  }

  hasTime(): boolean {
    return this.#spent < timeToMake;
  }

  /** Makes an answer, and counts its time if the backlog is long. */
  timed<T>(make: () => T): T {
    if (!this.isLong()) return make();
    const start = this.#tools.clock();
    const made = make();
    this.#spent += this.#tools.clock() - start;
    return made;
  }

  readonly #endPass = (): void => {
    this.#since = this.#inPass < fullRead ? undefined : (this.#since ?? this.#startOfPass);
    this.#inPass = 0;
    this.#spent = 0;
  };
}

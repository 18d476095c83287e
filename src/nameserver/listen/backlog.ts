/** Datagrams that libuv reads in one turn of the event loop, if so many have arrived. */
const fullRead = 32;
/** Milliseconds of full turns after which queries count as arriving faster than they can be answered. */
const longBacklog = 10;
/** Milliseconds of a turn in which answers are then still made. */
const timeToMake = 1;

export type BacklogTools = { readonly clock: () => number; readonly atEndOfTurn: (end: () => void) => void };

const realTools: BacklogTools = { clock: () => performance.now(), atEndOfTurn: (end) => void setImmediate(end) };

/**
 * Whether queries arrive faster than they can be answered. They wait in the kernel, which drops the newest when its
 * buffer is full, so that every client would wait as long as the whole buffer takes. While the backlog is long, answers
 * at hand are still given, but others are made only in a part of each turn, and the rest of the queries is dropped:
 * whoever asks for what is expensive does not delay the others.
 */
export class Backlog {
  readonly #tools: BacklogTools;
  /** When the first of the full turns began. */
  #since: number | undefined;
  #startOfTurn = 0;
  #inTurn = 0;
  #spent = 0;

  constructor(tools: BacklogTools = realTools) {
    this.#tools = tools;
  }

  arrived(): void {
    this.#inTurn += 1;
    if (this.#inTurn > 1) return;
    this.#startOfTurn = this.#tools.clock();
    this.#tools.atEndOfTurn(this.#endTurn);
  }

  isLong(): boolean {
    return this.#since !== undefined && this.#startOfTurn - this.#since >= longBacklog;
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

  readonly #endTurn = (): void => {
    this.#since = this.#inTurn < fullRead ? undefined : (this.#since ?? this.#startOfTurn);
    this.#inTurn = 0;
    this.#spent = 0;
  };
}

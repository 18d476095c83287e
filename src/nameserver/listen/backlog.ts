/** Datagrams that libuv reads in one pass of the event loop, if so many have arrived. */
export const fullRead = 32;
/** Milliseconds of full passes after which queries may be arriving faster than they can be answered. */
const longBacklog = 10;
/** Milliseconds of a full pass in which deferred answers are made. */
const timeToMake = 1;
/** Milliseconds that a query may be deferred while more arrive than can be answered. */
const mostDeferral = 50;

export type BacklogTools = { readonly clock: () => number; readonly atEndOfPass: (end: () => void) => void };

/** A pass of the event loop of this thread. */
export const passOfLoop: BacklogTools = {
  clock: () => performance.now(),
  atEndOfPass: (end) => void setImmediate(end),
};

export type DeferredQuery = { readonly answer: () => void; readonly drop: () => void };

/**
 * Whether queries arrive faster than they can be answered. They wait in the kernel, which drops the newest when its
 * buffer is full, so that every client would wait as long as the whole buffer takes. Only a pass that reads without
 * answering shows how many wait: a client that sends its next query after each reply fills a pass too. So while the
 * backlog may be long, only answers at hand are given, and all other queries are deferred to the end of the pass. After
 * `mostDeferral`, they are dropped, so that expensive queries do not delay the others.
 */
export class Backlog {
  readonly #tools: BacklogTools;
  /** When the first of the full passes began. */
  #since: number | undefined;
  #startOfPass = 0;
  #inPass = 0;
  #isScheduled = false;
  #deferred: { readonly query: DeferredQuery; readonly since: number }[] = [];

  constructor(tools: BacklogTools) {
    this.#tools = tools;
  }

  arrived(): void {
    this.#inPass += 1;
    if (this.#inPass === 1) this.#startOfPass = this.#tools.clock();
    this.#scheduleEnd();
  }

  mayBeLong(): boolean {
    return this.#since !== undefined && this.#startOfPass - this.#since >= longBacklog;
  }

  defer(query: DeferredQuery): void {
    this.#deferred.push({ query, since: this.#startOfPass });
  }

  close(): void {
    this.#deferred = [];
  }

  #scheduleEnd(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#tools.atEndOfPass(this.#endPass);
  }

  readonly #endPass = (): void => {
    this.#isScheduled = false;
    const isFull = this.#inPass >= fullRead;
    this.#since = isFull ? (this.#since ?? this.#startOfPass) : undefined;
    this.#inPass = 0;
    if (this.#deferred.length === 0) return;
    this.#answerFor(isFull ? timeToMake : longBacklog);
    if (isFull) this.#dropOld();
    if (this.#deferred.length > 0) this.#scheduleEnd();
  };

  #answerFor(time: number): void {
    const end = this.#tools.clock() + time;
    let answered = 0;
    do this.#deferred[answered++]?.query.answer();
    while (answered < this.#deferred.length && this.#tools.clock() < end);
    this.#deferred.splice(0, answered);
  }

  #dropOld(): void {
    const oldest = this.#tools.clock() - mostDeferral;
    const kept = this.#deferred.findIndex(({ since }) => since >= oldest);
    for (const { query } of this.#deferred.splice(0, kept < 0 ? this.#deferred.length : kept)) query.drop();
  }
}

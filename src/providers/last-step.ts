import { noZone } from "./answers/service-answer.ts";
import type { ServiceFault } from "./answers/service-fault.ts";
import { unknown, type WriteAnswer } from "./answers/write-answer.ts";

type Send = (zone: string, signal: AbortSignal) => Promise<WriteAnswer<unknown>>;

/**
 * The call that applies or publishes a write, at services whose nameservers keep the old records until then. What a
 * read of the service shows is not yet served: a write is done when this step is confirmed, and a retry repeats it even
 * if the record is already right.
 */
export class LastStep {
  readonly #service: string;
  readonly #send: Send;
  /** Zones with a write after which the step is not confirmed yet, and the number of the latest such write. */
  readonly #open = new Map<string, number>();
  #writes = 0;

  constructor(service: string, send: Send) {
    this.#service = service;
    this.#send = send;
  }

  isOpen(zone: string): boolean {
    return this.#open.has(zone);
  }

  /** A write, and this step after it. */
  async after<T>(zone: string, write: () => Promise<WriteAnswer<T>>, signal: AbortSignal): Promise<WriteAnswer<T>> {
    const before = this.#open.get(zone);
    // Before the write, because its answer may be lost.
    const begun = this.#begin(zone);
    const written = await write();
    if (written.kind === "refused" && before === undefined) this.#end(zone, begun);
    const isDone = written.kind === "accepted" || (written.kind === "unknown" && written.probablyDone);
    const fault = isDone ? await this.confirm(zone, signal) : undefined;
    return fault ? unknown(fault) : written;
  }

  /** Undefined if it is confirmed. */
  async confirm(zone: string, signal: AbortSignal): Promise<ServiceFault | undefined> {
    const begun = this.#open.get(zone) ?? this.#begin(zone);
    const answer = await this.#send(zone, signal);
    if (answer.kind === "accepted") {
      this.#end(zone, begun);
      return undefined;
    }
    const fault = answer.kind === "unknown" ? answer.fault : answer.because;
    return { ...(fault.kind === "absent" ? noZone(zone, this.#service) : fault), afterWrite: true };
  }

  #begin(zone: string): number {
    this.#writes += 1;
    this.#open.set(zone, this.#writes);
    return this.#writes;
  }

  /** Unless another write began in the meantime: it may be missing from what was published. */
  #end(zone: string, begun: number): void {
    if (this.#open.get(zone) === begun) this.#open.delete(zone);
  }
}

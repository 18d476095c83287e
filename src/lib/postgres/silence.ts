import type { Socket } from "node:net";
import type { Client } from "pg";

export type SilenceOptions = {
  /** Called again and again while the server is silent. */
  readonly onSilence: () => void;
  /** Milliseconds without a byte from the server. */
  readonly limit?: number;
  readonly now?: () => number;
};

/** Milliseconds. */
const checkEvery = 250;
const usualLimit = 2_500;

/**
 * Notices a server whose packets no longer arrive, and that closes no connection. One of the watched clients must ask
 * it something every second, as `LISTEN` does (`session.ts`): so however long a query takes, a server that is there is
 * heard. Counts bytes now and then, which costs queries nothing.
 */
export class Silence {
  readonly #options: SilenceOptions;
  readonly #now: () => number;
  readonly #clients = new Map<Client, number>();
  readonly #timer: NodeJS.Timeout;
  #checkedAt: number;
  #heard: number;
  #isSilent = false;

  constructor(options: SilenceOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#checkedAt = this.#heard = this.#now();
    this.#timer = setInterval(() => this.check(), checkEvery).unref();
  }

  watch(client: Client): void {
    this.#clients.set(client, 0);
    client.once("end", () => {
      this.#listen(client);
      this.#clients.delete(client);
    });
  }

  check(): void {
    const now = this.#now();
    // This process was stopped or busy: what arrived meanwhile has not been read yet.
    const wasPaused = now - this.#checkedAt > 2 * checkEvery;
    if (wasPaused) this.#heard += now - this.#checkedAt - checkEvery;
    this.#checkedAt = now;
    for (const client of this.#clients.keys()) this.#listen(client);
    this.#isSilent = !wasPaused && now - this.#heard > (this.#options.limit ?? usualLimit);
    if (this.#isSilent) this.#options.onSilence();
  }

  isSilent(): boolean {
    return this.#isSilent;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #listen(client: Client): void {
    const { bytesRead } = client.connection.stream as Socket;
    if (bytesRead === this.#clients.get(client)) return;
    this.#clients.set(client, bytesRead);
    this.#heard = this.#now();
  }
}

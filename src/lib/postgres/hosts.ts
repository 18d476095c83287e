import type { Client, ClientConfig } from "pg";
import { PostgresClient, type ServerCheck } from "./client.ts";
import type { PostgresAddress } from "./url.ts";

/** Which of several hosts the next connection is made to: the one that worked last, or the one after it if it failed. */
export class PostgresHosts {
  readonly #configs: readonly ClientConfig[];
  readonly #address: PostgresAddress;
  #next = 0;

  constructor(address: PostgresAddress) {
    this.#configs = [address.config, ...address.others];
    this.#address = address;
  }

  /** What the next client is made with. A host that does not answer must not use up the time for the others. */
  next(ours: ClientConfig): readonly [ClientConfig, ServerCheck] {
    const config = this.#current();
    const { session } = this.#address;
    const failed = () => {
      if (config === this.#current()) this.#next += 1;
    };
    const options = [ours.options, config.options].filter((each) => each !== undefined).join(" ");
    const limit = ours.connectionTimeoutMillis ?? perHost;
    const connectionTimeoutMillis = this.#configs.length > 1 ? Math.min(limit, perHost) : limit;
    return [
      { ...ours, ...config, connectionTimeoutMillis, ...(options && { options }) },
      { session, failed },
    ];
  }

  /** Tries each host once. When the signal aborts, a pending query fails with its reason. */
  async connect(options: ClientConfig, signal?: AbortSignal): Promise<Client> {
    for (let left = this.#configs.length; ; left--) {
      const client = new PostgresClient(...this.next(options));
      signal?.addEventListener("abort", () => client.connection.stream.destroy(signal.reason), { once: true });
      try {
        return await client.connect();
      } catch (error) {
        if (left <= 1 || signal?.aborted) throw error;
      }
    }
  }

  #current(): ClientConfig {
    return this.#configs[this.#next % this.#configs.length] ?? this.#address.config;
  }
}

/** Milliseconds. */
const perHost = 2_000;

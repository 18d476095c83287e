import type { IncomingHttpHeaders } from "node:http";
import type { Instant } from "../core/instant.ts";
import { roomAgainAt } from "./answers/quota.ts";
import type { ProviderRules } from "./provider-calls.ts";

/**
 * The requests that the provider allows one token, over all zones: what its documentation says, what its answers say is
 * left, and how long it asked us to wait.
 */
export class Budget {
  #limit: ProviderRules["budget"];
  readonly #now: () => Instant;
  /** Requests that may be sent now, and when that was computed. */
  #left = 0;
  #at: Instant;
  /** By zone; the empty name is for all of them. */
  readonly #closedUntil = new Map<string, Instant>();

  constructor(now: () => Instant) {
    this.#now = now;
    this.#at = now();
  }

  /** What the documentation of the provider allows. Only the first call counts: others share what is left. */
  allow(limit: ProviderRules["budget"]): void {
    if (this.#limit) return;
    this.#limit = limit;
    this.#left = limit?.requests ?? 0;
  }

  /** For a new token: nothing is used up, and nobody asked to wait. */
  renew(): void {
    this.#closedUntil.clear();
    this.#left = this.#limit?.requests ?? 0;
  }

  /** Milliseconds until a request may be sent for this zone. */
  wait(zone = ""): number {
    const now = this.#now();
    this.#refill(now);
    const perRequest = this.#limit ? (this.#limit.seconds * 1000) / this.#limit.requests : 0;
    const empty = this.#limit && this.#left < 1 ? Math.ceil((1 - this.#left) * perRequest) : 0;
    return Math.max(0, ...["", zone].map((each) => (this.#closedUntil.get(each) ?? 0) - now), empty);
  }

  /** One request was answered. */
  noteAnswer(headers: IncomingHttpHeaders): void {
    const now = this.#now();
    this.#refill(now);
    this.#left -= 1;
    this.close((roomAgainAt(headers, now) ?? now) - now);
  }

  /** No requests for that many milliseconds. */
  close(milliseconds: number, zone = ""): void {
    this.#closedUntil.set(zone, Math.max(this.#closedUntil.get(zone) ?? 0, this.#now() + milliseconds));
  }

  #refill(now: Instant): void {
    if (!this.#limit) return;
    const { requests, seconds } = this.#limit;
    this.#left = Math.min(requests, this.#left + (Math.max(0, now - this.#at) * requests) / (seconds * 1000));
    this.#at = now;
  }
}

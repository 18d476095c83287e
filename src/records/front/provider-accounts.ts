import type { Instant } from "../../core/instant.ts";
import type { PublicationRules } from "../../core/provider-rules.ts";
import { RetryDelay } from "../../core/updates/back-off.ts";
import { KeyedSemaphore } from "../../lib/limits/semaphore.ts";
import { mapFound } from "../../providers/answers/list-in.ts";
import type { Lookup } from "../../providers/answers/service-fault.ts";
import type { Provider } from "../../providers/provider.ts";
import type { ListedZone } from "../../providers/provider-calls.ts";
import type { StoredProvider } from "../model.ts";
import type { Signer } from "../signing/signer.ts";
import type { RecordStore } from "../store/port.ts";
import { openAccount, type TokenBudgets, tokenOf } from "./open-accounts.ts";

/** Zones of one token that are worked on at the same time. */
const mostZones = 4;
/** Milliseconds between two tries while a provider, its token or a zone there does not work. */
export const troubleDelays = { shortest: 500, longest: 30_000 };
/** Milliseconds for which a list of zones is used again. */
const listUsed = 60_000;

type Options = {
  readonly store: Pick<RecordStore, "providers">;
  readonly signer: Pick<Signer, "decryptText">;
  readonly now: () => Instant;
  readonly random: () => number;
  readonly budgets?: TokenBudgets | undefined;
  /** A provider works again that did not: zones that wait for it need not wait longer. */
  readonly recovered?: () => void;
};

type Clock = Pick<Options, "now" | "random" | "recovered">;

/** The opened providers, one per token. */
export class ProviderAccounts {
  readonly #options: Options;
  readonly #opened = new Map<number, OpenedAccount>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** With the current token; undefined if the account does not exist any more. */
  async get(id: number): Promise<OpenedAccount | undefined> {
    const account = (await this.#options.store.providers()).find((each) => each.id === id);
    if (account === undefined) return undefined;
    const opened = this.#opened.get(id);
    if (opened === undefined) return await this.#open(account);
    opened.renew(account, this.#options);
    return opened;
  }

  /** Whether one of them has a new token since the last call. */
  async hasNewToken(): Promise<boolean> {
    if (this.#opened.size === 0) return false;
    const opened = (await this.#options.store.providers()).flatMap((account) => {
      const known = this.#opened.get(account.id);
      return known ? [{ account, known }] : [];
    });
    for (const { account, known } of opened) known.renew(account, this.#options);
    const renewed = opened.filter(({ account, known }) => known.announced !== account.replaced);
    for (const { account, known } of renewed) known.announced = account.replaced;
    return renewed.length > 0;
  }

  close(): void {
    for (const { provider } of this.#opened.values()) provider.close();
    this.#opened.clear();
  }

  async #open(account: StoredProvider): Promise<OpenedAccount> {
    const { now, signer, budgets } = this.#options;
    const opened = new OpenedAccount(account, tokenOf(account, signer), this.#options);
    opened.provider = await openAccount(account, () => opened.token, { now, budget: budgets?.of(account) });
    const other = this.#opened.get(account.id);
    if (other) {
      opened.provider.close();
      return other;
    }
    this.#opened.set(account.id, opened);
    return opened;
  }
}

/** One token of a provider, and when it may be used again. */
export class OpenedAccount {
  provider!: Provider;
  readonly id: number;
  readonly name: string;
  token: string;
  /** When the token was stored. */
  replaced: Instant;
  /** That of the token that all zones know of. */
  announced: Instant;
  readonly #clock: Clock;
  readonly #zones = new KeyedSemaphore(mostZones);
  readonly #trouble = new RetryDelay(troubleDelays);
  #listed: { readonly at: Instant; readonly zones: ReadonlyMap<string, ListedZone> } | undefined;

  constructor({ id, name, replaced }: Pick<StoredProvider, "id" | "name" | "replaced">, token: string, clock: Clock) {
    [this.id, this.name, this.token, this.#clock] = [id, name, token, clock];
    [this.replaced, this.announced] = [replaced, replaced];
  }

  renew(account: StoredProvider, { signer, budgets }: Pick<Options, "signer" | "budgets">): void {
    if (account.replaced === this.replaced) return;
    budgets?.renew(account);
    [this.token, this.replaced] = [tokenOf(account, signer), account.replaced];
    this.#trouble.worked();
    this.#listed = undefined;
  }

  /** Milliseconds until a request may be sent for the zone. */
  wait(zone: string): number {
    return Math.max(this.provider.wait(zone), this.#trouble.wait(this.#clock.now()));
  }

  worked(): void {
    if (this.#trouble.worked()) this.#clock.recovered?.();
  }

  /** The provider, or its token, does not work at the moment. */
  failed(): void {
    const { now, random } = this.#clock;
    this.#trouble.failed(now(), random());
  }

  /** Runs the work when fewer than four zones of this token are worked on. */
  async withPermit<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const release = await this.#zones.acquire([], signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** The default TTL of a zone there; undefined if the provider has none. */
  async defaultTtl(zone: string, signal: AbortSignal): Promise<Lookup<number | undefined>> {
    const { zoneDefault, automatic } = this.provider.rules.ttl;
    if (!zoneDefault || automatic !== undefined) return { kind: "found", value: automatic };
    return mapFound(await this.#listedZone(zone, signal), (listed) => listed?.ttl);
  }

  /** What the provider takes in this zone. */
  async rules(zone: string, signal: AbortSignal): Promise<Lookup<PublicationRules>> {
    const { ttl, types, mostValues } = this.provider.rules;
    const rules = { lowestTtl: ttl.lowest, highestTtl: ttl.highest, types, mostValues };
    if (!ttl.byZone) return { kind: "found", value: rules };
    return mapFound(await this.#listedZone(zone, signal), (listed) => ({
      ...rules,
      lowestTtl: listed?.lowestTtl ?? ttl.lowest,
    }));
  }

  async #listedZone(zone: string, signal: AbortSignal): Promise<Lookup<ListedZone | undefined>> {
    const now = this.#clock.now();
    if (this.#listed === undefined || this.#listed.at + listUsed < now || !this.#listed.zones.has(zone)) {
      const found = await this.provider.zones(signal);
      if (found.kind !== "found") return found;
      this.#listed = { at: now, zones: new Map(found.value.map((each) => [each.name, each])) };
    }
    return { kind: "found", value: this.#listed.zones.get(zone) };
  }
}

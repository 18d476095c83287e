import { createHash, createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Instant } from "../../core/instant.ts";
import { isObject } from "../../core/is-object.ts";
import { backOffDelay } from "../../core/updates/back-off.ts";
import type { EndWork } from "../../process/duties.ts";
import type { Logger } from "../../process/log.ts";
import { changeToWire } from "../api/rrsets/wire.ts";
import type { LoggedChange } from "../model.ts";
import { plainIds } from "../queries/obfuscated-ids.ts";
import type { RecordStore } from "../store/port.ts";
import { concerns, type Webhook } from "./settings.ts";

export type DeliverOptions = {
  readonly store: Pick<RecordStore, "changesAfter" | "lastChange" | "onChange" | "findSecret" | "replaceSecret">;
  readonly log: Logger;
  readonly now: () => Instant;
  readonly random: () => number;
  /** Waits between two tries. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
};

const rowsAtOnce = 1_000;
/** Changes in one request. */
const changesAtOnce = 100;
const longestRequest = 15_000;
const backOff = { base: 1_000, cap: 300_000 };
/** How often the log is read without being told of a change: other nodes write too. */
const longestQuiet = 5_000;
/** Where the positions are kept. All nodes see them. */
const positionsName = "webhook-positions";

/**
 * Sends the changes of chosen names, in order, at least once: the position of a webhook moves only after its receiver
 * has accepted everything up to it, and it is stored in the database. Nothing is kept in memory: what was not sent is
 * still in the change log.
 */
export function deliverWebhooks(hooks: readonly Webhook[], options: DeliverOptions): EndWork {
  const ended = new AbortController();
  const positions = new Positions(options.store, hooks);
  const running = hooks.map((hook) => deliver(hook, positions, options, ended.signal));
  return async () => {
    ended.abort();
    await Promise.all(running);
  };
}

/**
 * Where the position of a webhook is stored: by its URL and names, and by its URL alone. Of webhooks with the same key,
 * the lowest position is stored; so one whose names were changed misses nothing. Earlier versions know the URL only.
 */
function keysOf({ url, names }: Webhook): readonly [own: string, ofUrl: string] {
  const ofUrl = shortHash(url.href);
  return [`${ofUrl}-${shortHash(names.toSorted().join(" "))}`, ofUrl];
}

const shortHash = (content: string): string => createHash("sha256").update(content).digest("hex").slice(0, 16);

async function deliver(
  hook: Webhook,
  positions: Positions,
  options: DeliverOptions,
  signal: AbortSignal,
): Promise<void> {
  const { store, log, random, pause = waitFor } = options;
  const about = hook.url.origin;
  const news = new News(store);
  let failures = 0;
  while (!signal.aborted) {
    try {
      const isIdle = await deliverNext(hook, positions, options, signal);
      if (failures > 0) log.info({ webhook: about }, "the webhook accepts changes again");
      failures = 0;
      if (isIdle) await news.wait(longestQuiet, signal);
    } catch (error) {
      if (signal.aborted) break;
      failures += 1;
      const because = error instanceof Error ? error.message : String(error);
      if (failures === 1)
        log.warn({ webhook: about, because }, "changes could not be sent to the webhook; trying again");
      await pause(backOffDelay(failures, random(), backOff), signal);
    }
  }
  news.close();
}

/** Returns whether the end of the log was reached. */
async function deliverNext(
  hook: Webhook,
  positions: Positions,
  { store, now }: DeliverOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const from = await positions.of(hook);
  const rows = await store.changesAfter(from, rowsAtOnce);
  const wanted = rows.filter((row) => concerns(hook, row)).slice(0, changesAtOnce);
  const isAll = wanted.length < changesAtOnce;
  const last = isAll ? rows.at(-1) : wanted.at(-1);
  if (last === undefined) return true;
  if (wanted.length > 0) await post(hook, wanted, now(), signal);
  await positions.moveTo(hook, last.position, wanted.length > 0);
  return isAll && rows.length < rowsAtOnce;
}

async function post(hook: Webhook, changes: readonly LoggedChange[], now: Instant, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify({ changes: changes.map((change) => changeToWire(change, plainIds)) });
  const answer = await fetch(hook.url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "user-agent": "moor",
      "moor-signature": signatureOf(hook, body, now),
    },
    body,
    redirect: "manual",
    signal: AbortSignal.any([signal, AbortSignal.timeout(longestRequest)]),
  }).catch((error: unknown) => {
    const { cause } = error as { cause?: NodeJS.ErrnoException };
    throw new Error(cause?.code ?? cause?.message ?? String(error), { cause: error });
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`it answered ${answer.status}`);
}

/**
 * `t=SECONDS,v1=HEX`: the HMAC-SHA256 of the time, a dot and the body. With the time, an old request cannot be sent
 * again.
 */
function signatureOf({ secret }: Pick<Webhook, "secret">, body: string, now: Instant): string {
  const time = Math.floor(now / 1_000);
  return `t=${time},v1=${createHmac("sha256", secret()).update(`${time}.${body}`).digest("hex")}`;
}

/** How far each webhook is. That of a new URL begins at the end of the log. */
class Positions {
  readonly #store: DeliverOptions["store"];
  readonly #hooks: readonly Webhook[];
  #all: Promise<Map<Webhook, number>> | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(store: DeliverOptions["store"], hooks: readonly Webhook[]) {
    this.#store = store;
    this.#hooks = hooks;
  }

  async of(hook: Webhook): Promise<number> {
    this.#all ??= this.#read();
    const all = await this.#all.catch((error: unknown) => {
      this.#all = undefined;
      throw error;
    });
    return all.get(hook) ?? 0;
  }

  /** Rows that concern nobody are read again after a restart: they are not worth a write. */
  async moveTo(hook: Webhook, position: number, isLasting: boolean): Promise<void> {
    const all = await this.#all;
    all?.set(hook, position);
    if (isLasting) await this.#save();
  }

  async #read(): Promise<Map<Webhook, number>> {
    const [text = "{}", end] = await Promise.all([this.#store.findSecret(positionsName), this.#store.lastChange()]);
    const parsed: unknown = JSON.parse(text);
    const stored = isObject(parsed) ? parsed : {};
    const positionOf = (hook: Webhook) =>
      keysOf(hook)
        .map((key) => stored[key])
        .find((position) => typeof position === "number") ?? end;
    // After a restored backup, the log may end before a position.
    const all = new Map(this.#hooks.map((hook) => [hook, Math.min(end, positionOf(hook))]));
    await this.#write(all);
    return all;
  }

  async #write(all: ReadonlyMap<Webhook, number>): Promise<void> {
    const lowest: Record<string, number> = {};
    for (const [hook, position] of all)
      for (const key of keysOf(hook)) lowest[key] = Math.min(position, lowest[key] ?? position);
    await this.#store.replaceSecret(positionsName, JSON.stringify(lowest));
  }

  /** One write at a time, each with the latest positions. */
  #save(): Promise<void> {
    const save = async () => {
      const all = await this.#all;
      if (all) await this.#write(all);
    };
    this.#saving = this.#saving.then(save, save);
    return this.#saving;
  }
}

/** Waits for a change of the store. */
class News {
  readonly #unfollow: () => void;
  #has = false;
  #wake: () => void = () => undefined;

  constructor(store: DeliverOptions["store"]) {
    this.#unfollow = store.onChange(() => {
      this.#has = true;
      this.#wake();
    });
  }

  async wait(longest: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    if (!this.#has) await Promise.race([promise, waitFor(longest, signal)]);
    this.#has = false;
  }

  close(): void {
    this.#unfollow();
  }
}

const waitFor = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);

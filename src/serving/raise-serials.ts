import { setTimeout as sleep } from "node:timers/promises";
import type { Instant } from "../core/instant.ts";
import { compareSerials } from "../core/records/serial.ts";
import { StoreBusy } from "../lib/limits/store-busy.ts";
import type { Logger } from "../process/log.ts";
import { raiseSerialRule } from "../records/commands/raise-serial.ts";
import type { LoggedRow, Zone } from "../records/model.ts";
import type { RecordStore } from "../records/store/port.ts";
import type { LostRows } from "./follow-log.ts";
import type { SentSerials } from "./sent-serials.ts";

export type RaiseOptions = {
  readonly store: Pick<RecordStore, "zoneNamed" | "everyZone" | "run">;
  readonly log: Logger;
  readonly now: () => Instant;
  /** What earlier runs of this node have sent. */
  readonly sent?: Pick<SentSerials, "note" | "marks"> | undefined;
};

type Sent = { readonly serial: number; readonly at: number };
/** `isChanged`: the zone has certainly or possibly lost changes; otherwise its serial shows whether it did. */
type Owed = { readonly serial: number; readonly isChanged: boolean };

/** Zones whose serials are remembered. */
const mostSent = 1_000_000;
const atOnce = 16;
/** Milliseconds until it is tried again. */
const pause = 1_000;

/**
 * After the store has lost changes, its serials are older than what was sent out, and may be given out a second time
 * for other content. So every zone that has lost changes gets a serial that is newer than everything sent out, before
 * it is answered from again. Each node does this for what it has sent; the zone's lock makes them agree.
 */
export class SerialRaiser {
  readonly #options: RaiseOptions;
  readonly #sent = new Map<string, Sent>();
  readonly #owed = new Map<string, Owed>();
  /** Zones that are not in the store any more, and may be created again. */
  readonly #missing = new Map<string, Owed>();
  readonly #raising = new Map<string, Promise<boolean>>();
  readonly #closing = new AbortController();
  #skipped: Promise<void> = Promise.resolve();
  #work: Promise<void> | undefined;
  #losses = 0;

  constructor(options: RaiseOptions) {
    this.#options = options;
  }

  /** How often the store has lost changes. */
  losses(): number {
    return this.#losses;
  }

  /** How many zones have yet to be checked or raised. */
  pending(): number {
    return this.#work === undefined ? 0 : Math.max(1, this.#owed.size);
  }

  noteSent(zone: string, serial: number): void {
    const before = this.#sent.get(zone);
    const isOlder = before !== undefined && compareSerials(serial, before.serial) === -1;
    this.#sent.set(zone, { serial: isOlder ? before.serial : serial, at: performance.now() });
    this.#options.sent?.note(zone, serial);
    if (this.#sent.size > mostSent) for (const [oldest] of this.#sent.entries().take(1)) this.#sent.delete(oldest);
  }

  noteRows(rows: readonly LoggedRow[]): void {
    for (const { zoneName, serial } of rows) {
      const sent = this.#sent.get(zoneName);
      if (sent && compareSerials(serial, sent.serial) === 1) {
        this.#sent.set(zoneName, { ...sent, serial });
        this.#options.sent?.note(zoneName, serial);
      }
      const owed = this.#missing.get(zoneName);
      if (owed === undefined) continue;
      this.#missing.delete(zoneName);
      this.#owed.set(zoneName, owed);
      this.#start();
    }
  }

  rolledBack({
    details,
    position,
    checked,
    history,
  }: Pick<LostRows, "details" | "position" | "checked" | "history">): void {
    this.#losses += 1;
    // What was sent before this run is in the part of the log that was found unchanged at the start.
    if (details === undefined)
      for (const [zone, mark] of this.#options.sent?.marks() ?? [])
        this.#owed.set(zone, { serial: mark, isChanged: true });
    for (const [zone, { serial, at }] of this.#sent)
      this.#owed.set(zone, { serial, isChanged: details === undefined || details.zones.has(zone) || at >= checked });
    // Positions are serials too, of the catalog, and readers of the event stream continue from them.
    this.#skipped = this.#skipped.then(() => this.#insist(() => history.skipTo(position)));
    this.#start(true);
  }

  /** Resolves when the zone may be loaded; undefined if it may be already. */
  ready(zone: string): Promise<unknown> | undefined {
    return this.#owed.has(zone) ? this.#raise(zone) : undefined;
  }

  /** Resolves when every zone may be loaded. */
  allReady(): Promise<void> | undefined {
    return this.#work;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#work;
  }

  #start(mustWrite = false): void {
    const work = (this.#work ?? Promise.resolve())
      .then(() => this.#raiseAll(mustWrite))
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted) this.#options.log.error({ err: error }, "serials could not be raised");
      })
      .finally(() => {
        if (this.#work === work) this.#work = undefined;
      });
    this.#work = work;
  }

  async #raiseAll(mustWrite: boolean): Promise<void> {
    const zones = [...this.#owed.keys()];
    let raised = 0;
    const next = async () => {
      for (let zone = zones.pop(); zone !== undefined; zone = zones.pop()) raised += Number(await this.#raise(zone));
    };
    await Promise.all(Array.from({ length: atOnce }, next));
    await this.#skipped;
    // One row makes the new positions visible.
    if (raised === 0 && mustWrite) await this.#insist(() => this.#raiseAny());
    if (raised > 0)
      this.#options.log.warn({ zones: raised }, "serials were raised, because the database has lost changes");
  }

  /** Whether it was raised here. */
  #raise(zone: string): Promise<boolean> {
    const underWay = this.#raising.get(zone);
    if (underWay) return underWay;
    const owed = this.#owed.get(zone);
    if (owed === undefined) return Promise.resolve(false);
    const raising = this.#skipped
      .then(() => this.#insist(() => this.#raiseOne(zone, owed)))
      .finally(() => this.#raising.delete(zone));
    this.#raising.set(zone, raising);
    return raising;
  }

  async #raiseOne(name: string, owed: Owed): Promise<boolean> {
    const { store } = this.#options;
    const zone = await store.zoneNamed(name);
    const isThere = zone !== undefined;
    // The serials of a secondary zone are its primary server's, and mean the same content in every history.
    const isOurs = isThere && zone.settings.mode === "primary";
    const isBehind = isOurs && (owed.isChanged || compareSerials(owed.serial, zone.serial) === 1);
    const isRaised = isBehind && (await this.#write(zone, owed.serial));
    if (!isThere) this.#missing.set(name, { ...owed, isChanged: true });
    if (this.#owed.get(name) === owed) this.#owed.delete(name);
    return isRaised;
  }

  async #raiseAny(): Promise<void> {
    const { store } = this.#options;
    for (const { name } of await store.everyZone(0, 100)) {
      const zone = await store.zoneNamed(name);
      if (zone?.settings.mode === "primary" && (await this.#write(zone, zone.serial))) return;
    }
  }

  async #write(zone: Zone, sent: number): Promise<boolean> {
    const { store, now } = this.#options;
    const command = { kind: "raise-serial", account: zone.account, zone: zone.id, sent, now: now() } as const;
    return (await store.run(command, raiseSerialRule)) ?? false;
  }

  /** Tries until it works or the node stops: a zone with an old serial must not be answered from. */
  async #insist<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await work();
      } catch (error) {
        if (this.#closing.signal.aborted) throw error;
        if (tries === 0 && !(error instanceof StoreBusy))
          this.#options.log.error({ err: error }, "a serial could not be raised; trying again every second");
      }
      await sleep(pause, undefined, { signal: this.#closing.signal, ref: false });
    }
  }
}

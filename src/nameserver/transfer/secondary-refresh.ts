import type { Instant } from "../../core/instant.ts";
import { compareSerials } from "../../core/records/serial.ts";
import type { SoaTimers } from "../../core/records/soa-timers.ts";
import { nameOf, type Peer } from "../../lib/dns/ask.ts";
import { askSerial, type Current, type Transferred, transferIn } from "./in.ts";
import type { TransferMemory } from "./memory.ts";

export type SecondaryZone = {
  readonly name: string;
  /** Its account: accounts take turns. */
  readonly account: number;
  readonly primaries: readonly Peer[];
  /** Why some of its primary servers are not asked. */
  readonly refused: readonly string[];
  /** The version that was transferred last; undefined when there is none. */
  readonly current: Current | undefined;
  readonly timers: SoaTimers | undefined;
  readonly checked: Instant | undefined;
};

export type NewContent = Exclude<Transferred, { kind: "same" | "older" }>;

export type RefreshPorts = {
  /** The current zone; undefined when it is not a secondary zone. */
  readonly secondaryZone: (zone: string) => Promise<SecondaryZone | undefined>;
  /** Stores the content. `does-not-fit`: the steps are for another version. Throws when the zone is invalid. */
  readonly store: (zone: string, content: NewContent) => Promise<"done" | "does-not-fit">;
  /** The primary has just reported this serial. */
  readonly checked: (zone: string, serial: number) => Promise<void>;
};

export type RefreshOutcome =
  | { readonly kind: "same" | "whole" | "steps"; readonly serial: number; readonly refresh: number }
  /** The primaries that answer have only older versions than the stored one. */
  | { readonly kind: "behind"; readonly serial: number; readonly refresh: number; readonly because: string }
  | { readonly kind: "failed"; readonly because: string };

/** Milliseconds to wait for the answer to a query, and for each message of a transfer. */
const questionLimit = 2_000;
const messageLimit = 20_000;
/** For the whole transfer of one zone. */
const transferLimit = 600_000;
const mostRecords = 1_000_000;
/** Memory for the records of one zone: roughly their text and a fixed overhead per record. */
const mostBytes = 128 * 1024 * 1024;

type RefreshContext = { readonly signal: AbortSignal; readonly now: () => Instant; readonly memory: TransferMemory };

/**
 * Asks the primaries in order until one has a newer version: the first may lag behind the others. One that does not
 * report its serial comes last, and only when no other has reported the stored serial or an older one.
 */
export async function refreshZone(
  zone: SecondaryZone,
  ports: RefreshPorts,
  waiting: RefreshContext,
): Promise<RefreshOutcome> {
  const reasons: string[] = [...zone.refused];
  const older: string[] = [];
  const silent: Peer[] = [];
  let same = false;
  const ended = async (serial: number) => {
    await ports.checked(zone.name, serial);
    const after = (await ports.secondaryZone(zone.name))?.timers ?? zone.timers;
    return { serial, refresh: after?.refresh ?? 3_600 };
  };
  const isOlder = (peer: Peer, serial: number) => older.push(`${nameOf(peer)} has serial ${serial}`);
  const fetch = async (peer: Peer, onOlder: (serial: number) => void): Promise<RefreshOutcome | undefined> => {
    try {
      const content = await transferIn(zone.name, peer, zone.current, limited(waiting));
      if (content.kind === "same") same = true;
      else if (content.kind === "older") onOlder(content.serial);
      else {
        await storeFrom(peer, zone, content, ports, waiting);
        return { kind: content.kind, ...(await ended(content.serial)) };
      }
    } catch (error) {
      reasons.push((error as Error).message);
    }
    return undefined;
  };
  for (const peer of zone.primaries) {
    if (waiting.signal.aborted) break;
    const check = await checkSerial(peer, zone, waiting);
    if (check.kind === "same") same = true;
    else if (check.kind === "older") isOlder(peer, check.serial);
    else if (check.kind === "silent") silent.push(peer);
    else {
      const outcome = await fetch(peer, (serial) =>
        reasons.push(`${nameOf(peer)}: it announces a newer version but sends serial ${serial}`),
      );
      if (outcome) return outcome;
    }
  }
  for (const peer of silent) {
    if (waiting.signal.aborted || same || older.length > 0) break;
    const outcome = await fetch(peer, (serial) => isOlder(peer, serial));
    if (outcome) return outcome;
  }
  const serial = zone.current?.serial ?? 0;
  if (same) return { kind: "same", ...(await ended(serial)) };
  if (older.length > 0) return { kind: "behind", because: older.join("; "), ...(await ended(serial)) };
  return { kind: "failed", because: reasons.join("; ") || "the zone has no primary server" };
}

type SerialCheck =
  | { readonly kind: "same" | "newer" }
  | { readonly kind: "older"; readonly serial: number }
  /** No answer to the SOA query: only a transfer can show which version it has. */
  | { readonly kind: "silent" };

async function checkSerial(
  peer: Peer,
  { name, current }: SecondaryZone,
  waiting: RefreshContext,
): Promise<SerialCheck> {
  if (current === undefined) return { kind: "newer" };
  const serial = await serialAt(peer, name, waiting);
  if (serial === undefined) return { kind: "silent" };
  if (serial === current.serial) return { kind: "same" };
  return compareSerials(serial, current.serial) === 1 ? { kind: "newer" } : { kind: "older", serial };
}

async function serialAt(peer: Peer, zone: string, waiting: RefreshContext): Promise<number | undefined> {
  try {
    return await askSerial(zone, peer, { ...waiting, limit: questionLimit });
  } catch {
    return undefined;
  }
}

async function storeFrom(
  peer: Peer,
  { name }: SecondaryZone,
  content: NewContent,
  ports: RefreshPorts,
  waiting: RefreshContext,
): Promise<void> {
  const store = (newContent: NewContent) => {
    waiting.memory.keep();
    return ports.store(name, newContent).catch((error: unknown) => {
      throw new Error(`${nameOf(peer)}: ${(error as Error).message}`, { cause: error });
    });
  };
  if ((await store(content)) === "done") return;
  const whole = await transferIn(name, peer, undefined, limited(waiting));
  if (whole.kind !== "whole" || (await store(whole)) !== "done") {
    throw new Error(`${nameOf(peer)}: the transfer does not match the stored zone`);
  }
}

const limited = ({ signal, now, memory }: RefreshContext) => ({
  signal: AbortSignal.any([signal, AbortSignal.timeout(transferLimit)]),
  now,
  memory,
  limit: messageLimit,
  mostRecords,
  mostBytes,
});

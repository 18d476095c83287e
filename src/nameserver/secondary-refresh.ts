import type { Instant } from "../core/instant.ts";
import { compareSerials } from "../core/serial.ts";
import type { Peer } from "./transfer-ask.ts";
import { askSerial, type Current, type Transferred, transferIn } from "./transfer-in.ts";

export type SecondaryZone = {
  readonly name: string;
  readonly primaries: readonly Peer[];
  /** What was transferred last; undefined when nothing has been. */
  readonly current: Current | undefined;
  /** Of the SOA, in seconds. */
  readonly timers: { readonly refresh: number; readonly retry: number; readonly expire: number } | undefined;
  readonly checked: Instant | undefined;
};

export type NewContent = Exclude<Transferred, { kind: "same" }>;

export type RefreshPorts = {
  /** The zone as it stands; undefined when it is no secondary zone. */
  readonly look: (zone: string) => Promise<SecondaryZone | undefined>;
  /** Writes it down. `does-not-fit`: the steps are for another version. Throws when the zone is not a good one. */
  readonly store: (zone: string, content: NewContent) => Promise<"done" | "does-not-fit">;
  /** The primary has just said that this is its serial. */
  readonly checked: (zone: string, serial: number) => Promise<void>;
};

export type RefreshOutcome =
  | { readonly kind: "same" | "whole" | "steps"; readonly serial: number; readonly refresh: number }
  | { readonly kind: "failed"; readonly because: string };

/** Milliseconds for a question, and for each message of a transfer. */
const questionLimit = 2_000;
const messageLimit = 20_000;
/** For all of one zone, however slowly it comes. */
const transferLimit = 600_000;
const mostRecords = 1_000_000;

type Waiting = { readonly signal: AbortSignal; readonly now: () => Instant };

/** Asks the primaries in their order until one answers. */
export async function refreshZone(zone: SecondaryZone, ports: RefreshPorts, waiting: Waiting): Promise<RefreshOutcome> {
  const reasons: string[] = [];
  for (const peer of zone.primaries) {
    try {
      const content = await fetchFrom(peer, zone, waiting);
      if (content.kind !== "same") await storeFrom(peer, zone, content, ports, waiting);
      const { serial } = content;
      await ports.checked(zone.name, serial);
      const after = (await ports.look(zone.name))?.timers ?? zone.timers;
      return { kind: content.kind, serial, refresh: after?.refresh ?? 3_600 };
    } catch (error) {
      if (waiting.signal.aborted) break;
      reasons.push((error as Error).message);
    }
  }
  return { kind: "failed", because: reasons.join("; ") || "it has no primary server" };
}

async function fetchFrom(
  peer: Peer,
  { name, current }: SecondaryZone,
  waiting: Waiting,
): Promise<NewContent | { readonly kind: "same"; readonly serial: number }> {
  if (current !== undefined) {
    const serial = await serialAt(peer, name, waiting);
    if (serial !== undefined && compareSerials(serial, current.serial) !== 1) {
      return { kind: "same", serial: current.serial };
    }
  }
  const content = await transferIn(name, peer, current, limited(waiting));
  return content.kind === "same" ? { kind: "same", serial: current?.serial ?? 0 } : content;
}

/** Undefined when datagrams do not get through: the transfer itself, over TCP, then tells. */
async function serialAt(peer: Peer, zone: string, waiting: Waiting): Promise<number | undefined> {
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
  waiting: Waiting,
): Promise<void> {
  if ((await ports.store(name, content)) === "done") return;
  const whole = await transferIn(name, peer, undefined, limited(waiting));
  if (whole.kind !== "whole" || (await ports.store(name, whole)) !== "done") {
    throw new Error("the transfer does not fit the zone");
  }
}

const limited = ({ signal, now }: Waiting) => ({
  signal: AbortSignal.any([signal, AbortSignal.timeout(transferLimit)]),
  now,
  limit: messageLimit,
  mostRecords,
});

import type { Instant } from "../../../core/instant.ts";
import type { DnsRequest, UntrustedReply } from "../../../lib/dns/ask.ts";
import { classes, opcodes, rcodes, types } from "../../../lib/dns/codes.ts";
import type { Message, ResourceRecord } from "../../../lib/dns/message.ts";
import type { TsigKey } from "../../../lib/dns/tsig.ts";
import { later } from "../../answers/service-answer.ts";
import type { Lookup, ServiceFault } from "../../answers/service-fault.ts";
import { notItsZone, refusalOfTransfer, unreached, untrusted } from "./update-faults.ts";

/**
 * The primary nameserver of a zone, and the key that may change or transfer it, if it needs one: a function, so that it
 * can be replaced.
 */
export type UpdateServer = {
  readonly host: string;
  readonly port: number;
  readonly key: () => TsigKey | undefined;
  /** Milliseconds to wait for the next bytes. */
  readonly timeout?: number;
};

export const nameOfKey = ({ key }: UpdateServer): string => key()?.name ?? "(none)";

export type AskServer = (asking: DnsRequest, signal: AbortSignal) => Promise<Heard>;

type Heard =
  | { readonly kind: "heard"; readonly message: Message }
  | Silence
  /** The server rejected our signature, and signed that. */
  | { readonly kind: "rejected"; readonly fault: ServiceFault };

/**
 * No answer, or one that cannot be verified: somebody in between may have changed it, so what the server did is
 * unknown. `refused`: it was REFUSED without a signature, as Knot sends it for a zone that it does not have.
 */
type Silence = { readonly kind: "silence"; readonly fault: ServiceFault; readonly refused: boolean };

const usualTimeout = 15_000;
/** Of a whole transfer. */
const longestTransfer = 120_000;
const mostRecords = 500_000;

export function askerOf(server: UpdateServer, now: () => Instant) {
  const messages = async function* (asking: DnsRequest, signal: AbortSignal) {
    // Loaded on first use: most updaters use HTTP.
    const { askTcp } = await import("../../../lib/dns/ask.ts");
    const { host, port, timeout: limit = usualTimeout } = server;
    yield* askTcp({ host, port, key: server.key() }, asking, { signal, limit, now });
  };
  const ask: AskServer = async (asking, signal) => {
    try {
      for await (const { message } of messages(asking, signal)) return { kind: "heard", message };
      return { kind: "silence", fault: unreached("it closed the connection"), refused: false };
    } catch (error) {
      return faultOf(error as Error, server);
    }
  };
  /** The whole zone (RFC 5936), without the SOA at its end. */
  const transfer = async (zone: string, signal: AbortSignal): Promise<Lookup<readonly ResourceRecord[]>> => {
    const asking = { opcode: opcodes.query, question: { name: zone, type: types.axfr, class: classes.in } };
    const records: ResourceRecord[] = [];
    try {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(longestTransfer)]);
      for await (const { message, covered } of messages(asking, limited)) {
        if (message.rcode !== rcodes.noError) return refusalOfTransfer(message.rcode, zone, nameOfKey(server));
        records.push(...message.answers);
        const isWhole = records.length > 1 && records[0]?.type === types.soa && records.at(-1)?.type === types.soa;
        if (isWhole && covered) return { kind: "found", value: records.slice(0, -1) };
        if (records.length > mostRecords) return later(`the zone ${zone} has more than ${mostRecords} records`);
      }
      return unreached("the transfer ended early");
    } catch (error) {
      const heard = faultOf(error as Error, server);
      return heard.kind === "silence" && heard.refused ? notItsZone(zone) : heard.fault;
    }
  };
  return { ask, transfer };
}

function faultOf({ message, cause }: Error, server: UpdateServer): Exclude<Heard, { kind: "heard" }> {
  if (!isUntrusted(cause)) return { kind: "silence", fault: unreached(message), refused: false };
  const fault = untrusted(cause.message, nameOfKey(server));
  if (cause.verified) return { kind: "rejected", fault };
  return { kind: "silence", fault, refused: cause.rcode === rcodes.refused };
}

/** Not by its class: the module is loaded on first use. */
const isUntrusted = (cause: unknown): cause is UntrustedReply => cause instanceof Error && "verified" in cause;

import { addressBytes, parseIpv6 } from "../core/address.ts";
import { plainAddress } from "../core/peer-address.ts";

/** Who guessed, and how often in a row. Bounded: beyond `most` sources the one that was quiet longest is forgotten. */
export type FailedLogins = {
  /** One more failure from there: how many that makes, and how many milliseconds its answer is to wait. */
  readonly note: (from: string, now: number) => { readonly failures: number; readonly delay: number };
  readonly size: () => number;
};

export type FailedLoginLimits = {
  readonly most: number;
  /** Milliseconds for the first failures. */
  readonly delay: number;
  /** So many failures cost no more than the first. */
  readonly free: number;
  /** Milliseconds: it doubles with each further failure up to this. */
  readonly cap: number;
  /** Milliseconds after the last failure until a source is new again. */
  readonly forgotten: number;
};

const usualLimits: FailedLoginLimits = { most: 10_000, delay: 2_000, free: 5, cap: 32_000, forgotten: 15 * 60_000 };

export function createFailedLogins(limits: FailedLoginLimits = usualLimits): FailedLogins {
  // A map keeps the order of insertion: the first is the one that was quiet longest.
  const sources = new Map<string, { readonly failures: number; readonly at: number }>();
  return {
    note: (from, now) => {
      const source = sourceOf(from);
      const before = sources.get(source);
      const failures = before === undefined || now - before.at > limits.forgotten ? 1 : before.failures + 1;
      sources.delete(source);
      sources.set(source, { failures, at: now });
      const [quietest] = sources.keys();
      if (sources.size > limits.most && quietest !== undefined) sources.delete(quietest);
      const doublings = Math.min(Math.max(0, failures - limits.free), 32);
      return { failures, delay: Math.min(limits.cap, limits.delay * 2 ** doublings) };
    },
    size: () => sources.size,
  };
}

/** An IPv6 customer has a whole /64 to guess from. */
function sourceOf(from: string): string {
  const address = parseIpv6(plainAddress(from));
  return address === undefined ? plainAddress(from) : Buffer.from(addressBytes(address).subarray(0, 8)).toString("hex");
}

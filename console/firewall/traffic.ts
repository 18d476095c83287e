import type { ConsoleTraffic } from "../../src/contract/console-firewall.ts";

/** Bits per second of one device, at one moment. */
export type Rate = { readonly at: number; readonly received: number; readonly sent: number };

/** The last counters, and the rates up to then, per device. */
export type Traffic = {
  readonly last: ConsoleTraffic;
  readonly rates: Readonly<Record<string, readonly Rate[]>>;
};

/** Two minutes. Older rates are dropped: a page may stay open for weeks. */
const mostRates = 60;

export function withSample(before: Traffic | undefined, next: ConsoleTraffic): Traffic {
  // The clock restarts with the service.
  if (before === undefined || next.at < before.last.at) return { last: next, rates: {} };
  if (next.at === before.last.at) return before;
  const seconds = (next.at - before.last.at) / 1_000;
  const rates = Object.entries(next.devices).map(([device, { received, sent }]) => {
    const was = before.last.devices[device];
    // Counters restart with their device.
    if (was === undefined || received < was.received || sent < was.sent) return [device, []] as const;
    const perSecond = (bytes: number) => (bytes * 8) / seconds;
    const rate = { at: next.at, received: perSecond(received - was.received), sent: perSecond(sent - was.sent) };
    return [device, [...(before.rates[device] ?? []), rate].slice(-mostRates)] as const;
  });
  return { last: next, rates: Object.fromEntries(rates) };
}

/** "0 bit/s", "940 kbit/s", "1.2 Mbit/s". */
export function rateInWords(bits: number): string {
  const step = Math.min(3, Math.max(0, Math.floor(Math.log10(Math.max(1, bits)) / 3)));
  const value = bits / 1_000 ** step;
  return `${value.toFixed(step > 0 && value < 10 ? 1 : 0)} ${["bit/s", "kbit/s", "Mbit/s", "Gbit/s"][step]}`;
}

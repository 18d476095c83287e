import type { WireInterface, WireIpv6 } from "../../contract/interfaces.ts";
import type { Snapshot } from "./report.ts";

/** Lifetimes are whole seconds that count down; two readings of the same state may differ by this much. */
const slack = 2_000;

/**
 * Whether two readings show the same state. Lifetimes count down all the time: one has changed only if the moment at
 * which it ends has, for example because a router extended it.
 */
export function sameReport(one: Snapshot, other: Snapshot): boolean {
  if (one.report.size !== other.report.size) return false;
  const others = other.report.entries();
  for (const [name, device] of one.report) {
    const [otherName, otherDevice] = others.next().value ?? ["", undefined];
    if (name !== otherName || otherDevice === undefined) return false;
    if (withoutLifetimes(device) !== withoutLifetimes(otherDevice)) return false;
    if (!device.ipv6.every((address, at) => sameEnds(address, otherDevice.ipv6[at], other.takenAt - one.takenAt)))
      return false;
  }
  return true;
}

const lifetimes = new Set(["pltime", "vltime"]);
const withoutLifetimes = (device: WireInterface): string =>
  JSON.stringify(device, (key, value: unknown) => (lifetimes.has(key) ? undefined : value));

function sameEnds(one: WireIpv6, other: WireIpv6 | undefined, passed: number): boolean {
  return sameEnd(one.pltime, other?.pltime, passed) && sameEnd(one.vltime, other?.vltime, passed);
}

function sameEnd(one: string | undefined, other: string | undefined, passed: number): boolean {
  if (one === other && (one === undefined || one === "0")) return true;
  if (one === undefined || other === undefined || one === "0" || other === "0") return false;
  return Math.abs((Number(one) - Number(other)) * 1000 - passed) <= slack;
}

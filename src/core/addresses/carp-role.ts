import type { InterfaceReport } from "./interface-report.ts";

/** `absent`: the firewall does not report this VHID, so whether it is the master is unknown. */
export type CarpRole = "master" | "stand-by" | "absent";

/** Of two firewalls that share an address, only the master of its VHID publishes it. */
export function carpRole(report: InterfaceReport, vhid: string): CarpRole {
  const parts = [...report.values()].flatMap(({ carp }) => carp?.get(vhid) ?? []);
  if (parts.length === 0) return "absent";
  return parts.every((part) => part.toUpperCase() === "MASTER") ? "master" : "stand-by";
}

import type { InterfaceReport, ReportedInterface, ReportedIpv6 } from "../core/addresses/interface-report.ts";

/**
 * What a client can rely on from moor's firewall service, or from OPNsense since release 21.7.8: anything else may be
 * missing or new. OPNsense writes an empty report as `[]`. No schema: the updater checks by hand, so that it starts
 * without a schema library.
 */
export type ReadableInterface = {
  readonly flags?: readonly string[];
  /** Values other than `no carrier` say nothing about the link. */
  readonly status?: unknown;
  readonly ipv4?: readonly ReadableIpv4[];
  readonly ipv6?: readonly ReadableIpv6[];
  /** By VHID. */
  readonly carp?: Readonly<Record<string, { readonly status?: string }>>;
};

export type ReadableIpv4 = { readonly ipaddr: string; readonly vhid?: string };

export type ReadableIpv6 = {
  readonly ipaddr: string;
  readonly "link-local"?: boolean;
  readonly deprecated?: boolean;
  readonly tentative?: boolean;
  readonly detached?: boolean;
  readonly vltime?: string;
  readonly subnetbits?: number;
  readonly vhid?: string;
};

export const reportFromWire = (wire: Readonly<Record<string, ReadableInterface>>): InterfaceReport =>
  new Map(Object.entries(wire).map(([device, each]) => [device, fromWire(device, each)]));

/** What an older release does not report is false or unknown. */
function fromWire(device: string, wire: ReadableInterface): ReportedInterface {
  return {
    device,
    // An interface stays `up` and keeps its address without a cable; virtual interfaces have no status.
    ...(wire.flags && { up: wire.flags.includes("up") && wire.status !== "no carrier" }),
    ipv4: (wire.ipv4 ?? []).map(({ ipaddr, vhid }) => ({ text: ipaddr, vhid })),
    ipv6: (wire.ipv6 ?? []).map(fromWireIpv6),
    ...carpFromWire(wire.carp),
  };
}

/** The overview has the same map. */
export function carpFromWire(carp: ReadableInterface["carp"] = {}): Pick<ReportedInterface, "carp"> {
  const roles = Object.entries(carp).map(([vhid, { status }]) => [vhid, status ?? ""] as const);
  return roles.length === 0 ? {} : { carp: new Map(roles) };
}

function fromWireIpv6(wire: ReadableIpv6): ReportedIpv6 {
  const validLifetime = lifetimeOf(wire.vltime);
  return {
    text: wire.ipaddr,
    linkLocal: wire["link-local"] ?? false,
    deprecated: wire.deprecated ?? false,
    tentative: wire.tentative ?? false,
    detached: wire.detached ?? false,
    validLifetime,
    prefixLength: wire.subnetbits,
    vhid: wire.vhid,
  };
}

/** "0" means that no end is known; "infty" means infinite. */
function lifetimeOf(text: unknown): number | undefined {
  if (text === "infty") return Number.POSITIVE_INFINITY;
  const seconds = typeof text === "string" && /^\d+$/.test(text) ? Number(text) : 0;
  return seconds > 0 ? seconds : undefined;
}

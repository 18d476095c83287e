import type { Family } from "./address.ts";

/** What a firewall reports about its interfaces. Keys are kernel device names, in report order. */
export type InterfaceReport = ReadonlyMap<string, ReportedInterface>;

export type ReportedInterface = {
  readonly device: string;
  /** Enabled, and not without a link. Not every firewall version reports it; undefined means unknown, never down. */
  readonly up?: boolean;
  /** The families whose gateway on this line does not answer, according to the firewall. Absent if it was not asked. */
  readonly deadGateways?: readonly Family[];
  readonly ipv4: readonly ReportedIpv4[];
  readonly ipv6: readonly ReportedIpv6[];
  /** This firewall's CARP role for each virtual address that it shares with another, by VHID. */
  readonly carp?: ReadonlyMap<string, string>;
};

/** `text` is what the firewall sent; it may be malformed, and `chooseAddress` reports that. */
export type ReportedIpv4 = {
  readonly text: string;
  /** Set for a virtual address (CARP). */
  readonly vhid?: string | undefined;
};

export type ReportedIpv6 = {
  readonly text: string;
  readonly linkLocal: boolean;
  readonly deprecated: boolean;
  readonly tentative: boolean;
  readonly detached: boolean;
  /** Made by privacy extensions (RFC 8981). Only the kernel's own report says so. */
  readonly temporary?: boolean;
  /** Seconds; absent when the firewall lists no lifetime, `Infinity` when it never ends. */
  readonly validLifetime?: number | undefined;
  readonly prefixLength?: number | undefined;
  /** This is not an address, but a prefix that the provider delegated for the networks behind the router. */
  readonly delegated?: true;
  readonly vhid?: string | undefined;
};

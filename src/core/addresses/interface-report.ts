/** What a firewall says about its interfaces, in the words of the rules. Keys are kernel device names, in report order. */
export type InterfaceReport = ReadonlyMap<string, ReportedInterface>;

export type ReportedInterface = {
  readonly device: string;
  /** Switched on, and not without a link. Not every firewall version reports it; absent is "not known", never "down". */
  readonly up?: boolean;
  readonly ipv4: readonly ReportedIpv4[];
  readonly ipv6: readonly ReportedIpv6[];
  /** The part this firewall plays for each virtual address it shares with another (CARP), by VHID. */
  readonly carp?: ReadonlyMap<string, string>;
};

/** `text` is what the firewall wrote: it may be malformed, and choosing says so. */
export type ReportedIpv4 = {
  readonly text: string;
  /** Set for a virtual address (CARP). */
  readonly vhid?: string;
};

export type ReportedIpv6 = {
  readonly text: string;
  readonly linkLocal: boolean;
  readonly deprecated: boolean;
  readonly tentative: boolean;
  readonly detached: boolean;
  /** Seconds; absent when the firewall lists no lifetime, `Infinity` when it never ends. */
  readonly validLifetime?: number;
  readonly prefixLength?: number;
  /** A prefix that the provider delegated for the networks behind the router, and not an address. */
  readonly delegated?: true;
  readonly vhid?: string;
};

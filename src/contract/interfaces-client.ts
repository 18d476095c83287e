/**
 * What a client may rely on from any firewall since release 21.7.8 (spec 2.4), moor's or an OPNsense: anything else may be
 * missing or new. An empty report is written `[]` by the original. Types only: the updating client checks by hand, so that
 * it starts without a schema library.
 */
export type ReadableInterface = {
  readonly flags?: readonly string[];
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

type ProviderRow = {
  /** What people call it, in lists. */
  readonly title: string;
  /** Its name in messages. */
  readonly service: string;
  /** Which secret it needs. */
  readonly token: string;
  /** Where its API is, if there is only one such service. */
  readonly url?: string;
  /** Elsewhere, what a URL looks like. */
  readonly example?: string;
  /** What `zone import --from` calls it. */
  readonly from?: string;
};

/** The providers that zones are published with and imported from: a row per kind, in the order in which people look. */
export const providerRows = {
  hetzner: {
    title: "Hetzner",
    service: "Hetzner",
    token: "An API token with read and write access to the zones",
    url: "https://api.hetzner.cloud",
    from: "hetzner",
  },
  cloudflare: {
    title: "Cloudflare",
    service: "Cloudflare",
    token: "An API token with the permission Zone / DNS / Edit",
    url: "https://api.cloudflare.com/client/v4",
    from: "cloudflare",
  },
  desec: {
    title: "deSEC",
    service: "deSEC",
    token: "A token of deSEC",
    url: "https://desec.io/api/v1",
    from: "desec",
  },
  "netcup-cloud": {
    title: "netcup CloudDNS",
    service: "netcup CloudDNS",
    token: "An API key, not a legacy one",
    url: "https://api.netcup.com/v1",
    from: "netcup-cloud",
  },
  powerdns: {
    title: "PowerDNS (API)",
    service: "PowerDNS",
    token: "The API key",
    example: "https://ns1.example.net:8081",
    from: "powerdns",
  },
  "dns-update": {
    title: "BIND, Knot or another server (DNS UPDATE)",
    service: "the nameserver",
    token: "A TSIG key, as in a key file of BIND",
    example: "dns://ns1.example.net:53",
    from: "axfr",
  },
  moor: {
    title: "another moor",
    service: "moor records",
    token: "A token for the zones",
    example: "https://records.example.net:8053",
    from: "moor",
  },
  "hetzner-v1": {
    title: "Hetzner’s first API, or a service like it",
    service: "Hetzner",
    token: "A token",
    url: "https://dns.hetzner.com",
    example: "https://",
  },
} as const satisfies Readonly<Record<string, ProviderRow>>;

export type ProviderKind = keyof typeof providerRows;

/** As the API and the command line write them. */
export const providerKinds: readonly ProviderKind[] = (Object.keys(providerRows) as ProviderKind[]).toSorted();

export const providerRow = (kind: ProviderKind): ProviderRow => providerRows[kind];

/** Where zones can be imported from, with the kind of provider that it is. */
export const importKinds: ReadonlyMap<string, ProviderKind> = new Map(
  providerKinds
    .flatMap((kind): [string, ProviderKind][] => {
      const { from } = providerRow(kind);
      return from === undefined ? [] : [[from, kind]];
    })
    .toSorted(([a], [b]) => (a < b ? -1 : 1)),
);

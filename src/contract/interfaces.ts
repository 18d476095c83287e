import { type Static, Type } from "typebox";

/** One answer of `GET /api/diagnostics/interface/getinterfaceconfig`, as OPNsense writes it: see docs/architecture.md. */

const Ipv4Entry = Type.Object({
  ipaddr: Type.String(),
  subnetbits: Type.Integer(),
  tunnel: Type.Boolean(),
  endpoint: Type.Optional(Type.String()),
  vhid: Type.Optional(Type.String()),
});

const Ipv6Entry = Type.Object({
  autoconf: Type.Boolean(),
  deprecated: Type.Boolean(),
  detached: Type.Boolean(),
  ipaddr: Type.String(),
  "link-local": Type.Boolean(),
  pltime: Type.String(),
  tentative: Type.Boolean(),
  tunnel: Type.Boolean(),
  vltime: Type.String(),
  endpoint: Type.Optional(Type.String()),
  subnetbits: Type.Integer(),
});

const Interface = Type.Object({
  flags: Type.Array(Type.String()),
  capabilities: Type.Array(Type.String()),
  options: Type.Array(Type.String()),
  macaddr: Type.String(),
  ipv4: Type.Array(Ipv4Entry),
  ipv6: Type.Array(Ipv6Entry),
  supported_media: Type.Array(Type.String()),
  is_physical: Type.Boolean(),
  device: Type.String(),
  mtu: Type.Optional(Type.String()),
  macaddr_hw: Type.Optional(Type.String()),
  tunnel: Type.Optional(Type.Object({ proto: Type.String(), src_addr: Type.String(), dest_addr: Type.String() })),
  groups: Type.Optional(Type.Array(Type.String())),
  vlan: Type.Optional(
    Type.Object({ tag: Type.String(), proto: Type.String(), pcp: Type.String(), parent: Type.String() }),
  ),
  members: Type.Optional(Type.Record(Type.String(), Type.Object({ flags: Type.Array(Type.String()) }))),
  media: Type.Optional(Type.String()),
  media_raw: Type.Optional(Type.String()),
  status: Type.Optional(Type.String()),
  nd6: Type.Optional(Type.Object({ flags: Type.Array(Type.String()) })),
});

export type WireIpv4 = Static<typeof Ipv4Entry>;
export type WireIpv6 = Static<typeof Ipv6Entry>;
export type WireInterface = Static<typeof Interface>;

/** What moor's own firewall service answers: every field of the newest release that Linux can tell. */
export const InterfaceConfig = Type.Record(Type.String(), Interface);
export type InterfaceConfig = Static<typeof InterfaceConfig>;

/**
 * What a client may rely on from any release since 21.7.8 (spec 2.4): anything else may be missing or new.
 * An empty report is written `[]` by the original.
 */
export const ReadableInterface = Type.Object({
  flags: Type.Optional(Type.Array(Type.String())),
  ipv4: Type.Optional(Type.Array(Type.Object({ ipaddr: Type.String() }))),
  ipv6: Type.Optional(
    Type.Array(
      Type.Object({
        ipaddr: Type.String(),
        "link-local": Type.Optional(Type.Boolean()),
        deprecated: Type.Optional(Type.Boolean()),
        tentative: Type.Optional(Type.Boolean()),
        detached: Type.Optional(Type.Boolean()),
        vltime: Type.Optional(Type.String()),
      }),
    ),
  ),
});
export type ReadableInterface = Static<typeof ReadableInterface>;

export const ReadableInterfaceConfig = Type.Union([
  Type.Record(Type.String(), ReadableInterface),
  Type.Array(Type.Never(), { maxItems: 0 }),
]);
export type ReadableInterfaceConfig = Static<typeof ReadableInterfaceConfig>;

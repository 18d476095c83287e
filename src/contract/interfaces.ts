import { type Static, Type } from "typebox";

/**
 * The answer of `GET /api/diagnostics/interface/getinterfaceconfig`, as OPNsense sends it, with the keys in its order.
 * Keys are optional if only some devices have them, or if they cannot be determined on a machine without `ip`.
 */

const Ipv4Entry = Type.Object({
  ipaddr: Type.String(),
  subnetbits: Type.Integer(),
  tunnel: Type.Optional(Type.Boolean()),
  endpoint: Type.Optional(Type.String()),
});

/** Lifetimes are seconds as strings, `"0"` for infinite. */
const Ipv6Entry = Type.Object({
  autoconf: Type.Optional(Type.Boolean()),
  deprecated: Type.Optional(Type.Boolean()),
  detached: Type.Optional(Type.Boolean()),
  ipaddr: Type.String(),
  "link-local": Type.Boolean(),
  pltime: Type.Optional(Type.String()),
  tentative: Type.Optional(Type.Boolean()),
  tunnel: Type.Optional(Type.Boolean()),
  vltime: Type.Optional(Type.String()),
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
  is_physical: Type.Optional(Type.Boolean()),
  device: Type.String(),
  mtu: Type.Optional(Type.String()),
  macaddr_hw: Type.Optional(Type.String()),
  tunnel: Type.Optional(Type.Object({ proto: Type.String(), src_addr: Type.String(), dest_addr: Type.String() })),
  groups: Type.Optional(Type.Array(Type.String())),
  vlan: Type.Optional(
    Type.Object({
      tag: Type.String(),
      proto: Type.String(),
      pcp: Type.String(),
      parent: Type.Optional(Type.String()),
    }),
  ),
  laggproto: Type.Optional(Type.String()),
  lagghash: Type.Optional(Type.String()),
  laggport: Type.Optional(
    Type.Record(Type.String(), Type.Object({ flags: Type.Array(Type.String()), state: Type.Array(Type.String()) })),
  ),
  members: Type.Optional(Type.Record(Type.String(), Type.Object({ flags: Type.Array(Type.String()) }))),
  priority: Type.Optional(Type.String()),
  hellotime: Type.Optional(Type.String()),
  fwddelay: Type.Optional(Type.String()),
  maxage: Type.Optional(Type.String()),
  timeout: Type.Optional(Type.String()),
  vxlan: Type.Optional(
    Type.Object({
      vni: Type.String(),
      local: Type.Optional(Type.String()),
      group: Type.Optional(Type.String()),
      remote: Type.Optional(Type.String()),
    }),
  ),
  media: Type.Optional(Type.String()),
  media_raw: Type.Optional(Type.String()),
  status: Type.Optional(Type.String()),
  nd6: Type.Optional(Type.Object({ flags: Type.Array(Type.String()) })),
});

export type WireIpv4 = Static<typeof Ipv4Entry>;
export type WireIpv6 = Static<typeof Ipv6Entry>;
export type WireInterface = Static<typeof Interface>;

/** Keyed by kernel device name. */
export const InterfaceConfig = Type.Record(Type.String(), Interface);

import { type Static, Type } from "typebox";
import { Check, Errors } from "typebox/value";

/**
 * One network device as the kernel describes it, in the words of `ip -json -details addr`. Only what the report needs is
 * named here; whatever else a newer `ip` says is let through unread. Optional is what not every device or kernel has.
 */
const KernelAddress = Type.Object({
  family: Type.String(),
  local: Type.String(),
  prefixlen: Type.Optional(Type.Integer()),
  /** The other end of a point-to-point address. */
  address: Type.Optional(Type.String()),
  deprecated: Type.Optional(Type.Boolean()),
  tentative: Type.Optional(Type.Boolean()),
  temporary: Type.Optional(Type.Boolean()),
  mngtmpaddr: Type.Optional(Type.Boolean()),
  "stable-privacy": Type.Optional(Type.Boolean()),
  protocol: Type.Optional(Type.String()),
  /** Seconds; 4294967295 is "for ever". Missing when nothing could tell (no `ip`). */
  valid_life_time: Type.Optional(Type.Integer()),
  preferred_life_time: Type.Optional(Type.Integer()),
});

const Data = Type.Record(Type.String(), Type.Unknown());

const KernelRow = Type.Object({
  ifindex: Type.Optional(Type.Integer()),
  ifname: Type.String({ minLength: 1 }),
  /** The device below: a VLAN's parent, a veth's other end. */
  link: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  master: Type.Optional(Type.String()),
  flags: Type.Array(Type.String()),
  mtu: Type.Optional(Type.Integer()),
  group: Type.Optional(Type.String()),
  link_type: Type.Optional(Type.String()),
  address: Type.Optional(Type.String()),
  permaddr: Type.Optional(Type.String()),
  promiscuity: Type.Optional(Type.Integer()),
  linkinfo: Type.Optional(
    Type.Object({
      info_kind: Type.Optional(Type.String()),
      info_data: Type.Optional(Data),
      info_slave_data: Type.Optional(Data),
    }),
  ),
  addr_info: Type.Array(KernelAddress),
});

export type KernelAddress = Static<typeof KernelAddress>;
export type KernelRow = Static<typeof KernelRow>;

const KernelRows = Type.Array(KernelRow);

/** Reads what `ip` printed. Anything but a list of devices throws: an unreadable answer is never "no devices". */
export function parseKernelRows(text: string): readonly KernelRow[] {
  const parsed: unknown = JSON.parse(text);
  // Some releases print `{}` for a device that went away while they were listing.
  const rows = Array.isArray(parsed) ? parsed.filter((row) => !isEmptyObject(row)) : parsed;
  if (!Check(KernelRows, rows)) {
    const [fault] = Errors(KernelRows, rows);
    throw new Error(`not a list of devices: ${fault?.instancePath ?? ""} ${fault?.message ?? ""}`);
  }
  return rows;
}

const isEmptyObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;

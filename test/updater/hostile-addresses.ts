import { wanWith } from "../rig/updater/services.ts";
import { type AddressRow, address, after } from "./hostile-row.ts";

const flagged = (flag: string) => ({
  ...{ flags: ["up"], ipv4: [] },
  ipv6: [{ ipaddr: after.AAAA, "link-local": false, [flag]: true, subnetbits: 64 }],
});
const publicOnly = { settings: { settings: "public: require" } };
const published = { outcomes: ["done"], sent: 2, published: "new", stored: "new", warnings: 0 } as const;

/** Every class of addresses that the updater distinguishes, in both families. */
export const hostileAddresses: readonly AddressRow[] = [
  address("none at all, as during a reconnect", wanWith([], []), /no usable address/),
  address("unspecified", wanWith(["0.0.0.0"], ["::"]), /is unspecified/),
  address("loopback", wanWith(["127.0.0.1"], ["::1"]), /is loopback/),
  address("link-local", wanWith(["169.254.1.1"], ["fe80::1"]), /is link-local/),
  address(
    "link-local without its flag",
    { ...wanWith(["169.254.1.1"], []), ipv6: [{ ipaddr: "fe80::1" }] },
    /is link-local/,
  ),
  address("multicast", wanWith(["224.0.0.1"], ["ff02::1"]), /is multicast/),
  address(
    "of no host, and broadcast in 6to4",
    wanWith(["0.1.2.3"], ["2002:ffff:ffff::1"]),
    /is in the range 0\.0\.0\.0\/8/,
  ),
  address(
    "broadcast, and loopback mapped",
    wanWith(["255.255.255.255"], ["::ffff:127.0.0.1"]),
    /the broadcast address/,
  ),
  address("loopback in the compatible form", wanWith([], ["::127.0.0.1"]), /is loopback/),
  address("loopback through NAT64", wanWith(["127.1.2.3"], ["64:ff9b::127.0.0.1"]), /is loopback/),
  address(
    "private in 6to4, public ones only",
    wanWith(["10.0.0.1"], ["2002:a00:1::1"]),
    /only public ones/,
    publicOnly,
  ),
  address("families mixed up", wanWith(["2a00::10"], ["9.9.9.10"]), /of the other address family/),
  address("empty texts", wanWith([""], [""]), /is not an address/),
  address("too short", wanWith(["9.9.9"], ["2a00::1::2"]), /is not an address/),
  address("leading zeros", wanWith(["010.9.9.10"], ["2a00::00010"]), /is not an address/),
  address("with a prefix", wanWith(["9.9.9.10/24"], ["2a00::10/64"]), /is not an address/),
  address("with a zone", wanWith([], ["2a00::10%wan0"]), /is not an address/),
  address("with a blank", wanWith([" 9.9.9.10"], ["2a00::10 "]), /is not an address/),
  address("with a line break and more", wanWith(["9.9.9.10\n8.8.8.8"], ["2a00::10\r\nx: y"]), /is not an address/),
  address("deprecated", flagged("deprecated"), /is deprecated/),
  address("tentative", flagged("tentative"), /is tentative/),
  address("detached", flagged("detached"), /is detached/),
  address(
    "IPv4 mapped into IPv6, public ones only",
    wanWith(["10.0.0.1"], ["::ffff:9.9.9.10"]),
    /only public ones/,
    publicOnly,
  ),
  address("private, public ones only", wanWith(["192.168.1.1"], ["fd00::1"]), /only public ones/, publicOnly),
  address("carrier-grade NAT, public ones only", wanWith(["100.64.0.1"], ["fc00::1"]), /only public ones/, publicOnly),
  address(
    "for documentation, public ones only",
    wanWith(["192.0.2.1"], ["2001:db8::1"]),
    /only public ones/,
    publicOnly,
  ),
  address("reserved, public ones only", wanWith(["240.0.0.1"], ["100::1"]), /only public ones/, publicOnly),
  address(
    "an alias of the first that is not fit",
    wanWith(["0.0.0.0", "9.9.9.10"], ["fe80::1"]),
    /0\.0\.0\.0 is unspecified/,
  ),
  address(
    "a deprecated one in front of a good one",
    {
      ...wanWith([after.A], []),
      ipv6: [{ ipaddr: "2a00::dead", deprecated: true }, { ipaddr: after.AAAA }],
    },
    /replaced by 2a00::10/,
    published,
  ),
  address(
    "another line that is down in front of it",
    { ...wanWith([after.A], [after.AAAA]), flags: [] },
    /replaced by 9\.9\.9\.10/,
    published,
  ),
];

import { Check } from "typebox/value";
import { describe, expect, it } from "vitest";
import { InterfaceConfig } from "../../contract/interfaces.ts";
import { rowsFromNode } from "../../lib/kernel/read.ts";
import type { KernelAddress, KernelRow } from "../../lib/kernel/row.ts";
import { phpJson } from "./php-json.ts";
import { reportOf } from "./report.ts";

const forever = { valid_life_time: 4294967295, preferred_life_time: 4294967295 };

const device = (row: Partial<KernelRow> & { readonly ifname: string }): KernelRow => ({
  ifindex: 2,
  flags: ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"],
  mtu: 1500,
  group: "default",
  link_type: "ether",
  address: "02:00:5e:10:00:01",
  addr_info: [],
  ...row,
});

const inet = (local: string, prefixlen: number, rest: Partial<KernelAddress> = {}): KernelAddress => ({
  family: "inet",
  local,
  prefixlen,
  ...forever,
  ...rest,
});

const inet6 = (local: string, rest: Partial<KernelAddress> = {}): KernelAddress => ({
  family: "inet6",
  local,
  prefixlen: 64,
  ...forever,
  ...rest,
});

const only = (row: KernelRow, others: readonly KernelRow[] = []) => reportOf([row, ...others]).get(row.ifname);

describe("reportOf", () => {
  it("writes every key in OPNsense's order and types", () => {
    const rows = [
      device({
        ifname: "eth0",
        permaddr: "02:00:5e:10:00:99",
        addr_info: [inet("192.0.2.1", 24), inet6("fe80::5eff:fe10:1"), inet6("2001:db8:b:1::1")],
      }),
    ];
    expect(phpJson(reportOf(rows))).toBe(
      '{"eth0":{"flags":["up","broadcast","running","multicast","lower_up"],"capabilities":[],"options":[],' +
        '"macaddr":"02:00:5e:10:00:01","ipv4":[{"ipaddr":"192.0.2.1","subnetbits":24,"tunnel":false}],"ipv6":[' +
        '{"autoconf":false,"deprecated":false,"detached":false,"ipaddr":"2001:db8:b:1::1","link-local":false,' +
        '"pltime":"0","tentative":false,"tunnel":false,"vltime":"0","subnetbits":64},' +
        '{"autoconf":false,"deprecated":false,"detached":false,"ipaddr":"fe80::5eff:fe10:1","link-local":true,' +
        '"pltime":"0","tentative":false,"tunnel":false,"vltime":"0","subnetbits":64}],' +
        '"supported_media":[],"is_physical":true,"device":"eth0","mtu":"1500","macaddr_hw":"02:00:5e:10:00:99",' +
        '"status":"active"}}',
    );
  });

  it("keeps the order of the kernel index, whatever the devices are called", () => {
    const names = ["lo", "wan", "7", "__proto__", "eth0"];
    const rows = names.map((ifname, at) => device({ ifname, ifindex: at + 1 }));
    const report = reportOf(rows.toReversed());
    expect([...report.keys()]).toEqual(names);
    const text = phpJson(report);
    const places = names.map((name) => text.indexOf(`"${name}":{"flags"`));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
  });

  it.each<[string, Partial<KernelRow>, readonly string[]]>([
    ["up with carrier", {}, ["up", "broadcast", "running", "multicast", "lower_up"]],
    ["up without carrier", { flags: ["NO-CARRIER", "BROADCAST", "MULTICAST", "UP"] }, ["up", "broadcast", "multicast"]],
    ["down", { flags: ["BROADCAST", "MULTICAST"] }, ["broadcast", "multicast"]],
    ["loopback", { flags: ["LOOPBACK", "UP", "LOWER_UP"] }, ["up", "loopback", "running", "lower_up"]],
    [
      "ppp",
      { flags: ["POINTOPOINT", "MULTICAST", "NOARP", "UP", "LOWER_UP"] },
      ["up", "pointopoint", "running", "noarp", "multicast", "lower_up"],
    ],
    ["a bridge port", { promiscuity: 1, flags: ["UP"] }, ["up", "running", "promisc"]],
    ["in states that only Linux has", { flags: ["UP", "MASTER", "SLAVE", "DORMANT", "M-DOWN"] }, ["up", "running"]],
  ])("flags of a device that is %s", (_, row, flags) => {
    expect(only(device({ ifname: "eth0", ...row }))?.flags).toEqual(flags);
  });

  it.each<[string, Partial<KernelRow>, object]>([
    ["card", {}, { is_physical: true, macaddr_hw: "02:00:5e:10:00:01", status: "active" }],
    ["card without carrier", { flags: ["NO-CARRIER", "UP"] }, { is_physical: true, status: "no carrier" }],
    ["card that is down", { flags: ["BROADCAST"] }, { is_physical: true, status: "no carrier" }],
    ["veth", { linkinfo: { info_kind: "veth" } }, { is_physical: false, status: "active" }],
    ["card of a container", { linkinfo: { info_kind: "veth" }, link_netnsid: 0 }, { is_physical: true }],
    [
      "loopback",
      { link_type: "loopback", address: "00:00:00:00:00:00" },
      { is_physical: false, macaddr: "00:00:00:00:00:00", status: undefined, macaddr_hw: undefined },
    ],
    [
      "WireGuard",
      { link_type: "none", address: undefined as never, linkinfo: { info_kind: "wireguard" } },
      { is_physical: false, macaddr: "00:00:00:00:00:00", status: undefined },
    ],
    ["ppp", { link_type: "ppp", linkinfo: { info_kind: "ppp" } }, { is_physical: false, status: undefined }],
    ["a large MTU", { mtu: 65536 }, { mtu: "65536" }],
    ["a group", { group: "uplink" }, { groups: ["uplink"] }],
    ["the default group", {}, { groups: undefined }],
    [
      "GRE",
      {
        link_type: "gre",
        address: "192.0.2.1",
        linkinfo: { info_kind: "gre", info_data: { local: "192.0.2.1", remote: "198.51.100.1", ttl: 0 } },
      },
      {
        macaddr: "00:00:00:00:00:00",
        tunnel: { proto: "inet", src_addr: "192.0.2.1", dest_addr: "198.51.100.1" },
        status: undefined,
      },
    ],
    [
      "a tunnel over IPv6",
      {
        link_type: "tunnel6",
        linkinfo: { info_kind: "ip6tnl", info_data: { local: "2001:db8::1", remote: "2001:db8::2" } },
      },
      { tunnel: { proto: "inet6", src_addr: "2001:db8::1", dest_addr: "2001:db8::2" } },
    ],
    [
      "a tunnel with an open end",
      { link_type: "sit", linkinfo: { info_kind: "sit", info_data: { local: "192.0.2.1", remote: "any" } } },
      { tunnel: undefined },
    ],
    [
      "VLAN",
      {
        link: "eth0",
        linkinfo: { info_kind: "vlan", info_data: { protocol: "802.1Q", id: 7, flags: ["REORDER_HDR"] } },
      },
      { is_physical: false, vlan: { tag: "7", proto: "802.1q", pcp: "0", parent: "eth0" } },
    ],
    [
      "VLAN with a priority",
      {
        link: "eth0",
        linkinfo: { info_kind: "vlan", info_data: { protocol: "802.1ad", id: 8, egress_qos: [{ from: 0, to: 6 }] } },
      },
      { vlan: { tag: "8", proto: "802.1ad", pcp: "6", parent: "eth0" } },
    ],
    [
      "VXLAN",
      { linkinfo: { info_kind: "vxlan", info_data: { id: 42, group: "239.1.1.1", local6: "2001:db8::1" } } },
      { vxlan: { vni: "42", local: "2001:db8::1", group: "239.1.1.1" } },
    ],
  ])("%s", (_, row, expected) => {
    const report = Object.entries(only(device({ ifname: "x0", ...row })) ?? {});
    expect(Object.fromEntries(report.filter(([key]) => key in expected))).toEqual(expected);
  });

  it.each<[string, object, object, object]>([
    [
      "LACP",
      { mode: "802.3ad", xmit_hash_policy: "layer3+4" },
      {
        state: "ACTIVE",
        mii_status: "UP",
        ad_actor_oper_port_state_str: ["active", "aggregating", "in_sync", "collecting", "distributing"],
      },
      {
        laggproto: "lacp",
        lagghash: "l3,l4",
        laggport: {
          eth1: {
            flags: ["active", "collecting", "distributing"],
            state: ["activity", "aggregation", "sync", "collecting", "distributing"],
          },
        },
      },
    ],
    [
      "a failover whose backup is not in use",
      { mode: "active-backup" },
      { state: "BACKUP", mii_status: "UP" },
      { laggproto: "failover", laggport: { eth1: { flags: [], state: [] } } },
    ],
    [
      "a port without a link",
      { mode: "balance-rr" },
      { state: "ACTIVE", mii_status: "DOWN" },
      { laggproto: "roundrobin", laggport: { eth1: { flags: [], state: [] } } },
    ],
    ["an unknown mode", { mode: "new", xmit_hash_policy: "newer" }, {}, { laggproto: "new", lagghash: "newer" }],
  ])("a bond is a lagg: %s", (_, info_data, info_slave_data, expected) => {
    const bond = device({ ifname: "bond0", linkinfo: { info_kind: "bond", info_data: { ...info_data } } });
    const port = device({
      ifname: "eth1",
      ifindex: 3,
      master: "bond0",
      linkinfo: { info_slave_kind: "bond", info_slave_data: { ...info_slave_data } },
    });
    const report = only(bond, [port, device({ ifname: "eth2", ifindex: 4 })]);
    expect(report).toMatchObject({ is_physical: false, status: "active", ...expected });
    expect(Check(InterfaceConfig, { bond0: report })).toBe(true);
  });

  it("lists a bridge's ports and times", () => {
    const bridge = device({
      ifname: "br0",
      linkinfo: {
        info_kind: "bridge",
        info_data: { priority: 32768, hello_time: 200, forward_delay: 1500, max_age: 2000, ageing_time: 30000 },
      },
    });
    const port = device({
      ifname: "eth1",
      ifindex: 3,
      master: "br0",
      linkinfo: { info_slave_data: { learning: true, flood: true, isolated: false } },
    });
    expect(only(bridge, [port, device({ ifname: "eth2", ifindex: 4 })])).toMatchObject({
      members: { eth1: { flags: ["learning", "discover"] } },
      priority: "32768",
      hellotime: "2",
      fwddelay: "15",
      maxage: "20",
      timeout: "300",
    });
  });
});

describe("addresses", () => {
  const ipv4 = (...addr_info: KernelAddress[]) => only(device({ ifname: "eth0", addr_info }))?.ipv4;
  const ipv6 = (...addr_info: KernelAddress[]) => only(device({ ifname: "eth0", addr_info }))?.ipv6;

  it("a point-to-point address is a tunnel with its endpoint", () => {
    expect(ipv4(inet("203.0.113.7", 32, { address: "198.51.100.1" }))).toEqual([
      { ipaddr: "203.0.113.7", subnetbits: 32, tunnel: true, endpoint: "198.51.100.1" },
    ]);
    expect(JSON.stringify(ipv6(inet6("2001:db8::1", { prefixlen: 128, address: "2001:db8::2" })))).toBe(
      '[{"autoconf":false,"deprecated":false,"detached":false,"ipaddr":"2001:db8::1","link-local":false,"pltime":"0",' +
        '"tentative":false,"tunnel":true,"vltime":"0","endpoint":"2001:db8::2","subnetbits":128}]',
    );
  });

  it("puts usable addresses first, then temporary, deprecated and unproven ones, and link-local last", () => {
    const marks = { "7": { temporary: true }, d: { deprecated: true }, e: { tentative: true }, f: { dadfailed: true } };
    const last = (text: string) => text.at(-1) as keyof typeof marks;
    const order = "fe80::1 2001:db8::f 2001:db8::e 2001:db8::d 2001:db8::7 fd00:db8::1 febf::2 2001:db8::1".split(" ");
    const shown = ipv6(...order.map((local) => inet6(local, marks[last(local)])))?.map(({ ipaddr }) => ipaddr);
    expect(shown?.join(" ")).toBe(
      "fd00:db8::1 2001:db8::1 2001:db8::7 2001:db8::d 2001:db8::f 2001:db8::e fe80::1 febf::2",
    );
    const four = [inet("192.0.2.7", 24, { deprecated: true }), inet("192.0.2.9", 24), inet("192.0.2.1", 24)];
    expect(ipv4(...four)?.map(({ ipaddr }) => ipaddr)).toEqual(["192.0.2.9", "192.0.2.1", "192.0.2.7"]);
  });

  it.each([
    ["fe80::1", true],
    ["febf::1", true],
    ["fe7f::1", false],
    ["fec0::1", false],
    ["fe8::1", false],
    ["2001:db8::fe80", false],
  ])("link-local of %s is %s", (text, expected) => {
    expect(ipv6(inet6(text))?.[0]?.["link-local"]).toBe(expected);
  });

  it("removes the zone", () => {
    expect(ipv6(inet6("fe80::1%eth0"))?.[0]).toMatchObject({ ipaddr: "fe80::1", "link-local": true });
  });

  it.each<[string, Partial<KernelAddress>, object]>([
    ["no lifetime", {}, { pltime: "0", vltime: "0", deprecated: false }],
    ["two lifetimes", { preferred_life_time: 1800, valid_life_time: 14400 }, { pltime: "1800", vltime: "14400" }],
    ["a preferred lifetime", { preferred_life_time: 50, valid_life_time: 4294967295 }, { pltime: "50", vltime: "0" }],
    [
      "deprecated",
      { preferred_life_time: 0, valid_life_time: 90, deprecated: true },
      { deprecated: true, pltime: "0", vltime: "90" },
    ],
    ["tentative", { tentative: true }, { tentative: true }],
    ["a duplicate", { dadfailed: true }, { tentative: true }],
    ["a mark of an old `ip`", { deprecated: null }, { deprecated: true }],
    ["from a router advertisement", { mngtmpaddr: true }, { autoconf: true }],
    ["a privacy address", { temporary: true }, { autoconf: true }],
    ["a stable privacy address", { "stable-privacy": true }, { autoconf: true }],
    ["a newer kernel's word", { protocol: "kernel_ra" }, { autoconf: true }],
    ["lifetimes set by DHCPv6", { valid_life_time: 90, preferred_life_time: 60 }, { autoconf: false }],
  ])("IPv6 with %s", (_, rest, expected) => {
    expect(ipv6(inet6("2001:db8::1", rest))?.[0]).toMatchObject(expected);
  });

  it("leaves out addresses without a prefix length, and unknown families", () => {
    const { prefixlen: _, ...bare } = inet("192.0.2.1", 24);
    expect(
      only(device({ ifname: "x0", addr_info: [bare, { ...inet6("2001:db8::1"), family: "mpls" }] })),
    ).toMatchObject({
      ipv4: [],
      ipv6: [],
    });
  });
});

describe("without `ip`", () => {
  const rows = rowsFromNode({
    lo: [
      {
        address: "127.0.0.1",
        netmask: "255.0.0.0",
        family: "IPv4",
        mac: "00:00:00:00:00:00",
        internal: true,
        cidr: "127.0.0.1/8",
      },
    ],
    eth0: [
      {
        address: "192.0.2.1",
        netmask: "255.255.255.0",
        family: "IPv4",
        mac: "02:00:5e:10:00:01",
        internal: false,
        cidr: "192.0.2.1/24",
      },
      {
        address: "fe80::1",
        netmask: "ffff::",
        family: "IPv6",
        mac: "02:00:5e:10:00:01",
        internal: false,
        cidr: "fe80::1/64",
        scopeid: 2,
      },
    ],
  });

  it("reports what Node knows, and nothing else", () => {
    expect(Object.fromEntries(reportOf(rows))).toEqual({
      lo: {
        flags: ["up", "loopback", "running"],
        capabilities: [],
        options: [],
        macaddr: "00:00:00:00:00:00",
        ipv4: [{ ipaddr: "127.0.0.1", subnetbits: 8 }],
        ipv6: [],
        supported_media: [],
        device: "lo",
      },
      eth0: {
        flags: ["up", "running"],
        capabilities: [],
        options: [],
        macaddr: "02:00:5e:10:00:01",
        ipv4: [{ ipaddr: "192.0.2.1", subnetbits: 24 }],
        ipv6: [{ ipaddr: "fe80::1", "link-local": true, subnetbits: 64 }],
        supported_media: [],
        device: "eth0",
      },
    });
  });

  it("still has the shape of the contract", () => {
    expect(Check(InterfaceConfig, Object.fromEntries(reportOf(rows)))).toBe(true);
  });
});

describe("phpJson", () => {
  it.each<[string, ReadonlyMap<string, unknown> | object, string]>([
    ["an empty report is an array", new Map(), "[]"],
    ["a slash is escaped", new Map([["a/b", "10baseT/UTP"]]), '{"a\\/b":"10baseT\\/UTP"}'],
    ["everything outside ASCII is escaped", { name: "Büro\u{1f600}" }, '{"name":"B\\u00fcro\\ud83d\\ude00"}'],
    ["quotes and backslashes as in any JSON", { name: 'a"b\\' }, '{"name":"a\\"b\\\\"}'],
  ])("%s", (_, value, text) => {
    expect(phpJson(value)).toBe(text);
    expect(JSON.parse(phpJson(value))).toEqual(
      value instanceof Map && value.size > 0 ? Object.fromEntries(value) : JSON.parse(text),
    );
  });
});

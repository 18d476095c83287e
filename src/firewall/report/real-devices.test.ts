import { chmod, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Check } from "typebox/value";
import { describe, expect, it } from "vitest";
import { patience } from "../../../test/rig/patience.ts";
import { InterfaceConfig, type WireInterface } from "../../contract/interfaces.ts";
import { readKernel } from "../../lib/kernel/read.ts";
import { phpJson } from "./php-json.ts";
import { reportOf } from "./report.ts";

/** The report of a new network namespace, in which `setUp` runs before `ip` lists the devices. Needs no root. */
async function reportAfter(setUp: string): Promise<Record<string, WireInterface>> {
  const ip = join(await mkdtemp(join(tmpdir(), "moor-devices-")), "ip");
  const script = `#!/bin/bash
    [ -n "$INSIDE" ] || INSIDE=1 exec unshare --user --map-root-user --net "$0" "$@"
    set -e
    export PATH=$PATH:/usr/sbin:/sbin
    ${setUp}
    exec ip "$@"`;
  await writeFile(ip, script);
  await chmod(ip, 0o755);
  const rows = await readKernel({ commands: [ip], limit: patience });
  return JSON.parse(phpJson(reportOf(rows))) as Record<string, WireInterface>;
}

const veth = "ip link add wan type veth peer name isp; ip link set wan address 02:00:5e:10:00:01";

describe("real devices", () => {
  it("an untouched namespace has a loopback that is down", async () => {
    expect(await reportAfter(":")).toEqual({
      lo: expect.objectContaining({ flags: ["loopback"], ipv4: [], ipv6: [], is_physical: false, mtu: "65536" }),
    });
  });

  it("shows addresses, peers and lifetimes as set", async () => {
    const report = await reportAfter(`${veth}
      ip link set lo up; ip link set wan up mtu 1492; ip link set isp up
      ip addr add 192.0.2.1/24 dev wan
      ip addr add 203.0.113.7 peer 198.51.100.1 dev wan
      ip addr add 2001:db8:a::1/64 dev wan nodad valid_lft 5400 preferred_lft 0
      ip addr add 2001:db8:b::1/64 dev wan nodad valid_lft 7200 preferred_lft 3600
      ip addr add fd00:db8::1/48 dev wan nodad`);
    expect(Check(InterfaceConfig, report)).toBe(true);
    expect(report.wan).toMatchObject({
      flags: ["up", "broadcast", "running", "multicast", "lower_up"],
      macaddr: "02:00:5e:10:00:01",
      ipv4: [
        { ipaddr: "192.0.2.1", subnetbits: 24, tunnel: false },
        { ipaddr: "203.0.113.7", subnetbits: 32, tunnel: true, endpoint: "198.51.100.1" },
      ],
      is_physical: false,
      mtu: "1492",
      status: "active",
    });
    const ipv6 = report.wan?.ipv6 ?? [];
    const byText = (text: string) => ipv6.find(({ ipaddr }) => ipaddr === text);
    expect(byText("2001:db8:a::1")).toMatchObject({ deprecated: true, pltime: "0", subnetbits: 64 });
    expect(Number(byText("2001:db8:b::1")?.vltime)).toBeGreaterThan(7000);
    expect(Number(byText("2001:db8:b::1")?.pltime)).toBeGreaterThan(3400);
    expect(byText("fd00:db8::1")).toMatchObject({ pltime: "0", vltime: "0", subnetbits: 48, tentative: false });
    expect(ipv6.map((address) => address["link-local"])).toEqual([false, false, false, true]);
    expect(ipv6.at(-1)?.ipaddr).toMatch(/^fe80::[0-9a-f:]+$/);
    expect(report.lo).toMatchObject({ ipv4: [{ ipaddr: "127.0.0.1", subnetbits: 8, tunnel: false }] });
  });

  it.each([
    ["down", "ip link set wan down; ip link set isp up", ["broadcast", "multicast"], "no carrier"],
    ["up without carrier", "ip link set wan up; ip link set isp down", ["up", "broadcast", "multicast"], "no carrier"],
  ])("a link that is %s", async (_, setUp, flags, status) => {
    expect((await reportAfter(`${veth}; ${setUp}`)).wan).toMatchObject({ flags, status });
  });

  it("a tentative address is marked", async () => {
    // Duplicate address detection takes ten minutes here, so that it does not end on a slow machine.
    const report = await reportAfter(`${veth}
      echo 600 > /proc/sys/net/ipv6/conf/wan/dad_transmits
      ip link set wan up; ip link set isp up
      ip addr add 2001:db8::1/64 dev wan; ip addr add 2001:db8::2/64 dev wan nodad`);
    const tentative = Object.fromEntries((report.wan?.ipv6 ?? []).map((each) => [each.ipaddr, each.tentative]));
    expect(tentative).toMatchObject({ "2001:db8::1": true, "2001:db8::2": false });
  });

  it("a bridge lists its ports, and devices are in the order of their creation", async () => {
    const report = await reportAfter(`${veth}; ip link add br0 type bridge; ip link set isp master br0
      ip tuntap add dev tun0 mode tun; ip addr add 192.0.2.1 peer 192.0.2.2 dev tun0`);
    expect(Object.keys(report)).toEqual(["lo", "isp", "wan", "br0", "tun0"]);
    expect(report.br0).toMatchObject({
      is_physical: false,
      members: { isp: { flags: ["learning", "discover"] } },
      hellotime: "2",
      fwddelay: "15",
    });
    expect(report.isp?.flags).toContain("promisc");
    expect(report.tun0).toMatchObject({
      flags: ["pointopoint", "noarp", "multicast"],
      macaddr: "00:00:00:00:00:00",
      ipv4: [{ ipaddr: "192.0.2.1", subnetbits: 32, tunnel: true, endpoint: "192.0.2.2" }],
    });
    expect(report.tun0).not.toHaveProperty("status");
  });

  it("odd names and a renamed device are reported", async () => {
    const report = await reportAfter(`${veth}; ip link set wan name __proto__; ip link set isp name 'a"b'`);
    expect(Object.keys(report)).toEqual(["lo", 'a"b', "__proto__"]);
  });
});

import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { interfaceEventsPath } from "../../src/contract/interface-events.ts";
import { keysFile, openAccess } from "../../src/firewall/access/store.ts";
import { type RunningFirewall, startFirewall } from "../../src/firewall/start.ts";
import type { KernelRow } from "../../src/lib/kernel/row.ts";
import { createLog } from "../../src/process/log.ts";
import { builtPages } from "../rig/bundle.ts";
import { cheapPasswords } from "../rig/cheap-passwords.ts";
import { until } from "../rig/until.ts";

export type FirewallRig = {
  readonly folder: string;
  readonly service: RunningFirewall;
  readonly url: string;
  /** Replaces the kernel's devices; listeners get the change. */
  readonly setRows: (rows: readonly KernelRow[]) => Promise<void>;
  readonly close: () => Promise<void>;
};

const forever = 4_294_967_295;
const address = (family: "inet" | "inet6", local: string, prefixlen: number, more: object = {}) => ({
  ...{ family, local, prefixlen, scope: "global", valid_life_time: forever, preferred_life_time: forever },
  ...more,
});

/** A home router: a line to the provider, a home network, and a guest network on a VLAN. */
export const householdRows = (wan: string): readonly KernelRow[] => [
  {
    ifname: "ppp0",
    flags: ["POINTOPOINT", "NOARP", "UP", "LOWER_UP"],
    mtu: 1492,
    link_type: "ppp",
    addr_info: [
      address("inet", wan, 32),
      address("inet6", "2001:db8:4d:1a:9c3e:11ff:fe02:7d1", 64, { valid_life_time: 7_000, preferred_life_time: 3_000 }),
      address("inet6", "2001:db8:4d:9:1::5", 64, { valid_life_time: 900, preferred_life_time: 0, deprecated: true }),
      address("inet6", "fe80::9c3e:11ff:fe02:7d1", 64, { scope: "link" }),
    ],
  },
  {
    ifname: "eth0",
    flags: ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"],
    mtu: 1500,
    link_type: "ether",
    address: "9e:3e:11:02:07:d1",
    addr_info: [address("inet", "192.168.7.1", 24), address("inet6", "fd7a:115c:a1e0::1", 64)],
  },
  {
    ifname: "eth0.20",
    flags: ["BROADCAST", "MULTICAST"],
    mtu: 1500,
    link_type: "ether",
    link: "eth0",
    address: "9e:3e:11:02:07:d1",
    linkinfo: { info_kind: "vlan", info_data: { protocol: "802.1Q", id: 20, flags: [] } },
    addr_info: [],
  },
  {
    ifname: "lo",
    flags: ["LOOPBACK", "UP", "LOWER_UP"],
    mtu: 65_536,
    link_type: "loopback",
    address: "00:00:00:00:00:00",
    addr_info: [address("inet", "127.0.0.1", 8, { scope: "host" })],
  },
];

/** Removes the user that `setRows` adds, so that no page shows it. */
function forgetNudge(folder: string): void {
  const access = openAccess(keysFile(folder));
  access.users.remove("nudge");
  access.close();
}

/** Counters that only grow, at a rate that goes up and down. */
const withTraffic = (rows: readonly KernelRow[], now: number): readonly KernelRow[] =>
  rows.map((row, i) => {
    const [seconds, rate] = [now / 1_000 - 1_790_000_000, 4_000_000 / (i + 1)];
    const bytes = (share: number) => Math.round(share * rate * (seconds + 4 * Math.sin(seconds / 6 + i + share)));
    return { ...row, stats64: { rx: { bytes: bytes(1) }, tx: { bytes: bytes(0.3) } } };
  });

export async function startFirewallRig(): Promise<FirewallRig> {
  const folder = await mkdtemp(join(tmpdir(), "moor-firewall-pages-"));
  let rows = householdRows("203.0.113.97");
  let reads = 0;
  const service = await startFirewall({
    dataFolder: folder,
    listen: { host: "127.0.0.1", port: 0 },
    log: createLog({ format: "json", write: () => undefined }),
    read: async () => {
      reads += 1;
      return withTraffic(rows, Date.now());
    },
    readRoutes: async () => [{ family: "inet", destination: "default", dev: "ppp0", flags: [] }],
    pages: builtPages(),
    passwordCost: cheapPasswords,
  });
  return {
    folder,
    service,
    url: service.url,
    setRows: async (next) => {
      rows = next;
      // No kernel reports this change, so another listener makes the service read.
      const access = openAccess(keysFile(folder));
      const { key, secret } = access.keys.add({ name: "nudge", privileges: ["interface-status"], now: new Date() });
      access.close();
      const before = reads;
      // A report is reused for a fifth of a second.
      const isRead = async () => {
        await promisify(execFile)("curl", ["-skI", "-u", `${key}:${secret}`, service.url + interfaceEventsPath]);
        return reads > before;
      };
      await until(isRead, { every: 100, what: () => "the service to read the interfaces" });
      forgetNudge(folder);
    },
    close: async () => {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { interfaceEventsPath } from "../../src/contract/interface-events.ts";
import type { WireInterface } from "../../src/contract/interfaces.ts";
import { isLongRun } from "../rig/long-run.ts";
import { administer } from "../rig/moor.ts";
import { type Namespace, openNamespace } from "../rig/namespace.ts";
import { startService } from "../rig/services.ts";
import type { StartedProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";

/** The service as a process in a separate network namespace, and a listener from the start. */
let inside: Namespace;
let folder: string;
let curl: (path: string) => readonly [string, ...string[]];
let listener: StartedProcess;

type Report = Readonly<Record<string, WireInterface>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-devices-"));
  inside = await openNamespace();
  const keyFile = join(folder, "key");
  await administer(["key", "add", "--new", "--data", folder, "--privilege", "all", "--to", keyFile]);
  const { url } = await startService(inside, "firewall", folder, "127.0.0.1:8443");
  const [, key, secret] = /^key=(.*)\nsecret=(.*)\n/.exec(readFileSync(keyFile, "utf8")) ?? [];
  const userFile = join(folder, "user");
  writeFileSync(userFile, `user = "${key}:${secret}"\n`);
  curl = (path) => ["curl", "-sSN", "--config", userFile, "--cacert", join(folder, "ca.pem"), url + path];
  listener = inside.start(curl(interfaceEventsPath));
  await listener.says(/event: snapshot/);
});
afterAll(async () => {
  await inside?.close();
  rmSync(folder, { recursive: true, force: true });
});

const events = () => [...listener.out().matchAll(/id: (.*)\nevent: (.*)\ndata: (.*)\n\n/g)];
const lastEvent = () => JSON.parse(events().at(-1)?.[3] ?? "{}") as Report;
const asked = async () =>
  JSON.parse((await inside.run(curl("/api/diagnostics/interface/getinterfaceconfig"))).out) as Report;

/**
 * After the commands, the event and the report show the device like this; undefined if it must not exist. Both come
 * from one reading of the kernel, so that only a long run asks for the report after each step.
 */
async function expectShown(commands: readonly string[], device: string, expected: object | undefined): Promise<void> {
  await change(commands);
  const fits = () => {
    try {
      expectDevice(lastEvent(), device, expected);
      return true;
    } catch {
      return false;
    }
  };
  await until(fits, { what: () => `${JSON.stringify(expected)} in ${JSON.stringify(lastEvent()[device])}` });
  shown += 1;
  if (isLongRun || shown % 4 === 1) expectDevice(await asked(), device, expected);
}
let shown = 0;

/** How many probes, one per second, the kernel sends before a new IPv6 address may be used. */
const checks = (times: number) => `/proc/sys/net/ipv6/conf/wan/dad_transmits ${times}`;

/** What `ip` is to do, or a setting of the kernel and its value, in one process: the namespace is entered only once. */
async function change(commands: readonly string[]): Promise<void> {
  if (commands.length === 0) return;
  const lines = commands.map((command) =>
    command.startsWith("/proc") ? command.replace(/(\S+) (.*)/, 'echo "$2" > $1') : `ip ${command}`,
  );
  const { code, err } = await inside.run(["sh", "-ec", lines.join("\n")]);
  expect([code, err]).toEqual([0, ""]);
}

function expectDevice(report: Report, device: string, expected: object | undefined): void {
  if (expected === undefined) expect(report).not.toHaveProperty([device]);
  else expect(report[device]).toMatchObject(expected);
}

const v4 = (ipaddr: string, subnetbits = 24) => ({ ipaddr, subnetbits, tunnel: false });
const v6 = (ipaddr: string, more: object = {}) => expect.objectContaining({ ipaddr, subnetbits: 64, ...more });

/** Steps on the same device: each starts from the state after the previous one. */
const steps: readonly (readonly [string, readonly string[], string, object | undefined])[] = [
  [
    "made",
    ["link add wan type veth peer name isp"],
    "wan",
    { flags: ["broadcast", "multicast"], status: "no carrier" },
  ],
  [
    "up, the other end down",
    ["link set wan up"],
    "wan",
    { flags: ["up", "broadcast", "multicast"], status: "no carrier" },
  ],
  [
    "the other end up",
    ["link set isp up"],
    "wan",
    { flags: ["up", "broadcast", "running", "multicast", "lower_up"], status: "active", is_physical: false },
  ],
  ["an IPv4 address", ["addr add 192.0.2.1/24 dev wan"], "wan", { ipv4: [v4("192.0.2.1")] }],
  ["a second one", ["addr add 192.0.2.2/24 dev wan"], "wan", { ipv4: [v4("192.0.2.1"), v4("192.0.2.2")] }],
  ["the first removed, the second with it", ["addr del 192.0.2.1/24 dev wan"], "wan", { ipv4: [] }],
  [
    "a point-to-point address",
    ["addr add 203.0.113.7 peer 198.51.100.1 dev wan"],
    "wan",
    { ipv4: [{ ipaddr: "203.0.113.7", subnetbits: 32, tunnel: true, endpoint: "198.51.100.1" }] },
  ],
  [
    // The check takes ten minutes here, so that it does not end on a slow machine.
    "an IPv6 address, not yet checked for duplicates",
    [checks(600), "addr add 2001:db8::1/64 dev wan"],
    "wan",
    { ipv6: expect.arrayContaining([v6("2001:db8::1", { tentative: true, deprecated: false })]) },
  ],
  [
    "the same, checked",
    ["addr del 2001:db8::1/64 dev wan", checks(1), "addr add 2001:db8::1/64 dev wan"],
    "wan",
    { ipv6: expect.arrayContaining([v6("2001:db8::1", { tentative: false })]) },
  ],
  [
    "the same, deprecated",
    ["addr change 2001:db8::1/64 dev wan valid_lft 600 preferred_lft 0"],
    "wan",
    { ipv6: expect.arrayContaining([v6("2001:db8::1", { deprecated: true, pltime: "0" })]) },
  ],
  [
    "another usable one comes first, and a duplicate after both",
    [
      "addr add 2001:db8::2/64 dev wan nodad",
      "addr add 2001:db8::3/64 dev isp nodad",
      "addr add 2001:db8::3/64 dev wan",
    ],
    "wan",
    {
      ipv6: [
        v6("2001:db8::2", { deprecated: false, tentative: false }),
        v6("2001:db8::1", { deprecated: true }),
        v6("2001:db8::3", { tentative: true }),
        expect.objectContaining({ "link-local": true }),
      ],
    },
  ],
  [
    "the same, extended",
    ["addr change 2001:db8::1/64 dev wan valid_lft 7000 preferred_lft 7000"],
    "wan",
    {
      ipv6: expect.arrayContaining([
        v6("2001:db8::1", { deprecated: false, vltime: expect.stringMatching(/^(7000|69\d\d)$/) }),
      ]),
    },
  ],
  ["another MTU", ["link set wan mtu 1492"], "wan", { mtu: "1492" }],
  ["another MAC address", ["link set wan address 02:00:5e:10:00:77"], "wan", { macaddr: "02:00:5e:10:00:77" }],
  [
    "down: IPv6 is lost, IPv4 kept",
    ["link set wan down"],
    "wan",
    { ipv4: [expect.anything()], ipv6: [], status: "no carrier" },
  ],
  ["renamed", ["link set wan name pppoe0"], "pppoe0", { device: "pppoe0", ipv4: [expect.anything()] }],
  ["not under its old name", [], "wan", undefined],
  ["up again", ["link set pppoe0 up"], "pppoe0", { status: "active" }],
  ["deleted", ["link del pppoe0"], "pppoe0", undefined],
  ["its other end, too", [], "isp", undefined],
];

describe("a veth pair, step by step: the report and the event after each", () => {
  it.each(steps)("%s", async (_, commands, device, expected) => {
    await expectShown(commands, device, expected);
  });
});

describe("other kinds of devices", () => {
  it.each<readonly [string, readonly string[], string, object]>([
    [
      "a bridge with a port",
      [
        "link add port0 type veth peer name far0",
        "link add br0 type bridge",
        "link set port0 master br0",
        "link set br0 up",
      ],
      "br0",
      { is_physical: false, members: { port0: { flags: ["learning", "discover"] } }, fwddelay: "15", maxage: "20" },
    ],
    ["its port is promiscuous", [], "port0", { flags: expect.arrayContaining(["promisc"]) }],
    [
      "a tun device with addresses like ppp",
      ["tuntap add dev tun0 mode tun", "addr add 192.0.2.9 peer 192.0.2.10 dev tun0", "link set tun0 up"],
      "tun0",
      {
        flags: expect.arrayContaining(["up", "pointopoint", "noarp"]),
        macaddr: "00:00:00:00:00:00",
        ipv4: [{ ipaddr: "192.0.2.9", subnetbits: 32, tunnel: true, endpoint: "192.0.2.10" }],
        nd6: { flags: expect.arrayContaining(["no_dad"]) },
      },
    ],
    ["a tap device", ["tuntap add dev tap0 mode tap"], "tap0", { is_physical: false, status: "no carrier" }],
    [
      "VXLAN",
      ["link add vx0 type vxlan id 42 dstport 4789 local 192.0.2.9 remote 198.51.100.9"],
      "vx0",
      { is_physical: false, vxlan: { vni: "42", local: "192.0.2.9", remote: "198.51.100.9" } },
    ],
    ["macvlan", ["link add mv0 link far0 type macvlan mode bridge"], "mv0", { is_physical: false, mtu: "1500" }],
    ["IPv6 settings", [], "br0", { nd6: { flags: expect.arrayContaining(["performnud", "auto_linklocal"]) } }],
  ])("%s", async (_, commands, device, expected) => {
    await expectShown(commands, device, expected);
  });
});

describe("the kernel's tables", () => {
  const ask = async (path: string) => JSON.parse((await inside.run(curl(`/api/${path}`))).out) as unknown;

  it("are shown: routes, gateways, neighbours", async () => {
    await change([
      "link add lan type veth peer name desk",
      "addr add 198.51.100.1/24 dev lan",
      "link set lan up",
      "link set desk up",
      "route add default via 198.51.100.254 dev lan",
      "neigh add 198.51.100.9 lladdr 02:00:5e:10:00:09 dev lan nud permanent",
    ]);
    expect(await ask("diagnostics/interface/getRoutes")).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ destination: "default", gateway: "198.51.100.254", netif: "lan", flags: "UGS" }),
        expect.objectContaining({ destination: "198.51.100.0/24", netif: "lan", flags: "U", mtu: "1500" }),
      ]),
    );
    expect(await ask("routing/settings/searchGateway")).toMatchObject({
      rows: [{ name: "LAN_GW", gateway: "198.51.100.254", if: "lan", status: "Online", defaultgw: true }],
    });
    const neighbour = { ip: "198.51.100.9", mac: "02:00:5e:10:00:09", intf: "lan", permanent: true, type: "ethernet" };
    expect(await ask("diagnostics/interface/getArp")).toEqual([expect.objectContaining(neighbour)]);
    expect(await ask("diagnostics/interface/search_arp")).toMatchObject({ total: 1, rows: [neighbour] });
  });

  it("are shown: running threads, including the service itself", async () => {
    const { headers, details } = (await ask("diagnostics/activity/getActivity")) as {
      headers: string[];
      details: Record<string, string>[];
    };
    expect(headers[0]).toMatch(
      /^last pid: \d+; {2}load averages: [ \d.]+, [ \d.]+, [ \d.]+ {2}up \d+\+[\d:]{8} {4}[\d:]{8}$/,
    );
    expect(headers[2]).toMatch(/^CPU: .* ([\d.]+)% idle$/);
    expect(headers[3]).toMatch(/^Mem: \d+[KMG] Active, /);
    const { uid } = userInfo();
    expect(details).toContainEqual(
      expect.objectContaining({
        USERNAME: uid === 0 ? "root" : expect.any(String),
        COMMAND: expect.stringMatching(/^(?:MainThread|node)/),
      }),
    );
    expect(JSON.stringify(details)).not.toContain(folder);
  });
});

describe("a change without a kernel event", () => {
  it("is soon in the report", async () => {
    await inside.ip("link set mv0 group 7");
    await expect.poll(async () => (await asked()).mv0).toMatchObject({ groups: ["7"] });
  });
});

describe("many simultaneous changes", () => {
  it("end with the last state, in fewer events than changes", async () => {
    const before = events().length;
    const lines = Array.from({ length: 120 }, (_, at) => `addr add 10.9.${at >> 4}.${(at & 15) + 1}/32 dev br0`);
    const batch = join(folder, "batch");
    writeFileSync(batch, lines.join("\n"));
    await inside.ip(`-batch ${batch}`);
    await until(() => lastEvent().br0?.ipv4.length === 120, {
      what: () => `120 of ${lastEvent().br0?.ipv4.length}`,
    });
    expect(events().length - before).toBeLessThan(100);
    const ids = events().map(([, id = ""]) => Number(id.split("-")[1]));
    expect(ids).toEqual(ids.map((_, at) => (ids[0] ?? 0) + at));
  });

  it("are reported although `ip monitor` was killed", async () => {
    let tellers: readonly string[] = [];
    const find = async () => {
      const { out } = await inside.run(["pgrep", "--exact", "--ns", String(listener.pid), "--nslist", "net", "ip"]);
      tellers = out.trim().split("\n").filter(Boolean);
      return tellers;
    };
    // A reading may be running, which is also an `ip`.
    await expect.poll(find).toHaveLength(1);
    await inside.run(["kill", "-9", ...(tellers as [string])]);
    await expectShown(["addr add 10.10.10.10/32 dev tun0"], "tun0", {
      ipv4: expect.arrayContaining([v4("10.10.10.10", 32)]),
    });
  });
});

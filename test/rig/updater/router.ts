import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { node, openNamespace, type StartOptions } from "../namespace.ts";
import type { Ended, StartedProcess } from "../started-process.ts";

/** A router with miniupnpd, and a machine behind it: two network namespaces with a cable between them. */
export type Router = {
  /** The machine's router, as its routing table says. */
  readonly address: string;
  /** Gives the router another external address, or takes it away. */
  readdress(to: string | undefined): Promise<void>;
  /** Starts miniupnpd with these settings besides the usual ones; the one before is stopped. */
  serve(settings?: readonly string[]): Promise<StartedProcess>;
  stopServing(): Promise<void>;
  /** The rules of the packet filter. */
  rules(): Promise<string>;
  /** Starts a program on the machine behind it. */
  start(command: readonly [string, ...string[]], options?: StartOptions): StartedProcess;
  run(command: readonly [string, ...string[]]): Promise<Ended>;
  /** What to put before a command, to start it there by other means. */
  entering(cwd: string): readonly string[];
  /** Starts a program on the router itself. */
  startOnRouter(command: readonly [string, ...string[]]): StartedProcess;
  close(): Promise<void>;
};

const usual = [
  ...["ext_ifname=wan0", "listening_ip=lan0", "port=5000", "enable_upnp=yes", "enable_natpmp=yes", "secure_mode=yes"],
  ...[
    "uuid=00000000-0000-0000-0000-000000000001",
    "friendly_name=Attic router",
    "allow 1024-65535 0.0.0.0/0 1024-65535",
  ],
];

/** The chains in which miniupnpd writes the mappings that are asked for. */
const rules = `table inet filter {
  chain miniupnpd { }
  chain forward { type filter hook forward priority 0; jump miniupnpd; }
  chain prerouting_miniupnpd { }
  chain prerouting { type nat hook prerouting priority -100; jump prerouting_miniupnpd; }
  chain postrouting_miniupnpd { }
  chain postrouting { type nat hook postrouting priority 100; jump postrouting_miniupnpd; }
}`;

export async function openRouter(folder: string, external: string): Promise<Router> {
  const inside = await openNamespace();
  const machine = inside.start(["unshare", "--net", "sh", "-c", "echo ready; exec sleep infinity"]);
  await machine.says(/ready/);
  const there = ["nsenter", "--net", "--target", String(machine.pid)] as const;
  const readdress = (to: string | undefined) =>
    inside.ip("-4 addr flush dev wan0", ...(to === undefined ? [] : [`addr add ${to}/24 dev wan0`]));
  await inside.ip(
    ...["link add wan0 type veth peer name isp0", "link set wan0 up", "link set isp0 up"],
    ...["link add lan0 type veth peer name pc0", "addr add 192.168.77.1/24 dev lan0", "link set lan0 up"],
    `link set pc0 netns ${machine.pid}`,
  );
  await readdress(external);
  const ruled = await inside.run(["nft", rules]);
  if (ruled.code !== 0) throw new Error(ruled.err);
  const set =
    "ip link set lo up; ip addr add 192.168.77.2/24 dev pc0; ip link set pc0 up; ip route add default via 192.168.77.1";
  const { code, err } = await inside.run([...there, "sh", "-ec", set]);
  if (code !== 0) throw new Error(err);
  let server: StartedProcess | undefined;
  const stopServing = async () => {
    await server?.stop("SIGKILL");
    server = undefined;
  };
  return {
    address: "192.168.77.1",
    readdress,
    async serve(settings = []) {
      await stopServing();
      const file = join(folder, "miniupnpd.conf");
      const lines = [...settings, ...usual, `lease_file=${join(folder, "leases")}`, ""];
      writeFileSync(file, lines.filter((line) => !isRepeated(line, settings)).join("\n"));
      // In the foreground, with a log of each request.
      server = inside.start(["miniupnpd", "-d", "-f", file, "-P", join(folder, "miniupnpd.pid")]);
      await server.says(/Listening for NAT-PMP|HTTP listening/);
      return server;
    },
    stopServing,
    rules: async () => (await inside.run(["nft", "list", "ruleset"])).out,
    start: (command, options) => inside.start([...there, ...command], options),
    run: (command) => inside.run([...there, ...command]),
    entering: (cwd) => [...inside.entering(cwd), ...there, `--wdns=${cwd}`],
    startOnRouter: (command) => inside.start(command),
    close: () => inside.close(),
  };
}

const keyOf = (line: string) => line.split("=")[0];

/** Whether another of these lines has the same setting. */
const isRepeated = (line: string, settings: readonly string[]) =>
  settings.some((other) => other !== line && keyOf(other) === keyOf(line));

/** Follows the sources of a config, or answers messages; on the machine behind the router. */
export const sourceProcess = (config?: string): [string, ...string[]] => [
  node,
  join(import.meta.dirname, "source-process.ts"),
  ...(config === undefined ? [] : [config]),
];

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Said, SourceRig } from "../source-suite.ts";
import { type Answer, type HttpPeer, startHttpPeer } from "./http-peer.ts";

/** uhttpd-mod-ubus with rpcd and netifd, as their documentation shows them. */
export type OpenwrtPeer = HttpPeer & {
  /** The answer to `network.interface dump`. */
  dump: unknown;
  readonly sessions: Set<string>;
  /** How an expired session is refused: by uhttpd or by the object. */
  denial: Answer;
  mayDump: boolean;
};

export const deniedByUhttpd: Answer = {
  body: { jsonrpc: "2.0", id: 1, error: { code: -32_002, message: "Access denied" } },
};
export const deniedByUbus: Answer = { body: { jsonrpc: "2.0", id: 1, result: [6] } };

export async function startOpenwrtPeer(): Promise<OpenwrtPeer> {
  const sessions = new Set<string>();
  let number = 0;
  const done = (data: unknown): Answer => ({ body: { jsonrpc: "2.0", id: 1, result: [0, data] } });
  const peer = await startHttpPeer(({ method, path, body }) => {
    if (method !== "POST" || path !== "/ubus") return { status: 404 };
    const { params } = JSON.parse(body) as { params: [string, string, string, Record<string, string>] };
    const [session, object, called, args] = params;
    if (object === "session" && called === "login") {
      if (args.username !== "moor" || args.password !== "thepassword") return deniedByUbus;
      const id = String(++number).padStart(32, "5");
      sessions.add(id);
      return done({ ubus_rpc_session: id, timeout: 300, expires: 299, acls: {}, data: { username: "moor" } });
    }
    if (object === "session" && called === "destroy") return sessions.delete(session) ? done({}) : whole.denial;
    const isDump = object === "network.interface" && called === "dump";
    return isDump && sessions.has(session) && whole.mayDump ? done(whole.dump) : whole.denial;
  });
  const whole: OpenwrtPeer = Object.assign(peer, {
    ...{ dump: { interface: [] } as unknown, sessions, denial: deniedByUhttpd, mayDump: true },
  });
  return whole;
}

/** One entry of the dump. */
export const wan = ({ ipv4, ipv6 }: Said) => ({
  ...{ interface: "wan0", up: true, pending: false, available: true, autostart: true, dynamic: false, uptime: 4711 },
  ...{ l3_device: "pppoe-wan", proto: "pppoe", device: "eth1", metric: 0, dns_metric: 0, delegation: true },
  "ipv4-address": ipv4.map((address) => ({ address, mask: 32, ptpaddress: "198.51.100.1" })),
  "ipv6-address": ipv6.map((address) => ({ address, mask: 64, preferred: 3_000, valid: 6_000 })),
  ...{ "ipv6-prefix": [], "ipv6-prefix-assignment": [], route: [], "dns-server": [], data: {} },
});

export async function startOpenwrt(folder: string): Promise<SourceRig> {
  const peer = await startOpenwrtPeer();
  writeFileSync(join(folder, "password"), "thepassword", { mode: 0o600 });
  return {
    ...peer,
    entry: (timeout) =>
      `{ kind: openwrt, url: "${peer.url}", user: moor, password: { file: password }, timeout: ${timeout} }`,
    device: "wan0",
    secret: "thepassword",
    async say(said) {
      await peer.recover();
      peer.dump = { interface: [wan(said)] };
      return true;
    },
    faults: [
      ...peer.faults,
      peer.fault("has no ubus", { status: 404 }, /has no ubus at this URL/),
      peer.fault("sends a page", { body: "<!doctype html><p>thepassword" }, /a web page instead of data/),
      peer.fault("truncates its answer", { body: '{"result":[0,{"inter' }, /not JSON, or was cut off/),
      peer.fault(
        "echoes the password",
        { body: { result: [0, { interface: "thepassword" }] } },
        /no list of interfaces|session/,
      ),
      peer.fault("fails inside", { body: { result: [9] } }, /ubus status 9/),
      peer.fault("knows no such object", { body: { error: { code: -32_000 } } }, /error -32000/),
    ],
  };
}

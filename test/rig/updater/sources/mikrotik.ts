import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceRig } from "../source-suite.ts";
import { type Answer, type HttpPeer, startHttpPeer } from "./http-peer.ts";

/**
 * The REST API of RouterOS 7 (https://help.mikrotik.com/docs/spaces/ROS/pages/47579162/REST+API): all values are texts.
 * The entries have the properties that terraform-provider-routeros recorded
 * (https://github.com/terraform-routeros/terraform-provider-routeros, resource_ipv6_address.go). An unknown path is a
 * bad request, and a user without the policy `read` gets a 500.
 */
export type MikrotikPeer = HttpPeer & { readonly lists: Record<string, unknown> };

export async function startMikrotikPeer(): Promise<MikrotikPeer> {
  const lists: Record<string, unknown> = { "/rest/interface": [], "/rest/ip/address": [], "/rest/ipv6/address": [] };
  const authorization = `Basic ${Buffer.from("moor:thepassword").toString("base64")}`;
  const peer = await startHttpPeer(({ path, headers }) => {
    if (headers.authorization !== authorization) return refusal(401, "Unauthorized");
    const list = lists[path];
    if (list === undefined) return refusal(400, "Bad Request", `no such command or directory (${path.slice(6)})`);
    return { headers: { "content-type": "application/json" }, body: list };
  });
  return { ...peer, lists };
}

const refusal = (error: number, message: string, detail?: string): Answer => ({
  status: error,
  headers: { "content-type": "application/json" },
  body: { ...(detail !== undefined && { detail }), error, message },
});

const plain = { disabled: "false", dynamic: "true", invalid: "false", interface: "wan0", "actual-interface": "wan0" };
const ofIpv6 = { advertise: "false", "eui-64": "false", "from-pool": "", "link-local": "false", "no-dad": "false" };
const linkLocal = { ".id": "*F", address: "fe80::5605:abff:fecd:1231/64", ...plain, ...ofIpv6, "link-local": "true" };

export const wanInterface = {
  ".id": "*1",
  "actual-mtu": "1492",
  disabled: "false",
  "last-link-up-time": "2026-11-17 05:02:11",
  "link-downs": "3",
  mtu: "1492",
  name: "wan0",
  running: "true",
  type: "pppoe-out",
};

export async function startMikrotik(folder: string): Promise<SourceRig> {
  const peer = await startMikrotikPeer();
  writeFileSync(join(folder, "password"), "thepassword", { mode: 0o600 });
  return {
    ...peer,
    entry: (timeout) =>
      `{ kind: mikrotik, url: "${peer.url}", user: moor, password: { file: password }, timeout: ${timeout} }`,
    device: "wan0",
    secret: "thepassword",
    async say({ ipv4, ipv6 }) {
      await peer.recover();
      const entries = (texts: readonly string[], length: number, more: object) =>
        texts.map((text, index) => ({ ".id": `*${index}`, address: `${text}/${length}`, ...plain, ...more }));
      Object.assign(peer.lists, {
        "/rest/interface": [wanInterface],
        "/rest/ip/address": entries(ipv4, 32, { network: "198.51.100.1" }),
        "/rest/ipv6/address": [...entries(ipv6, 64, ofIpv6), linkLocal],
      });
      return true;
    },
    faults: [
      ...peer.faults,
      peer.fault(
        "rejects the password",
        refusal(401, "Unauthorized", "thepassword"),
        /rejected the user name or the password/,
      ),
      peer.fault("forbids it", { status: 403 }, /does not allow this user to read/),
      peer.fault(
        "does not let this user read",
        refusal(500, "Internal Server Error", "not enough permissions (9)"),
        /does not allow this user to read/,
      ),
      peer.fault(
        "has no REST API, as RouterOS 6",
        { status: 404, body: "<html>Error 404" },
        /has no REST API at this URL/,
      ),
      peer.fault("sends a page", { body: "<!doctype html><p>RouterOS" }, /a web page instead of data/),
      peer.fault("truncates its answer", { body: '[{"address":"9.9.9' }, /not JSON, or was cut off/),
      peer.fault("sends one object", { body: { address: "9.9.9.9/32" } }, /it is not a list/),
      peer.fault("sends a number", { body: [{ name: 7 }] }, /a value that is not text/),
      peer.fault(
        "sends an odd flag",
        { body: [{ name: "wan0", disabled: "maybe" }] },
        /disabled is neither true nor false/,
      ),
    ],
  };
}

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceRig } from "../source-suite.ts";
import { type HttpPeer, startHttpPeer } from "./http-peer.ts";

/** The REST API of RouterOS 7. All values are texts. */
export type MikrotikPeer = HttpPeer & { readonly lists: Record<string, unknown> };

export async function startMikrotikPeer(): Promise<MikrotikPeer> {
  const lists: Record<string, unknown> = { "/rest/interface": [], "/rest/ip/address": [], "/rest/ipv6/address": [] };
  const authorization = `Basic ${Buffer.from("moor:thepassword").toString("base64")}`;
  const peer = await startHttpPeer(({ path, headers }) => {
    if (headers.authorization !== authorization) return { status: 401, body: { error: 401, message: "Unauthorized" } };
    const list = lists[path];
    return list === undefined ? { status: 404, body: { error: 404, message: "Not Found" } } : { body: list };
  });
  return { ...peer, lists };
}

const plain = { disabled: "false", dynamic: "true", invalid: "false", interface: "wan0", "actual-interface": "wan0" };

export const wanInterface = { ".id": "*1", name: "wan0", type: "pppoe-out", running: "true", disabled: "false" };

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
      const entries = (texts: readonly string[], length: number) =>
        texts.map((text, index) => ({ ".id": `*${index}`, address: `${text}/${length}`, ...plain }));
      Object.assign(peer.lists, {
        "/rest/interface": [wanInterface],
        "/rest/ip/address": entries(ipv4, 32),
        "/rest/ipv6/address": entries(ipv6, 64),
      });
      return true;
    },
    faults: [
      ...peer.faults,
      peer.fault(
        "rejects the password",
        { status: 401, body: "thepassword" },
        /rejected the user name or the password/,
      ),
      peer.fault("forbids it", { status: 403 }, /does not allow this user to read/),
      peer.fault("has no REST API", { status: 404, body: { error: 404 } }, /has no REST API at this URL/),
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

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceRig } from "../source-suite.ts";
import { type HttpPeer, startHttpPeer } from "./http-peer.ts";

/** The package RESTAPI of pfSense, version 2: `GET /api/v2/status/interfaces`. */
export type PfsensePeer = HttpPeer & { data: unknown };

export async function startPfsensePeer(): Promise<PfsensePeer> {
  const peer = await startHttpPeer(({ path, headers }) => {
    if (headers["x-api-key"] !== "thekey")
      return { status: 401, body: { code: 401, status: "unauthorized", data: [] } };
    if (path !== "/api/v2/status/interfaces")
      return { status: 404, body: { code: 404, status: "not found", data: [] } };
    return { body: { code: 200, status: "ok", response_id: "SUCCESS", message: "", data: whole.data } };
  });
  const whole: PfsensePeer = Object.assign(peer, { data: [] as unknown });
  return whole;
}

export const pfsenseWan = {
  ...{
    name: "wan0",
    descr: "WAN",
    hwif: "pppoe0",
    macaddr: "00:00:00:00:00:00",
    mtu: "1492",
    enable: true,
    status: "up",
  },
  ...{ ipaddr: "", subnet: "", linklocal: "fe80::1%pppoe0", ipaddrv6: "", subnetv6: "", gateway: "", gatewayv6: "" },
};

export async function startPfsense(folder: string): Promise<SourceRig> {
  const peer = await startPfsensePeer();
  writeFileSync(join(folder, "key"), "thekey", { mode: 0o600 });
  return {
    ...peer,
    entry: (timeout) => `{ kind: pfsense, url: "${peer.url}", key: { file: key }, timeout: ${timeout} }`,
    device: "wan0",
    secret: "thekey",
    async say({ ipv4, ipv6 }) {
      if (ipv4.length > 1 || ipv6.length > 1) return false;
      await peer.recover();
      peer.data = [{ ...pfsenseWan, ipaddr: ipv4[0] ?? "", ipaddrv6: ipv6[0] ?? null, subnetv6: "64" }];
      return true;
    },
    faults: [
      ...peer.faults,
      peer.fault("rejects the key", { status: 401, body: "thekey" }, /rejected the key/),
      peer.fault("forbids it", { status: 403 }, /does not allow the key's user/),
      peer.fault("has no such package", { status: 404, body: "<html>404" }, /has no REST API at this URL/),
      peer.fault("has it switched off", { status: 503 }, /switched off/),
      peer.fault("sends a page", { body: "<!doctype html><p>thekey" }, /a web page instead of data/),
      peer.fault("truncates its answer", { body: '{"data":[{"na' }, /not JSON, or was cut off/),
      peer.fault("echoes the key", { body: { data: ["thekey"] } }, /an interface is not an object/),
      peer.fault("sends a number", { body: { data: [{ name: "wan0", ipaddr: 7 }] } }, /an address is not text/),
    ],
  };
}

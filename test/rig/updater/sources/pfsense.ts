import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceRig } from "../source-suite.ts";
import { type Answer, type HttpPeer, startHttpPeer } from "./http-peer.ts";

/**
 * The package RESTAPI of pfSense, version 2: `GET /api/v2/status/interfaces`, with the fields of its model
 * InterfaceStats (https://github.com/pfrest/pfSense-pkg-RESTAPI); what an interface does not have is null.
 * `GET /api/v2/status/gateways` has those of RoutingGatewayStatus. A path that is not installed gets nginx's page.
 */
export type PfsensePeer = HttpPeer & { data: unknown; gateways: unknown };

export async function startPfsensePeer(): Promise<PfsensePeer> {
  const peer = await startHttpPeer(({ path, headers }) => {
    const data =
      path === "/api/v2/status/interfaces"
        ? whole.data
        : path === "/api/v2/status/gateways"
          ? whole.gateways
          : undefined;
    if (data === undefined) return notInstalled;
    if (headers["x-api-key"] !== "thekey")
      return refusal(401, "unauthorized", "AUTH_AUTHENTICATION_FAILED", "Authentication failed");
    return {
      headers: { "content-type": "application/json" },
      body: { code: 200, status: "ok", response_id: "SUCCESS", message: "", data, _links: {} },
    };
  });
  const whole: PfsensePeer = Object.assign(peer, { data: [] as unknown, gateways: [] as unknown });
  return whole;
}

const notInstalled: Answer = { status: 404, body: "<html><head><title>404 Not Found</title></head></html>" };

const refusal = (code: number, status: string, response_id: string, message: string): Answer => ({
  status: code,
  headers: { "content-type": "application/json" },
  body: { code, status, response_id, message, data: [], _links: {} },
});

export const pfsenseWan = {
  id: 0,
  name: "wan0",
  descr: "WAN",
  hwif: "pppoe0",
  macaddr: "00:00:00:00:00:00",
  mtu: "1492",
  enable: true,
  status: "up",
  ipaddr: null,
  subnet: null,
  linklocal: "fe80::1%pppoe0",
  ipaddrv6: null,
  subnetv6: null,
  inerrs: 0,
  outerrs: 0,
  collisions: 0,
  inbytes: 4711,
  inbytespass: 4711,
  outbytes: 815,
  outbytespass: 815,
  inpkts: 47,
  inpktspass: 47,
  outpkts: 8,
  outpktspass: 8,
  dhcplink: null,
  media: null,
  gateway: "198.51.100.1",
  gatewayv6: null,
};

/** As pfSense's own `return_gateways_status` has them; the package makes numbers of the texts with units. */
export const pfsenseGateway = {
  id: 0,
  name: "WAN_PPPOE",
  srcip: "9.9.9.9",
  monitorip: "198.51.100.1",
  delay: 4.2,
  stddev: 0.3,
  loss: 0,
  status: "online",
  substatus: "none",
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
      const [four, six] = [ipv4[0] ?? null, ipv6[0] ?? null];
      const subnets = { subnet: four && "255.255.255.255", subnetv6: six && "64" };
      peer.data = [{ ...pfsenseWan, ipaddr: four, ipaddrv6: six, ...subnets }];
      return true;
    },
    faults: [
      ...peer.faults,
      peer.fault(
        "rejects the key",
        refusal(401, "unauthorized", "AUTH_AUTHENTICATION_FAILED", "thekey"),
        /rejected the key/,
      ),
      peer.fault(
        "does not let the key's user read",
        refusal(403, "forbidden", "AUTH_AUTHORIZATION_FAILED", "Authorization failed"),
        /does not allow the key's user/,
      ),
      peer.fault("has no such package", notInstalled, /has no REST API at this URL/),
      peer.fault(
        "has it switched off",
        refusal(503, "service unavailable", "ENDPOINT_DISABLED", "The REST API is not enabled"),
        /switched off/,
      ),
      peer.fault("sends a page", { body: "<!doctype html><p>thekey" }, /a web page instead of data/),
      peer.fault("truncates its answer", { body: '{"data":[{"na' }, /not JSON, or was cut off/),
      peer.fault("echoes the key", { body: { data: ["thekey"] } }, /an interface is not an object/),
      peer.fault("sends a number", { body: { data: [{ name: "wan0", ipaddr: 7 }] } }, /an address is not text/),
    ],
  };
}

import type { ReportedInterface } from "../../../core/addresses/interface-report.ts";
import { isObject } from "../../../core/is-object.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import type { Endpoint } from "../../../lib/http-client/endpoint.ts";
import { mapping, needed, usually } from "../../../lib/settings/mapping.ts";
import { flag } from "../../../lib/settings/setting.ts";
import { endpointFields, oneTrust, withTrust } from "../../config/endpoint.ts";
import { headerSecret, type Secret } from "../../config/secret.ts";
import { GatewayMemory, type GatewayStatus, type Line } from "../gateway-status.ts";
import { showable } from "../showable.ts";
import { type AddressSource, neverPushes, type SourceKind, type SourceReading, unavailable } from "../source.ts";
import { readJson, type StatusWords } from "./read-json.ts";

export type PfsenseSource = Endpoint & { readonly key: Secret; readonly gateways: boolean };

/** A pfSense with version 2 of the package RESTAPI (pfrest.org). */
export const pfsense = {
  ...mapping(
    {
      ...endpointFields("The URL of the firewall.", "https://192.168.1.1"),
      key: needed(headerSecret("A key of the REST API (System: REST API: Keys).")),
      gateways: usually(
        flag(
          "Also read the state of the gateways (GET /api/v2/status/gateways): a name with several interfaces leaves a line whose gateway is down.",
        ),
        false,
      ),
    },
    {
      title: "Source: pfsense",
      description:
        "A pfSense firewall with the package RESTAPI, version 2. Its devices are the interfaces of its settings: wan, lan, opt1.",
      schema: { examples: [{ kind: "pfsense", url: "https://192.168.1.1", key: { file: "secrets/pfsense-key" } }] },
      checkKeys: oneTrust,
      transform: withTrust,
    },
  ),
  kindLabel: "firewall",
  can: { push: false, prefix: true, lifetimes: false },
  open: async (config: PfsenseSource, connect) => createPfsenseSource(config, await connect(config)),
} satisfies SourceKind<PfsenseSource>;

function createPfsenseSource(config: PfsenseSource, client: HttpClient): AddressSource {
  const memory = new GatewayMemory();
  return {
    async read(signal) {
      const headers = { "x-api-key": config.key() };
      const get = (of: "interfaces" | "gateways") =>
        client.send({ method: "GET", path: `/api/v2/status/${of}`, headers }, signal);
      const [interfaces, gateways] = await Promise.all([
        get("interfaces"),
        config.gateways ? get("gateways") : undefined,
      ]);
      const read = readJson(interfaces, firewall, words("interfaces"));
      if (read.kind !== "json") return read;
      const reading = readingOf(read.value);
      if (gateways === undefined || reading.kind !== "report") return reading;
      const states = readJson(gateways, firewall, words("gateways"));
      if (states.kind !== "json") return memory.unknown(reading.report, states);
      const gatewayStates = gatewaysIn(states.value);
      if (gatewayStates === undefined) return memory.unknown(reading.report, noGateways);
      return memory.noted(reading.report, gatewayStates, linesIn(read.value));
    },
    follow: neverPushes,
    close: () => client.close(),
  };
}

const firewall = "the pfSense firewall";

const malformed = (because: string) =>
  unavailable(`the answer of ${firewall} is malformed: ${because}`, "update its package RESTAPI");

const noGateways = {
  because: `the answer of ${firewall} is malformed: it has no list of gateways`,
  todo: "update its package RESTAPI",
};

function readingOf(value: unknown): SourceReading {
  const data = isObject(value) ? value.data : undefined;
  if (!Array.isArray(data)) return malformed("it has no list of interfaces");
  const report = new Map<string, ReportedInterface>();
  for (const each of data as readonly unknown[]) {
    const read = isObject(each) ? interfaceOf(each) : "an interface is not an object";
    if (typeof read === "string") return malformed(read);
    report.set(read.device, read);
  }
  return { kind: "report", report };
}

/**
 * A string says what is wrong. The package reports only an interface's main addresses, and null or an empty text for
 * none.
 */
function interfaceOf(fields: Readonly<Record<string, unknown>>): ReportedInterface | string {
  const { name, enable, status } = fields;
  if (typeof name !== "string" || name === "") return "an interface has no name";
  const device = showable(name);
  const [ipv4, ipv6] = [textIn(fields.ipaddr), textIn(fields.ipaddrv6)];
  if (ipv4 === undefined || ipv6 === undefined) return `${device}: an address is not text`;
  const length = Number(fields.subnetv6);
  return {
    device,
    ...(typeof enable === "boolean" && typeof status === "string" && status !== ""
      ? { up: enable && ["up", "active", "associated"].includes(status) }
      : {}),
    ipv4: ipv4 === "" ? [] : [{ text: showable(ipv4) }],
    ipv6:
      ipv6 === ""
        ? []
        : [
            {
              text: showable(ipv6),
              linkLocal: false,
              deprecated: false,
              tentative: false,
              detached: false,
              ...(Number.isInteger(length) && length > 0 && { prefixLength: length }),
            },
          ],
  };
}

/**
 * Undefined if it is no list of gateways. A gateway is known by the address that pfSense sends its probes from, which
 * is an address of the line: the package does not name the interface.
 */
function gatewaysIn(value: unknown): readonly GatewayStatus[] | undefined {
  const data = isObject(value) ? value.data : undefined;
  if (!Array.isArray(data) || !data.every(isObject)) return undefined;
  return data.map(({ name, srcip, status, substatus }) => ({
    name: typeof name === "string" ? showable(name) : "",
    address: typeof srcip === "string" && srcip !== "" ? withoutScope(srcip) : undefined,
    // `highloss` and `highdelay` beside `online` are warnings: the line works.
    isDown: status === "down" || status === "force_down" || substatus === "force_down",
  }));
}

function linesIn(value: unknown): readonly Line[] {
  const data = isObject(value) && Array.isArray(value.data) ? value.data.filter(isObject) : [];
  return data.flatMap(({ name, ipaddr, ipaddrv6, linklocal }) =>
    [ipaddr, ipaddrv6, linklocal].flatMap((address) =>
      typeof name === "string" && typeof address === "string" && address !== ""
        ? [{ device: showable(name), network: hostNetwork(withoutScope(address)) }]
        : [],
    ),
  );
}

const withoutScope = (address: string): string => address.replace(/%.*/, "");
const hostNetwork = (address: string): string => `${address}/${address.includes(":") ? 128 : 32}`;

const textIn = (value: unknown): string | undefined => {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : undefined;
};

const words = (read: "interfaces" | "gateways"): StatusWords => ({
  401: [
    `${firewall} rejected the key (401)`,
    "create a key in System: REST API: Keys, and allow keys in System: REST API: Settings",
  ],
  403: [
    `${firewall} does not allow the key's user to read the ${read} (403)`,
    `give the user the privilege for GET /api/v2/status/${read}, and check the access list of the REST API`,
  ],
  404: [`${firewall} has no REST API at this URL (404)`, "install the package RESTAPI, version 2 (pfrest.org)"],
  503: [`${firewall} has its REST API switched off (503)`, "switch it on in System: REST API: Settings"],
});

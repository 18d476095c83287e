import { type Address, type Family, families, parseAddress } from "../../core/addresses/address.ts";
import type { InterfaceReport } from "../../core/addresses/interface-report.ts";
import { isInNetwork, parseNetwork } from "../../core/addresses/network.ts";
import { firstFew } from "../../core/first-few.ts";
import { isObject, jsonOf } from "../../core/is-object.ts";
import { showable } from "./showable.ts";
import type { SourceReading, WhyUnknown } from "./source.ts";

/** One gateway of a firewall. */
export type GatewayStatus = {
  readonly name: string;
  /** With the device behind a `%` if it is link-local. Undefined if the gateway has none at the moment. */
  readonly address: string | undefined;
  readonly isDown: boolean;
  /** The interface that the firewall itself names. Otherwise, the address decides. */
  readonly device?: string | undefined;
  readonly family?: Family | undefined;
};

/** OPNsense's `routes/gateway/status`. Undefined if it is not such an answer. */
export function readGatewayStatus(body: string): readonly GatewayStatus[] | undefined {
  const wire = jsonOf(body);
  // OPNsense answers `{items: [], status: "failed"}` if its backend does not report the gateways.
  const isState = isObject(wire) && Array.isArray(wire.items) && wire.status !== "failed";
  const items = isState ? (wire.items as readonly unknown[]) : undefined;
  if (!items?.every(isItem)) return undefined;
  return items.map(({ name, address, status }) => ({
    name: typeof name === "string" ? showable(name) : "",
    address: address === "~" || address === "" ? undefined : address,
    // `loss` and `delay` are warnings: the line works.
    isDown: status === "down" || status === "force_down",
  }));
}

type Item = { readonly name?: unknown; readonly address: string; readonly status: string };

const isItem = (value: unknown): value is Item =>
  isObject(value) && typeof value.address === "string" && typeof value.status === "string";

/**
 * OPNsense's `routing/settings/searchGateway`, which knows the interface of each gateway. The state is there as a
 * translated text, and as the colour of a symbol.
 */
export function readGatewayRows(body: string): readonly GatewayStatus[] | undefined {
  const wire = jsonOf(body);
  const rows = isObject(wire) && Array.isArray(wire.rows) ? (wire.rows as readonly unknown[]) : undefined;
  if (!rows?.every(isObject)) return undefined;
  // A gateway that is switched off is listed, without a state.
  const inUse = rows.filter(({ disabled }) => disabled !== true);
  return inUse.map(({ name, if: device, ipprotocol, gateway, label_class }) => ({
    name: typeof name === "string" ? showable(name) : "",
    address: typeof gateway === "string" && parseAddress(gateway) ? gateway : undefined,
    isDown: typeof label_class === "string" && label_class.includes("text-danger"),
    device: typeof device === "string" && device !== "" ? showable(device) : undefined,
    family: ipprotocol === "inet" ? "ipv4" : ipprotocol === "inet6" ? "ipv6" : undefined,
  }));
}

/** The states, with the interfaces of the rows that have the same names. */
export const joined = (states: readonly GatewayStatus[], rows: readonly GatewayStatus[]): readonly GatewayStatus[] =>
  states.map((state) => {
    const row = rows.find(({ name }) => name === state.name);
    return row ? { ...state, device: row.device, family: row.family } : state;
  });

/** A network that an interface is directly connected to, or the other end of its point-to-point link. */
export type Line = { readonly device: string; readonly network: string };

/** The interfaces with the smallest network that the gateway is in: its own address, if an interface names it. */
function devicesOf(gateway: Address, lines: readonly Line[]): readonly string[] {
  const around = lines.flatMap(({ device, network }) => {
    const parsedNetwork = parseNetwork(network);
    return parsedNetwork && isInNetwork(gateway, parsedNetwork) ? [{ device, length: parsedNetwork.length }] : [];
  });
  const longest = Math.max(...around.map(({ length }) => length));
  return [...new Set(around.filter(({ length }) => length === longest).map(({ device }) => device))];
}

/**
 * The lines in OPNsense's interface report: addresses with the length of their prefix, and the ends of tunnels. The
 * overview is a list, and also names the gateways of each interface.
 */
export function linesIn(body: string): readonly Line[] {
  const wire = jsonOf(body);
  const rows = Array.isArray(wire)
    ? wire.map((row: unknown) => [isObject(row) ? row.device : undefined, row] as const)
    : Object.entries(isObject(wire) ? wire : {});
  return rows.flatMap(([device, row]) => {
    if (typeof device !== "string" || !isObject(row)) return [];
    const entries = families.flatMap((family) => listIn(row[family])).flatMap((entry) => networksIn(entry, device));
    const named = listIn(row.gateways).flatMap((network) => (typeof network === "string" ? [{ device, network }] : []));
    return [...named, ...entries];
  });
}

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function networksIn(entry: unknown, device: string): readonly Line[] {
  if (!isObject(entry) || typeof entry.ipaddr !== "string") return [];
  const ends = [entry.endpoint, entry.endpoint2].filter((end) => typeof end === "string");
  // The overview has the length in the same text.
  const length = entry.ipaddr.includes("/")
    ? ""
    : typeof entry.subnetbits === "number"
      ? `/${entry.subnetbits}`
      : "/128";
  return [...ends, `${entry.ipaddr}${length}`].map((network) => ({ device, network }));
}

type DeadLines = ReadonlyMap<string, readonly Family[]>;

/**
 * The lines whose gateways are all down. `unclear`: gateways that are down, and belong to no line or to several.
 */
function deadLines(report: InterfaceReport, gateways: readonly GatewayStatus[], lines: readonly Line[]) {
  const placed = gateways.map((gateway) => ({ ...gateway, ...placeOf(gateway, lines) }));
  const dead = new Map(
    [...report.keys()].map((device): [string, readonly Family[]] => {
      const isDead = (family: Family): boolean => {
        const own = placed.filter((each) => each.devices.includes(device) && each.family === family);
        return own.some(({ devices }) => devices.length === 1) && own.every(({ isDown }) => isDown);
      };
      return [device, families.filter(isDead)];
    }),
  );
  return { dead, unclear: placed.filter(({ isDown, devices }) => isDown && devices.length !== 1) };
}

/** A line is named by the firewall, or else found by the address of the gateway. */
function placeOf({ address = "", device, family }: GatewayStatus, lines: readonly Line[]) {
  const [text = "", scope] = address.split("%");
  const parsedAddress = parseAddress(text);
  const named = device ?? scope;
  const devices = named === undefined ? (parsedAddress ? devicesOf(parsedAddress, lines) : []) : [named];
  return { devices, family: family ?? parsedAddress?.family };
}

/** The lines of a firewall, from one reading of its gateways to the next. */
export class GatewayMemory {
  #known: DeadLines | undefined;

  /** A line is dead for a family if it has a gateway of this family that is down, and none that is not. */
  noted(report: InterfaceReport, gateways: readonly GatewayStatus[], lines: readonly Line[]): SourceReading {
    const { dead, unclear } = deadLines(report, gateways, lines);
    this.#known = dead;
    const reading = { kind: "report", report: withDead(report, dead) } as const;
    return unclear.length === 0 ? reading : { ...reading, gatewayFault: unclearGateways(unclear) };
  }

  /** Without a state, the last one counts: otherwise, a name could return to a dead line. */
  unknown(report: InterfaceReport, { because, todo }: WhyUnknown): SourceReading {
    const isKnown = this.#known !== undefined;
    const meanwhile = isKnown
      ? "until then, the last known state counts"
      : "until then, names with several interfaces are left as they are";
    return {
      kind: "report",
      report: withDead(report, this.#known ?? new Map()),
      gatewayFault: { because, todo: `${todo}; ${meanwhile}`, ...(!isKnown && { isUnknown: true }) },
    };
  }
}

const withDead = (report: InterfaceReport, dead: DeadLines): InterfaceReport =>
  new Map([...report].map(([device, each]) => [device, { ...each, deadGateways: dead.get(device) ?? [] }]));

function unclearGateways(gateways: readonly (GatewayStatus & { readonly devices: readonly string[] })[]): WhyUnknown {
  const words = gateways.map(({ name, address, devices }) => {
    const gateway = [name, address === undefined ? "without an address" : `(${showable(address)})`].join(" ").trim();
    const where = devices.length === 0 ? "no interface" : `both ${firstFew(devices, " and ")}`;
    return `the gateway ${gateway} is down, but belongs to ${where}`;
  });
  return {
    because: firstFew(words, "; "),
    todo: "no name leaves its line because of it; OPNsense 24.1 and later name the interface of each gateway, if one is assigned there",
  };
}

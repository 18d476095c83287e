import type { InterfaceReport, ReportedInterface } from "../../../core/addresses/interface-report.ts";
import { isObject } from "../../../core/is-object.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import type { Endpoint } from "../../../lib/http-client/endpoint.ts";
import { mapping, needed } from "../../../lib/settings/mapping.ts";
import { text } from "../../../lib/settings/setting.ts";
import { endpointFields, oneTrust, withTrust } from "../../config/endpoint.ts";
import { type Secret, secret } from "../../config/secret.ts";
import { showable } from "../showable.ts";
import { type AddressSource, neverPushes, type SourceKind, type SourceReading, unavailable } from "../source.ts";
import { readJson, type StatusWords } from "./read-json.ts";

export type MikrotikSource = Endpoint & { readonly user: string; readonly password: Secret };

/** The interfaces and addresses of a MikroTik router, by the REST API of RouterOS 7. */
export const mikrotik = {
  ...mapping(
    {
      ...endpointFields("The URL of the router.", "https://192.168.88.1"),
      user: needed(text("A user of the router.", "moor")),
      password: needed(secret("The password of that user.")),
    },
    {
      title: "Source: mikrotik",
      description: "A MikroTik router with RouterOS 7, through its REST API.",
      schema: {
        examples: [
          { kind: "mikrotik", url: "https://192.168.88.1", user: "moor", password: { file: "secrets/router" } },
        ],
      },
      checkKeys: oneTrust,
      transform: withTrust,
    },
  ),
  can: { push: false, prefix: true, lifetimes: false },
  open: async (config: MikrotikSource, connect) => createMikrotikSource(config, await connect(config)),
} satisfies SourceKind<MikrotikSource>;

function createMikrotikSource(config: MikrotikSource, client: HttpClient): AddressSource {
  const base = /\/rest\/?$/.test(config.url.pathname) ? "" : "/rest";
  const authorization = () => `Basic ${Buffer.from(`${config.user}:${config.password()}`).toString("base64")}`;
  const list = async (path: string, signal: AbortSignal): Promise<List> => {
    const headers = { authorization: authorization() };
    const outcome = await client.send({ method: "GET", path: base + path, headers }, signal);
    if (outcome.kind !== "failed" && /"not enough permissions/.test(outcome.body)) return mayNotRead;
    const read = readJson(outcome, router, words);
    if (read.kind === "unavailable") return read;
    const items = itemsIn(read.value);
    return typeof items === "string" ? malformed(`${path}: ${items}`) : { kind: "list", items };
  };
  return {
    async read(signal) {
      // They come first: an interface without an address is in no other list.
      const interfaces = await list("/interface", signal);
      if (interfaces.kind !== "list") return interfaces;
      return readingOf(interfaces.items, await list("/ip/address", signal), await list("/ipv6/address", signal));
    },
    follow: neverPushes,
    close: () => client.close(),
  };
}

type Unavailable = Extract<SourceReading, { readonly kind: "unavailable" }>;
type List = { readonly kind: "list"; readonly items: readonly Item[] } | Unavailable;

const router = "the MikroTik router";

const malformed = (because: string) =>
  unavailable(`the answer of ${router} is malformed: ${because}`, "update RouterOS") as Unavailable;

/** RouterOS sends every value as text: `"disabled": "false"`. */
type Item = Readonly<Record<string, string>>;

function itemsIn(value: unknown): readonly Item[] | string {
  if (!Array.isArray(value)) return "it is not a list";
  const items = value as readonly unknown[];
  const isRight = (item: unknown): item is Item =>
    isObject(item) && Object.values(item).every((each) => typeof each === "string");
  if (!items.every(isRight)) return "an entry has a value that is not text";
  const wrong = items.flatMap((item) => flags.filter((flag) => !["true", "false", undefined].includes(item[flag])));
  return wrong[0] === undefined ? items : `${wrong[0]} is neither true nor false`;
}

const flags = ["disabled", "invalid", "running", "dynamic", "deprecated", "link-local"];

/** If one family cannot be read, for example because the router has no IPv6, the other one still counts. */
function readingOf(interfaces: readonly Item[], ipv4: List, ipv6: List): SourceReading {
  const report = new Map<string, ReportedInterface>();
  for (const { name, running, disabled } of interfaces) {
    if (name === undefined) return malformed("an interface has no name");
    const device = showable(name);
    report.set(device, { device, up: running === "true" && disabled !== "true", ipv4: [], ipv6: [] });
  }
  const [why4, why6] = [addAll(report, ipv4, true), addAll(report, ipv6, false)];
  if (why4 && why6) return why4;
  const unknown = { ...(why4 && { ipv4: why4 }), ...(why6 && { ipv6: why6 }) };
  return { kind: "report", report: report satisfies InterfaceReport, ...((why4 || why6) && { unknown }) };
}

/** Returns why the family is unknown. */
function addAll(report: Map<string, ReportedInterface>, list: List, isIpv4: boolean): Unavailable | undefined {
  if (list.kind !== "list") return list;
  // A disabled address, or one of an interface that is gone, is not in use.
  for (const item of list.items.filter(({ disabled, invalid }) => disabled !== "true" && invalid !== "true")) {
    const fault = addTo(report, item, isIpv4);
    if (fault !== undefined) return malformed(fault);
  }
  return undefined;
}

/** Returns what is wrong with the entry. */
function addTo(report: Map<string, ReportedInterface>, item: Item, isIpv4: boolean): string | undefined {
  const [, text = "", length = ""] = /^(.*)\/(\d{1,3})$/s.exec(item.address ?? "") ?? [];
  const device = showable(item.interface ?? "");
  if (text === "" || device === "") return "an address has no prefix length, or no interface";
  const before = report.get(device) ?? { device, ipv4: [], ipv6: [] };
  const ipv6 = {
    text: showable(text),
    linkLocal: item["link-local"] === "true",
    deprecated: item.deprecated === "true",
    tentative: false,
    detached: false,
    prefixLength: Number(length),
  };
  report.set(
    device,
    isIpv4
      ? { ...before, ipv4: [...before.ipv4, { text: showable(text) }] }
      : { ...before, ipv6: [...before.ipv6, ipv6] },
  );
  return undefined;
}

/** RouterOS reports a missing policy as an internal error (500). */
const mayNotRead = unavailable(
  `${router} does not allow this user to read`,
  "give the user's group the policies read and rest-api",
) as Unavailable;

const words: StatusWords = {
  401: [
    `${router} rejected the user name or the password (401)`,
    "correct them; the user's group needs the policies read and rest-api",
  ],
  403: [mayNotRead.because, mayNotRead.todo],
  404: [`${router} has no REST API at this URL (404)`, "it needs RouterOS 7.1 or later, and the service www-ssl"],
};

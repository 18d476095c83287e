import type { IncomingHttpHeaders } from "node:http";
import { heartbeatInterval, interfaceEvents } from "../../contract/interface-events.ts";
import type { HttpClient, HttpOutcome } from "../../lib/http-client/client.ts";
import type { Endpoint } from "../../lib/http-client/endpoint.ts";
import { createEventStreamReader } from "../../lib/http-client/event-stream.ts";
import { mapping, usually } from "../../lib/settings/mapping.ts";
import { choice, flag, missing } from "../../lib/settings/setting.ts";
import { endpointFields, oneTrust, withTrust } from "../config/endpoint.ts";
import { keyFile, type Secret, secret } from "../config/secret.ts";
import {
  GatewayMemory,
  type GatewayStatus,
  joined,
  linesIn,
  readGatewayRows,
  readGatewayStatus,
} from "./gateway-status.ts";
import { readInterfaceReport } from "./read-interface-report.ts";
import { readOverview } from "./read-overview.ts";
import {
  type AddressSource,
  type FollowEnd,
  type SourceKind,
  type SourceReading,
  unavailable,
  type WhyUnknown,
} from "./source.ts";

export type FirewallSource = Endpoint & {
  readonly key: Secret;
  readonly secret: Secret;
  readonly report: "interfaces" | "overview";
  readonly gateways: boolean;
};

/** OPNsense, or moor's own firewall service. */
export const firewall = {
  ...mapping(
    {
      ...endpointFields("The URL of the firewall.", "https://192.168.1.1"),
      keyFile: keyFile(
        "A file with the lines key=… and secret=…, as downloaded from OPNsense or written by `moor key add`.",
      ),
      key: secret("The key, if there is no `keyFile`.", "key"),
      secret: secret("The key's secret, if there is no `keyFile`.", "secret"),
      report: usually(
        choice(
          ["interfaces", "overview"],
          'The call to read: `overview` needs only the privilege "Status: Interfaces" on OPNsense 24.1 and later, but has no lifetimes, and of the IPv6 addresses only the main one. It is polled.',
        ),
        "interfaces",
      ),
      gateways: usually(
        flag(
          'Also read the state of the gateways (privilege "System: Gateways"): a name with several interfaces leaves a line whose gateway is down. The firewall is then polled, every `interval`.',
        ),
        false,
      ),
    },
    {
      title: "Source: firewall",
      description:
        "`moor firewall`, which pushes changes, or OPNsense, which is polled. `kind: opnsense` means the same.",
      schema: { examples: [{ url: "https://192.168.1.1", keyFile: "secrets/firewall-key.txt" }] },
      checkKeys: (presentKeys, what) => [
        ...oneTrust(presentKeys, what),
        ...["key", "secret"]
          .filter((half) => !presentKeys.includes(half) && !presentKeys.includes("keyFile"))
          .map((half) => missing(`${what} has no ${half}`, `add \`${half}: { file: path }\``)),
      ],
      transform(value, place): FirewallSource | undefined {
        const { keyFile, key, secret, ...rest } = withTrust(value, place);
        const pair = keyFile ?? (key && secret && { key, secret });
        return pair && { ...rest, ...pair };
      },
    },
  ),
  kindLabel: "firewall",
  can: { push: true, prefix: true, lifetimes: true },
  canWith: (config: FirewallSource) => ({ push: isPushed(config), prefix: true, lifetimes: !isOverview(config) }),
  open: async (config: FirewallSource, connect) => createFirewallSource(config, await connect(config)),
} satisfies SourceKind<FirewallSource>;

const isOverview = ({ report }: FirewallSource) => report === "overview";
/** The stream has only what `getinterfaceconfig` has. */
const isPushed = (config: FirewallSource) => !config.gateways && !isOverview(config);

const reportPaths = {
  interfaces: "/diagnostics/interface/getinterfaceconfig",
  overview: "/interfaces/overview/export",
} as const;
/** OPNsense may drop the first one; the second one is missing before 24.1. */
const gatewayPaths = { status: "/routes/gateway/status", rows: "/routing/settings/searchGateway" } as const;
const eventsPath = "/diagnostics/interface/events";

/** The stream counts as dead after three missed heartbeats. */
const silence = 3 * heartbeatInterval;
const longestReport = 4 * 1024 * 1024;

/** OPNsense has no event stream. */
function createFirewallSource(config: FirewallSource, client: HttpClient): AddressSource {
  // Users copy the URL with or without the `/api` that all calls start with.
  const base = /\/api\/?$/.test(config.url.pathname) ? "" : "/api";
  // Sent with every request: OPNsense never sends a challenge.
  const authorization = () => `Basic ${Buffer.from(`${config.key()}:${config.secret()}`).toString("base64")}`;
  // No Content-Type: with one, OPNsense tries to parse the body that a GET does not have, and answers 400.
  const get = (path: string, signal: AbortSignal) =>
    client.send({ method: "GET", path: base + path, headers: { authorization: authorization() } }, signal);
  const memory = new GatewayMemory();
  return {
    async read(signal) {
      const [answer, gateways] = await Promise.all([
        get(reportPaths[config.report], signal),
        config.gateways ? readGateways((path) => get(path, signal)) : undefined,
      ]);
      const reading = readingOf(answer, config.report);
      if (gateways === undefined || reading.kind !== "report") return reading;
      if ("because" in gateways) return memory.unknown(reading.report, gateways);
      return memory.noted(reading.report, gateways.states, answer.kind === "answer" ? linesIn(answer.body) : []);
    },
    async follow(onReading, signal): Promise<FollowEnd> {
      if (!isPushed(config)) return { kind: "not-offered" };
      const reader = createEventStreamReader(longestReport);
      let offered = true;
      const listener = {
        silence,
        begin(status: number, headers: IncomingHttpHeaders) {
          // Anything but a stream or a temporary error means that this firewall has no stream.
          offered = status >= 500 || [401, 403, 429].includes(status) || isEventStream(status, headers);
          return isEventStream(status, headers);
        },
        text(text: string) {
          for (const { event, data } of reader.feed(text)) {
            if (event === interfaceEvents.snapshot || event === interfaceEvents.change) onReading(readingIn(data));
          }
        },
      };
      // No Last-Event-ID: polling may have found newer data since the last event, and a snapshot is always right.
      const headers = { accept: "text/event-stream", authorization: authorization() };
      await client.stream({ method: "GET", path: base + eventsPath, headers }, listener, signal);
      const retry = reader.retry();
      return offered ? { kind: "ended", retry } : { kind: "not-offered" };
    },
    close: () => client.close(),
  };
}

type Gateways = { readonly states: readonly GatewayStatus[] } | WhyUnknown;

/** Each of the two calls stands in for the other one, where it is missing. */
async function readGateways(get: (path: string) => Promise<HttpOutcome>): Promise<Gateways> {
  const status = await get(gatewayPaths.status);
  if (isMissing(status)) return statesIn(await get(gatewayPaths.rows), readGatewayRows);
  const read = statesIn(status, readGatewayStatus);
  // Only then does it matter which line a gateway belongs to.
  if ("because" in read || !read.states.some(({ isDown }) => isDown)) return read;
  const rows = await get(gatewayPaths.rows);
  if (isMissing(rows)) return read;
  const named = statesIn(rows, readGatewayRows);
  return "because" in named ? named : { states: joined(read.states, named.states) };
}

const isMissing = (outcome: HttpOutcome): boolean => outcome.kind === "answer" && outcome.status === 404;

function statesIn(outcome: HttpOutcome, read: (body: string) => readonly GatewayStatus[] | undefined): Gateways {
  if (outcome.kind === "failed") return { because: outcome.because, todo: outcome.todo };
  if (outcome.status === 403)
    return {
      because: "the key is valid but may not read the gateways (403)",
      todo: 'give its user the privilege "System: Gateways" (`gateways` at `moor firewall`), or leave out `gateways: true`',
    };
  const states = outcome.status === 200 ? read(outcome.body) : undefined;
  if (states) return { states };
  return {
    because: `the firewall answered ${outcome.status} to the call for its gateways, without their state`,
    todo: "see its log, or leave out `gateways: true`",
  };
}

function readingOf(outcome: HttpOutcome, report: FirewallSource["report"]): SourceReading {
  if (outcome.kind === "failed") return unavailable(outcome.because, outcome.todo);
  if (outcome.status === 403 && report === "overview")
    return unavailable(
      "the key is valid but may not read the overview of the interfaces (403)",
      'on OPNsense, give its user the privilege "Status: Interfaces"; on `moor firewall`, the privilege `overview`',
    );
  if (outcome.status !== 200) return unavailable(...wordsForStatus(outcome.status));
  const { body } = outcome;
  if (body.trim() === "") {
    return unavailable(
      "the firewall answered 200 with an empty body",
      "check that the service configd is running there",
    );
  }
  if (/^\s*</.test(body)) {
    return unavailable(
      "the firewall answered with a web page instead of data",
      "correct the URL: it must be the firewall's own, such as https://192.168.1.1",
    );
  }
  return readingIn(body, report);
}

function readingIn(body: string, report: FirewallSource["report"] = "interfaces"): SourceReading {
  const read = report === "overview" ? readOverview(body) : readInterfaceReport(body);
  if (read.kind === "report") return read;
  return unavailable(read.because, "check that the URL is that of OPNsense or `moor firewall`");
}

const isEventStream = (status: number, headers: IncomingHttpHeaders) =>
  status === 200 && /^text\/event-stream\b/i.test(headers["content-type"] ?? "");

function wordsForStatus(status: number): [because: string, todo: string] {
  if (status >= 300 && status < 400) {
    return [
      `the firewall answered ${status}, a redirect, as it does for its login page`,
      "correct the URL: use https and the right port, and no proxy that removes the key",
    ];
  }
  return statusWords[status] ?? [`the firewall answered ${status}`, "see its log"];
}

const statusWords: Readonly<Record<number, [because: string, todo: string]>> = {
  401: [
    "the firewall rejected the key and its secret (401)",
    "create a new key on the firewall's user page (System: Access: Users), or with `moor key add`, and put both parts in the files named in the config",
  ],
  403: [
    "the key is valid but may not read the interfaces (403)",
    'on OPNsense, set `report: overview` and give its user the privilege "Status: Interfaces", or "All pages" without it; on `moor firewall`, create a key with `moor key add --privilege interface-status`',
  ],
  404: [
    "the firewall has no interface status call at this URL (404)",
    "correct the URL; OPNsense 21.7.8 and newer releases offer this call",
  ],
};

import type { HttpClient } from "../../../lib/http-client/client.ts";
import type { Endpoint } from "../../../lib/http-client/endpoint.ts";
import { type Gateway, readDescription, type WanConnection } from "./description.ts";
import { callAction, type SoapAnswer } from "./soap.ts";

export type GatewaySearch = ({ readonly kind: "found" } & Gateway) | Failed | { readonly kind: "not-found" };

export type Failed = { readonly kind: "failed"; readonly because: string };

/** Finds the URL of the device's description; undefined if the device does not answer. */
export type Locate = (signal: AbortSignal) => Promise<URL | Failed | undefined>;

export type UpnpOptions = {
  readonly timeout: number;
  readonly connect: (endpoint: Endpoint) => Promise<HttpClient>;
};

export type UpnpDevice = ReturnType<typeof createUpnpDevice>;

/**
 * A UPnP gateway. Its description is read once, and again after a failure: it may have restarted with other ports and
 * paths.
 */
export function createUpnpDevice(locate: Locate, { timeout, connect }: UpnpOptions) {
  const clients = new Map<string, HttpClient>();
  let cachedGateway: Gateway | undefined;

  /** One client per port: a service may use another port than the description. */
  const clientFor = async ({ origin }: URL): Promise<HttpClient> => {
    const client = clients.get(origin) ?? (await connect({ url: new URL(origin), trust: { kind: "system" }, timeout }));
    clients.set(origin, client);
    return client;
  };
  const find = async (signal: AbortSignal): Promise<GatewaySearch> => {
    const at = await locate(signal);
    if (!(at instanceof URL)) return at ?? { kind: "not-found" };
    const client = await clientFor(at);
    const outcome = await client.send({ method: "GET", path: pathOf(at), headers: { accept: "text/xml" } }, signal);
    if (outcome.kind === "failed") return failed(outcome.because);
    if (outcome.status !== 200) return failed(`${at.host} answered ${outcome.status} instead of its description`);
    const described = readDescription(outcome.body, at);
    if (!described) return failed(`${at.host} sent something that is not the description of a UPnP device`);
    if (described.connections.length > 0) return { kind: "found", ...described };
    return failed(`${described.name} at ${at.host} has no connection to the internet`);
  };

  return {
    async find(signal: AbortSignal): Promise<GatewaySearch> {
      if (cachedGateway) return { kind: "found", ...cachedGateway };
      const search = await find(signal);
      if (search.kind === "found") cachedGateway = search;
      return search;
    },
    /** Forgets the description if there is no answer. */
    async call({ control, service }: WanConnection, action: string, signal: AbortSignal): Promise<SoapAnswer> {
      const client = await clientFor(control);
      const answer = await callAction(client, { control, service, action }, signal);
      if (answer.kind === "failed") cachedGateway = undefined;
      return answer;
    },
    /** Where it accepts subscriptions, if it was found. */
    events(): { readonly client: HttpClient; readonly events: URL } | undefined {
      const events = cachedGateway?.connections.find((each) => each.events)?.events;
      const client = events && clients.get(events.origin);
      return client && { client, events };
    },
    close(): void {
      for (const client of clients.values()) client.close();
      clients.clear();
    },
  };
}

const failed = (because: string): Failed => ({ kind: "failed", because });

const pathOf = ({ pathname, search }: URL) => `${pathname}${search}`;

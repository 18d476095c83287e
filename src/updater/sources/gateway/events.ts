import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { closeServer, createPlainServer, type Handle } from "../../../lib/http/page-server.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import type { FollowEnd } from "../source.ts";
import { openUdpPeer } from "./udp-exchange.ts";

/** Where a service accepts subscriptions, and what to do when it reports a change. */
export type EventSource = {
  readonly client: HttpClient;
  readonly events: URL;
  /** The port for its notifications; any free one if undefined. */
  readonly port?: number | undefined;
  /**
   * Reads the state again. Notifications only trigger this, so a forged one does no harm. False ends the subscription.
   */
  readonly onChange: () => Promise<boolean>;
  readonly times?: Partial<EventTimes>;
};

/** Milliseconds. */
type EventTimes = {
  /** How long to wait for the first notification. A device sends it right after the subscription. */
  readonly first: number;
  /**
   * The state is read this often even without a notification: the device may have restarted and forgotten the
   * subscription.
   */
  readonly check: number;
  /**
   * The minimum and maximum between two renewals, whatever the device says. A device that has restarted does not know
   * it.
   */
  readonly renewal: number;
  readonly longestRenewal: number;
};

const usualTimes: EventTimes = { first: 10_000, check: 60_000, renewal: 5_000, longestRenewal: 60_000 };

/** Reads the state at least this often, in milliseconds. */
export const checkWithin = (interval = usualTimes.check): Partial<EventTimes> => ({
  check: Math.min(interval, usualTimes.check),
});

/** A device needs one. Others on its network may have the rest, and give way to it. */
const mostConnections = 32;

/** Seconds that a subscription lasts. The device may choose another time. */
const lease = 600;

/**
 * Follows a service by UPnP events (UPnP Device Architecture 1.1, 4.1) until the signal aborts or the subscription is
 * lost.
 */
export async function followEvents(source: EventSource, signal: AbortSignal): Promise<FollowEnd> {
  const times = { ...usualTimes, ...source.times };
  const peer = await openUdpPeer(source.events.hostname, Number(source.events.port) || 80);
  if (!peer) return { kind: "ended" };
  const { own, address: from } = peer;
  peer.close();
  const bell = createBell();
  const path = `/${randomBytes(16).toString("hex")}`;
  const server = await listen(own.address, source.port ?? 0, (request, response) => {
    const isTheirs = request.method === "NOTIFY" && request.url === path && request.socket.remoteAddress === from;
    answer(request, response, isTheirs ? 200 : 404);
    if (isTheirs) bell.ring();
  });
  if (!server) return { kind: "not-offered" };
  try {
    const callback = `<http://${own.address}:${(server.address() as AddressInfo).port}${path}>`;
    const begin = () => subscribe(source, { callback, nt: "upnp:event" }, signal);
    const first = await begin();
    if (!first) return { kind: "not-offered" };
    const { end, id } = await keep(source, { first, begin }, bell, times, signal);
    await unsubscribe(source, id);
    return end;
  } finally {
    void closeServer(server);
  }
}

/** `renewAfter`: half of its duration, in milliseconds. */
type Subscription = { readonly id: string; readonly renewAfter: number };

type Subscribing = { readonly first: Subscription; readonly begin: () => Promise<Subscription | undefined> };

async function keep(
  source: EventSource,
  { first, begin }: Subscribing,
  bell: Bell,
  times: EventTimes,
  signal: AbortSignal,
): Promise<{ readonly end: FollowEnd; readonly id: string }> {
  let subscription = first;
  const ended = (kind: FollowEnd["kind"]) => ({ end: { kind }, id: subscription.id });
  // Without the first notification none will come: a firewall on the way, or on this machine, blocks them.
  if (!(await bell.rings(times.first, signal))) return ended(signal.aborted ? "ended" : "not-offered");
  const nextRenewal = () =>
    performance.now() + Math.max(times.renewal, Math.min(times.longestRenewal, subscription.renewAfter));
  let renewAt = nextRenewal();
  while (await source.onChange()) {
    await bell.rings(Math.min(times.check, Math.max(0, renewAt - performance.now())), signal);
    if (signal.aborted) break;
    if (performance.now() < renewAt) continue;
    const renewed = (await subscribe(source, { sid: subscription.id }, signal)) ?? (await begin());
    if (!renewed) break;
    subscription = renewed;
    renewAt = nextRenewal();
  }
  return ended("ended");
}

async function subscribe(
  { client, events }: EventSource,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Subscription | undefined> {
  const request = {
    method: "SUBSCRIBE",
    path: pathOf(events),
    headers: { ...headers, timeout: `Second-${lease}` },
  } as const;
  const outcome = await client.send(request, signal);
  if (outcome.kind === "failed" || outcome.status !== 200) return undefined;
  const id = [outcome.headers.sid].flat()[0] ?? headers.sid;
  if (id === undefined || id === "") return undefined;
  const seconds = Number(/^Second-(\d{1,6})$/i.exec(String(outcome.headers.timeout))?.[1] ?? lease);
  return { id, renewAfter: seconds * 500 };
}

/**
 * So that the device does not notify a closed port. The program's signal has aborted by now, so this has its own time
 * limit.
 */
async function unsubscribe({ client, events }: EventSource, sid: string): Promise<void> {
  await client.send({ method: "UNSUBSCRIBE", path: pathOf(events), headers: { sid } }, AbortSignal.timeout(1_000));
}

const pathOf = ({ pathname, search }: URL) => `${pathname}${search}`;

type Bell = {
  ring(): void;
  /** Whether it rang since the last call, or rings within this time. */
  rings(within: number, signal: AbortSignal): Promise<boolean>;
};

function createBell(): Bell {
  let rang = false;
  let wake: () => void = () => undefined;
  return {
    ring() {
      rang = true;
      wake();
    },
    async rings(within, signal) {
      if (!rang) {
        const rung = new AbortController();
        wake = () => rung.abort();
        const either = AbortSignal.any([signal, rung.signal]);
        await sleep(within, undefined, { signal: either, ref: false }).catch(() => undefined);
      }
      const result = rang;
      rang = false;
      return result;
    },
  };
}

/** The content of the notification is not needed. */
function answer(request: IncomingMessage, response: ServerResponse, status: number): void {
  request.resume();
  response.writeHead(status, { connection: "close", "content-length": "0" }).end();
}

/** Undefined if the port is taken. */
function listen(address: string, port: number, handle: Handle): Promise<Server | undefined> {
  const server = createPlainServer({ handle, most: mostConnections });
  return new Promise((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(port, address, () => resolve(server));
  });
}

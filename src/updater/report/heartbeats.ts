import type { HttpRequest } from "../../lib/http-client/client.ts";
import type { Logger } from "../../process/log.ts";
import type { HeartbeatConfig } from "../config/outlets.ts";

export type Heartbeats = { close(): void };

export type Wellness = { readonly isWell: boolean; readonly message: string };

/** Pings services that raise an alarm when the pings stop. A failed ping is not retried: the next one is due soon. */
export async function openHeartbeats(
  configs: readonly HeartbeatConfig[],
  wellness: () => Wellness | undefined,
  log: Logger,
): Promise<Heartbeats> {
  const stop = new AbortController();
  const opened = await Promise.all(configs.map((config) => openHeartbeat(config, wellness, log, stop.signal)));
  return {
    close() {
      stop.abort();
      for (const close of opened) close();
    },
  };
}

const firstPing = 2_000;

async function openHeartbeat(
  config: HeartbeatConfig,
  wellness: () => Wellness | undefined,
  log: Logger,
  signal: AbortSignal,
): Promise<() => void> {
  const { createHttpClient } = await import("../../lib/http-client/client.ts");
  const { kind, url, every } = config;
  const client = await createHttpClient(config);
  let isLost = false;
  const ping = async () => {
    const well = wellness();
    if (!well) return;
    const outcome = await client.send(requests[kind](well, url.search), signal);
    if (signal.aborted) return;
    const trouble =
      outcome.kind === "failed" ? outcome.because : outcome.status < 300 ? "" : `it answered ${outcome.status}`;
    if (trouble && !isLost) log.warn({ to: url.host, because: trouble }, "a heartbeat could not be sent");
    if (!trouble && isLost) log.info({ to: url.host }, "heartbeats are arriving again");
    isLost = trouble !== "";
  };
  const first = setTimeout(() => void ping(), Math.min(firstPing, every));
  const timer = setInterval(() => void ping(), every);
  return () => {
    clearTimeout(first);
    clearInterval(timer);
    client.close();
  };
}

/** `query`: the one in the configured URL. */
const requests: Readonly<Record<HeartbeatConfig["kind"], (well: Wellness, query: string) => HttpRequest>> = {
  // https://healthchecks.io/docs/http_api/: the body is stored with the ping, and `?create=1` creates a missing check.
  healthchecks: ({ isWell, message }, query) => ({
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: message,
    path: `${isWell ? "" : "/fail"}${query}`,
  }),
  "uptime-kuma": ({ isWell, message }) => ({
    method: "GET",
    headers: {},
    path: `?status=${isWell ? "up" : "down"}&msg=${encodeURIComponent(message.slice(0, 200))}`,
  }),
};

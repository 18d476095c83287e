import type { IncomingMessage, ServerResponse } from "node:http";
import { bracketed } from "../../core/addresses/address.ts";
import type { Health } from "../../process/health.ts";
import { metricsType } from "../../process/metrics.ts";
import { isLoopbackName, type ListenAddress, listenOn } from "./listen.ts";
import { closeServer, createPlainServer, type Handle } from "./page-server.ts";

export type MetricsListener = { readonly address: ListenAddress; readonly close: () => Promise<void> };

export type MetricsOptions = {
  readonly print: () => Promise<string>;
  readonly health: Health;
};

/**
 * For operators only, on a separate listener: `/metrics`, and health with its reasons. Plain HTTP without a secret, so
 * it belongs on loopback or on the operator's own network. On loopback, only requests for a loopback name are answered.
 */
export async function openMetricsListener(at: ListenAddress, options: MetricsOptions): Promise<MetricsListener> {
  const loopback = isLoopbackName(bracketed(at.host));
  const handle: Handle = (request, response) => {
    request.resume();
    void answer(request, response, options, loopback);
  };
  const server = createPlainServer({ handle, most: 64 });
  return { address: await listenOn(server, at, "--metrics"), close: () => closeServer(server) };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { print, health }: MetricsOptions,
  loopback: boolean,
): Promise<void> {
  try {
    const path = (request.url ?? "").split("?", 1)[0];
    if (loopback && !isLoopbackName(request.headers.host)) {
      return sendJson(response, 403, { error: "use the host name localhost or 127.0.0.1" });
    }
    if (request.method !== "GET" && request.method !== "HEAD")
      return sendJson(response, 405, { error: "only GET is allowed" });
    switch (path) {
      case "/metrics": {
        const text = await print();
        return void response.writeHead(200, { "content-type": metricsType }).end(text);
      }
      case "/health/live":
        return sendJson(response, 200, { live: true });
      case "/health/ready": {
        const readiness = await health.readiness();
        return sendJson(response, readiness.ready ? 200 : 503, readiness);
      }
      default:
        return sendJson(response, 404, { error: "not found; available: /metrics, /health/live, /health/ready" });
    }
  } catch (error) {
    if (response.headersSent) response.destroy();
    else sendJson(response, 500, { error: (error as Error).message });
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(`${JSON.stringify(body)}\n`);
}

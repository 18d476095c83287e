import type { IncomingMessage, ServerResponse } from "node:http";
import { hashSecret, sameHash } from "../../access/secret.ts";
import { boundTo } from "../../process/http/listen-on.ts";
import { isLoopbackName } from "../../process/http/loopback-name.ts";
import { metricsType } from "../../process/metrics.ts";
import type { UpdaterConfig } from "../config/config.ts";
import type { ControlConfig } from "../config/outlets.ts";
import { longestSilence } from "../round/rhythm.ts";
import type { Reply, UpdaterPage } from "./http-page.ts";
import { printMetrics } from "./print-metrics.ts";
import type { Status } from "./status.ts";

export type Control = { readonly port: number; close(): Promise<void> };

export type ControlTools = {
  /** Identifies the watcher: two configs may name the same port. */
  readonly of: Pick<UpdaterConfig, "file" | "stateFile">;
  readonly status: () => Status;
  readonly check: () => void;
  /** Milliseconds without a round. */
  readonly silence: () => number;
  /** The page for people. */
  readonly page?: UpdaterPage;
};

/** Serves the status of this process on a loopback port. Uses Node's own server to keep the watcher small. */
export async function openControl(config: ControlConfig, tools: ControlTools): Promise<Control> {
  const http = process.getBuiltinModule("node:http");
  const server = http.createServer({ requestTimeout: 30_000, headersTimeout: 15_000 }, (request, response) => {
    request.resume();
    void answer(request, response, config, tools);
  });
  // Longer than the machine may stall: otherwise a client that reuses its connection right after a stall finds it closed.
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(config.port, config.host, resolve);
  });
  return {
    port: boundTo(server, config).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, config: ControlConfig, tools: ControlTools) {
  try {
    const page = isLoopbackName(request.headers.host) ? await tools.page?.(request) : undefined;
    send(response, page ?? answerTo(request, config, tools));
  } catch {
    if (!response.headersSent) response.writeHead(500);
    response.end();
  }
}

const json = { "content-type": "application/json", "cache-control": "no-store" };

function send(response: ServerResponse, { status, body, headers = json }: Reply): void {
  const isReady = typeof body === "string" || Buffer.isBuffer(body);
  const content = isReady ? body : `${JSON.stringify(body, undefined, 2)}\n`;
  response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(content) }).end(content);
}

const refusal = (status: number, error: string): Reply => ({ status, body: { error } });

function answerTo(request: IncomingMessage, config: ControlConfig, tools: ControlTools): Reply {
  // A web page can reach this port under a name of its choice (DNS rebinding).
  if (!isLoopbackName(request.headers.host)) return refusal(403, "use the host name localhost or 127.0.0.1");
  const path = (request.url ?? "").replace(/\?.*$/, "");
  if (path === "/check") return checkFor(request, config, tools);
  const page = pages[path];
  if (!page) return refusal(404, `not found; there are ${Object.keys(pages).join(", ")} and POST /check`);
  if (request.method !== "GET" && request.method !== "HEAD") return refusal(405, "only GET is allowed");
  return page(tools.status(), tools);
}

function checkFor(request: IncomingMessage, config: ControlConfig, { check }: ControlTools): Reply {
  if (request.method !== "POST") return refusal(405, "use POST to start a round");
  const given = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
  if (!sameHash(hashSecret(given), hashSecret(config.token()))) return refusal(401, "send Authorization: Bearer TOKEN");
  check();
  return { status: 202, body: { checking: true } };
}

type Page = (status: Status, tools: ControlTools) => Reply;

const pages: Readonly<Record<string, Page>> = {
  "/metrics": (status) => ({
    status: 200,
    body: printMetrics(status),
    headers: { ...json, "content-type": metricsType },
  }),
  "/status": (status, { of: { file, stateFile } }) => ({ status: 200, body: { config: file, stateFile, ...status } }),
  "/health/live": (status, { silence }) => {
    const stuck = silence() > longestSilence;
    return { status: stuck ? 503 : 200, body: { live: !stuck, lastRound: status.lastRound } };
  },
  "/health/ready": (status) => {
    const failing = status.names.filter(({ ok }) => !ok).map(({ name, because }) => ({ name, because }));
    const ready = status.rounds > 0 && status.sources.every(({ up }) => up);
    return { status: ready ? 200 : 503, body: { ready, failing } };
  },
};

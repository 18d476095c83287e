import { hashSecret, sameHash } from "../../access/secret.ts";
import { isLoopbackName } from "../../lib/http/listen.ts";
import type { PlainRequest } from "../../lib/http/plain-request.ts";
import { metricsType } from "../../process/metrics.ts";
import type { UpdaterConfig } from "../config/config.ts";
import type { ControlConfig } from "../config/outlets.ts";
import { printMetrics } from "../report/print-metrics.ts";
import type { Status } from "../report/status.ts";
import { longestSilence } from "../round/schedule.ts";
import type { UpdaterPage } from "./http-page.ts";
import type { AnswerRequest, PageReply } from "./listener.ts";
import type { PageSignIn } from "./sign-in.ts";

export type ControlTools = {
  /** Identifies the watcher: two configs may name the same port. */
  readonly of: Pick<UpdaterConfig, "file" | "stateFile">;
  readonly status: () => Status;
  readonly check: () => void;
  /** Milliseconds without a round. */
  readonly silence: () => number;
  /** The page for browsers. */
  readonly page?: UpdaterPage;
  /** Without it, everybody on this machine may read, and nobody may change names. */
  readonly signIn?: PageSignIn | undefined;
};

/** What the updater's port answers: the page for browsers, and the status for programs. */
export function createControl(control: Pick<ControlConfig, "token">, tools: ControlTools): AnswerRequest {
  const { signIn, page } = tools;
  return async (request) => {
    // A web page can reach this port under a name of its choice (DNS rebinding), but not with the cookie of a session.
    if (signIn === undefined && !isLoopbackName(request.headers.host))
      return refusal(403, "use the host name localhost or 127.0.0.1");
    const signingIn = await signIn?.answer(request);
    if (signingIn !== undefined) return signingIn;
    const admission = (await signIn?.admit(request)) ?? "nobody-asked";
    const answer = isForPrograms(request.path) ? undefined : await page?.(request, admission);
    if (answer !== undefined) return answer;
    const isKnown =
      admission === "session" || admission === "reader" || admission === "nobody-asked" || hasToken(request, control);
    return answerTo(request, control, isKnown, tools);
  };
}

const isForPrograms = (path: string): boolean => path === "/check" || Object.hasOwn(pages, path);

const refusal = (status: number, error: string): PageReply => ({ status, body: { error } });
const noToken = refusal(401, "send Authorization: Bearer TOKEN");

function hasToken({ headers }: PlainRequest, { token }: Pick<ControlConfig, "token">): boolean {
  const bearerToken = /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";
  return sameHash(hashSecret(bearerToken), hashSecret(token()));
}

function answerTo(
  request: PlainRequest,
  control: Pick<ControlConfig, "token">,
  isSignedIn: boolean,
  tools: ControlTools,
): PageReply {
  const { method, path } = request;
  if (path === "/check") return checkFor(request, control, tools);
  const page = isForPrograms(path) ? pages[path] : undefined;
  if (!page) return refusal(404, `not found; available: ${Object.keys(pages).join(", ")} and POST /check`);
  if (method !== "GET" && method !== "HEAD") return refusal(405, "only GET is allowed");
  return isSignedIn || path.startsWith("/health/") ? page(tools.status(), tools, isSignedIn) : noToken;
}

function checkFor(request: PlainRequest, control: Pick<ControlConfig, "token">, { check }: ControlTools): PageReply {
  if (request.method !== "POST") return refusal(405, "use POST to start a round");
  if (!hasToken(request, control)) return noToken;
  check();
  return { status: 202, body: { checking: true } };
}

type Page = (status: Status, tools: ControlTools, isKnown: boolean) => PageReply;

const pages: Readonly<Record<string, Page>> = {
  "/metrics": (status) => ({
    status: 200,
    body: printMetrics(status),
    headers: { "content-type": metricsType, "cache-control": "no-store" },
  }),
  "/status": (status, { of: { file, stateFile } }) => ({ status: 200, body: { config: file, stateFile, ...status } }),
  "/health/live": (status, { silence }) => {
    const stuck = silence() > longestSilence;
    return { status: stuck ? 503 : 200, body: { live: !stuck, lastRound: status.lastRound } };
  },
  "/health/ready": (status, _, isKnown) => {
    const failing = status.names.filter(({ ok }) => !ok).map(({ name, because }) => ({ name, because }));
    const ready = status.rounds > 0 && status.sources.every(({ up }) => up);
    return { status: ready ? 200 : 503, body: { ready, ...(isKnown && { failing }) } };
  },
};

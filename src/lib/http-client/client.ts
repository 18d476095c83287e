import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, Agent as PlainAgent } from "node:http";
import type { AgentOptions } from "node:https";
import type { Endpoint, HttpLimits } from "./endpoint.ts";
import { excessOf, fault } from "./excess.ts";
import { type Redact, redactorOf, secretsIn, secretsOfUrl } from "./redact-secrets.ts";
import { describeStop, describeTransportFault } from "./transport-faults.ts";
import { wholeLines } from "./whole-lines.ts";

export type HttpRequest = {
  readonly method: "GET" | "PUT" | "POST" | "PATCH" | "DELETE" | "SUBSCRIBE" | "UNSUBSCRIBE";
  /** Starts with a slash, or is only a query; appended to the path of the endpoint's URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Credentials outside of the headers: in the path, the query or the body. */
  readonly secrets?: readonly string[];
  /** The answer is not searched for credentials: it is read by a protocol, and never shown or logged. */
  readonly verbatim?: true;
};

export type HttpOutcome =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: string;
      /**
       * The connection was lost before any answer, and the request was sent again: it may have been carried out twice.
       */
      readonly resent?: true;
    }
  | { readonly kind: "failed"; readonly because: string; readonly todo: string };

/** No data or text that it returns contains a credential of the request: services may echo what they receive. */
export type HttpClient = {
  /** Never throws, never follows a redirect, and always ends within the time limit. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpOutcome>;
  /**
   * For an endless answer: `begin` decides whether to accept it, `text` receives what arrives. Returns when the other
   * side ends it, when the signal aborts, when `text` throws, or after `silence` ms without data. Never throws.
   */
  stream(request: HttpRequest, listener: StreamListener, signal: AbortSignal): Promise<StreamEnd>;
  close(): void;
};

export type StreamListener = {
  begin(status: number, headers: IncomingHttpHeaders): boolean;
  text(text: string): void;
  readonly silence: number;
};

export type StreamEnd = { readonly kind: "declined" } | { readonly kind: "ended" };

const defaultLimits: HttpLimits = { timeoutMs: 15_000, maxBytes: 4 * 1024 * 1024 };

/** A service may send a few before its answer, such as 103 (Early Hints). */
const mostInterimAnswers = 100;

/**
 * One client per endpoint, with its own connections. Uses Node's HTTP client instead of undici: loading undici alone
 * takes 130 ms of CPU time and 30 MB, more than the rest of an updating round.
 */
export async function createHttpClient(endpoint: Endpoint, ownLimits: Partial<HttpLimits> = {}): Promise<HttpClient> {
  const limits = { ...defaultLimits, ...(endpoint.timeout && { timeoutMs: endpoint.timeout }), ...ownLimits };
  const secure = endpoint.url.protocol === "https:";
  // Not with `import`: that evaluates every export of the module, and one of them loads a WebSocket client of 10 MB.
  const http = process.getBuiltinModule(secure ? "node:https" : "node:http");
  const agent = secure ? await secureAgent(endpoint) : new http.Agent(agentOptions(endpoint));
  return new EndpointClient(endpoint, limits, http, agent);
}

class EndpointClient implements HttpClient {
  readonly #endpoint: Endpoint;
  readonly #limits: HttpLimits;
  readonly #http: Pick<typeof import("node:http"), "request">;
  readonly #agent: PlainAgent;
  readonly #redactorFor = cachedRedactor();

  constructor(
    endpoint: Endpoint,
    limits: HttpLimits,
    http: Pick<typeof import("node:http"), "request">,
    agent: PlainAgent,
  ) {
    this.#endpoint = endpoint;
    this.#limits = limits;
    this.#http = http;
    this.#agent = agent;
  }

  readonly send: HttpClient["send"] = async (request, signal) => {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(this.#limits.timeoutMs)]);
    const first = await this.#attempt(request, limited);
    // The other side closed an idle connection just as we reused it, before any answer: retry on a new one.
    if (!first.staleSocket) return first.outcome;
    const { outcome } = await this.#attempt(request, limited);
    return outcome.kind === "answer" ? { ...outcome, resent: true } : outcome;
  };

  readonly stream: HttpClient["stream"] = async (request, listener, signal) => {
    const { timeoutMs, maxBytes } = this.#limits;
    const silent = new AbortController();
    let timer = setTimeout(() => silent.abort(), Math.max(listener.silence, timeoutMs));
    const sent = this.#request(request, AbortSignal.any([signal, silent.signal]));
    const redact = this.#redactorFor(request);
    try {
      const response = await responseTo(sent, request.body);
      if (!listener.begin(response.statusCode ?? 0, response.headers)) return { kind: "declined" };
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), listener.silence);
      const lines = wholeLines((text) => listener.text(redact(text)), maxBytes);
      await readParts<string>(response.setEncoding("utf8"), (chunk) => {
        timer.refresh();
        lines(chunk);
      });
    } catch {
      // The poll that follows reports what is wrong with the other side.
    } finally {
      clearTimeout(timer);
      sent.destroy();
    }
    return { kind: "ended" };
  };

  readonly close = (): void => this.#agent.destroy();

  #request(request: HttpRequest, signal: AbortSignal): ClientRequest {
    const sent = this.#http.request(target(this.#endpoint.url, request), {
      method: request.method,
      headers: headers(request),
      agent: this.#agent,
      signal,
    });
    let interim = 0;
    sent.on("information", () => {
      interim += 1;
      if (interim === mostInterimAnswers) sent.destroy(fault("MOOR_INTERIM", "there is no end of interim answers"));
    });
    return sent;
  }

  async #attempt(request: HttpRequest, signal: AbortSignal): Promise<Attempt> {
    const redact = this.#redactorFor(request);
    const sent = this.#request(request, signal);
    let begun = false;
    /** Node reports a broken body as an error of the request; the reader of the body sees only that it ended. */
    let broken: unknown;
    sent.on("error", (error) => {
      broken ??= error;
    });
    try {
      const response = await responseTo(sent, request.body);
      begun = true;
      return { outcome: await answerOf(response, this.#limits.maxBytes, redact), staleSocket: false };
    } catch (error) {
      sent.destroy();
      const reset = (error as NodeJS.ErrnoException).code === "ECONNRESET";
      const fault = signal.aborted
        ? describeStop(signal, this.#endpoint, this.#limits)
        : describeTransportFault(begun && reset ? (broken ?? cutOff) : error, this.#endpoint, this.#limits);
      const because = redactorOf(secretsOfUrl(this.#endpoint.url))(redact(fault.because));
      return {
        outcome: { kind: "failed", ...fault, because },
        staleSocket: sent.reusedSocket && reset && !begun && !signal.aborted,
      };
    }
  }
}

/** Keeps the last `Redact`: nearly all requests to an endpoint carry the same credentials. */
function cachedRedactor(): (request: HttpRequest) => Redact {
  let last: { readonly key: string; readonly redact: Redact } | undefined;
  return ({ headers, secrets: others = [], verbatim }) => {
    if (verbatim) return (text) => text;
    const secrets = [...secretsIn(headers), ...others];
    const key = JSON.stringify(secrets);
    if (last?.key !== key) last = { key, redact: redactorOf(secrets) };
    return last.redact;
  };
}

const cutOff = fault("MOOR_CUT_OFF", "the body ended too soon");

type Attempt = { readonly outcome: HttpOutcome; readonly staleSocket: boolean };

const target = ({ origin, pathname }: URL, { path }: HttpRequest) =>
  new URL(`${origin}${path.startsWith("/") ? pathname.replace(/\/+$/, "") : pathname}${path}`);

const headers = ({ headers, body }: HttpRequest) => ({
  accept: "application/json",
  // RFC 9110, 12.5.3: without this header, any coding is acceptable.
  "accept-encoding": "identity",
  "user-agent": "moor",
  ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
  ...headers,
});

function responseTo(sent: ClientRequest, body: string | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once("response", resolve);
    // Without a listener Node drops the connection and reports neither an answer nor an error.
    sent.once("upgrade", (_, socket) => {
      socket.destroy();
      reject(new Error("it switched to another protocol without being asked"));
    });
    // Not `once`: an error after the answer began goes to the reader of the body, and must not end the process.
    sent.on("error", reject);
    sent.end(body);
  });
}

/**
 * Resolves at the end; rejects if `take` throws, or the answer is cut off. An iterator would receive the parts only
 * after all that have arrived were kept.
 */
function readParts<Part>(response: IncomingMessage, take: (part: Part) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    response.on("data", (part: Part) => {
      if (response.destroyed) return;
      try {
        take(part);
      } catch (error) {
        response.destroy(error as Error);
      }
    });
    response.once("end", resolve).once("error", reject);
    response.once("close", () => reject(cutOff));
  });
}

async function answerOf(response: IncomingMessage, maxBytes: number, redact: Redact): Promise<HttpOutcome> {
  const chunks: Buffer[] = [];
  let size = 0;
  await readParts<Buffer>(response, (chunk) => {
    size += chunk.length;
    chunks.push(chunk);
    const excess = excessOf(chunks.length, size, maxBytes);
    if (excess) throw excess;
  });
  const body = unpacked(Buffer.concat(chunks), response.headers["content-encoding"], maxBytes).toString("utf8");
  return {
    kind: "answer",
    status: response.statusCode ?? 0,
    headers: redactedIn(response.headers, redact),
    body: redact(body),
  };
}

const redactedIn = (headers: IncomingHttpHeaders, redact: Redact): IncomingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(redact) : value && redact(value),
    ]),
  );

/** Some proxies compress everything, whether requested or not. */
function unpacked(body: Buffer, header: string | undefined, maxOutputLength: number): Buffer {
  const coding = header?.trim().toLowerCase() ?? "";
  const unpack = unpackers[coding];
  if (body.length === 0 || unpack === undefined) return body;
  try {
    // Loaded on first use: it is hardly ever needed.
    return process.getBuiltinModule("node:zlib")[unpack](body, { maxOutputLength });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw error;
    throw fault("MOOR_PACKED", coding, error);
  }
}

const unpackers: Readonly<
  Record<string, "gunzipSync" | "inflateSync" | "brotliDecompressSync" | "zstdDecompressSync">
> = {
  gzip: "gunzipSync",
  "x-gzip": "gunzipSync",
  deflate: "inflateSync",
  br: "brotliDecompressSync",
  zstd: "zstdDecompressSync",
};

/**
 * Through the proxy of `HTTPS_PROXY` and `HTTP_PROXY`, except to the hosts of `NO_PROXY`. An endpoint with a family is
 * a service that answers with the caller's address: that would be the proxy's.
 */
const agentOptions = ({ family }: Endpoint) => ({
  keepAlive: true,
  ...(family === undefined ? { proxyEnv: process.env } : { family: family === "ipv4" ? 4 : 6 }),
});

async function secureAgent(endpoint: Endpoint): Promise<PlainAgent> {
  const { trust, serverName } = endpoint;
  const { Agent } = process.getBuiltinModule("node:https");
  const named = serverName === undefined ? {} : { servername: serverName };
  const options: AgentOptions = { ...agentOptions(endpoint), ...named };
  switch (trust.kind) {
    case "system":
      return new Agent(options);
    case "ca":
      return new Agent({ ...options, ca: trust.pem });
    case "insecure":
      return new Agent({ ...options, rejectUnauthorized: false });
    case "fingerprint": {
      const { createPinnedAgent } = await import("./pinned-agent.ts");
      return createPinnedAgent(options, trust.sha256);
    }
    default:
      return trust satisfies never;
  }
}

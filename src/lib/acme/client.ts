import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent, request as sendRequest } from "node:https";
import { fieldsOfJson, isObject } from "../../core/is-object.ts";
import { version } from "../../process/shipped-files.ts";
import type { AccountKey } from "./account-key.ts";
import { AcmeFailure, describeProblem, type Problem, problemKind } from "./failure.ts";

/** One account at one authority (RFC 8555 section 6). Everything throws `AcmeFailure`. */
export type AcmeClient = {
  readonly key: AccountKey;
  /** Undefined if the authority has no terms of service. */
  readonly terms: string | undefined;
  readonly newOrder: (names: readonly string[]) => Promise<Resource>;
  /** Without a payload it only reads (POST-as-GET). */
  readonly post: (url: string, payload?: object) => Promise<Resource>;
  readonly close: () => void;
};

/** An object of the authority. Its fields are checked where they are used. */
export type Resource = {
  readonly url: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Unparsed: a certificate is not JSON. */
  readonly body: string;
  /** Milliseconds. */
  readonly retryAfter: number | undefined;
};

export type ClientOptions = {
  readonly directory: string;
  readonly trust?: string | undefined;
  readonly mail: string;
  readonly key: AccountKey;
  readonly now: () => Date;
  readonly signal: AbortSignal;
};

/**
 * Registers every time: for a known key the authority answers with the existing account, so nothing but the key has to
 * be stored, and an authority that has lost its accounts, such as a test authority, creates a new one.
 */
export async function openAcmeClient(options: ClientOptions): Promise<AcmeClient> {
  const { directory, key, mail, now } = options;
  const transport = openTransport(options.trust, options.signal);
  let nonce: string | undefined;

  const read = (answer: AcmeAnswer, url: string): Resource => {
    nonce = headerOf(answer, "replay-nonce") ?? nonce;
    const retryAfter = readRetryAfter(headerOf(answer, "retry-after"), now());
    const fields = fieldsOfJson(answer.body);
    if (answer.status >= 400) throw refusal(answer.status, fields, retryAfter);
    return { url: headerOf(answer, "location") ?? url, fields, body: answer.body, retryAfter };
  };
  const takeNonce = async (from: string): Promise<string> => {
    if (nonce === undefined) read(await transport.send("HEAD", from), from);
    const taken = nonce;
    nonce = undefined;
    if (taken === undefined)
      throw new AcmeFailure("unavailable", "the authority sent no nonce; check --acme-directory");
    return taken;
  };

  try {
    const urls = readDirectory(read(await transport.send("GET", directory), directory).fields, directory);
    const post = async (url: string, payload: object | undefined, identity: object): Promise<Resource> => {
      for (let tries = 1; ; tries++) {
        const header = { alg: "ES256", ...identity, nonce: await takeNonce(urls.newNonce), url };
        const body = key.sign(header, payload === undefined ? "" : JSON.stringify(payload));
        try {
          return read(await transport.send("POST", url, body), url);
        } catch (error) {
          // RFC 8555 section 6.5: the error contains a new nonce for the retry.
          if (!(error instanceof AcmeFailure && error.problem === "badNonce" && tries < mostTries)) throw error;
        }
      }
    };
    const terms = { termsOfServiceAgreed: true, contact: [`mailto:${mail}`] };
    const account = await post(urls.newAccount, terms, { jwk: key.jwk });
    const asAccount = (url: string, payload?: object) => post(url, payload, { kid: account.url });
    return {
      key,
      terms: urls.terms,
      newOrder: (names) => asAccount(urls.newOrder, { identifiers: names.map((value) => ({ type: "dns", value })) }),
      post: asAccount,
      close: transport.close,
    };
  } catch (error) {
    transport.close();
    throw error;
  }
}

const mostTries = 10;

const headerOf = ({ headers }: AcmeAnswer, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/** A 5xx answer, or one from a proxy in front of the authority, says nothing about our request. */
function refusal(status: number, problem: Problem, retryAfter: number | undefined): AcmeFailure {
  const ours = status < 500 && problem.type !== undefined;
  const reason = problem.type === undefined ? `it answered with status ${status}` : describeProblem(problem);
  return new AcmeFailure(ours ? "refused" : "unavailable", `the authority refused the request: ${reason}`, {
    retryAfter,
    problem: problemKind(problem),
  });
}

/** Seconds, or a date (RFC 9110 section 10.2.3); in milliseconds. */
export function readRetryAfter(text: string | undefined, now: Date): number | undefined {
  if (text === undefined) return undefined;
  const wait = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

function readDirectory(fields: Resource["fields"], directory: string) {
  const { newNonce, newAccount, newOrder, meta } = fields;
  if (typeof newNonce !== "string" || typeof newAccount !== "string" || typeof newOrder !== "string") {
    throw new AcmeFailure(
      "unavailable",
      `${directory} is not the directory of an ACME authority; correct --acme-directory`,
    );
  }
  const terms = isObject(meta) && typeof meta.termsOfService === "string" ? meta.termsOfService : undefined;
  return { newNonce, newAccount, newOrder, terms };
}

type AcmeAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };

const patience = 30_000;
/** Far more than a certificate chain, which has a few kilobytes. */
const mostBytes = 1024 * 1024;

/** HTTPS to the authority. `trust`: PEM certificates to trust instead of the public ones. */
function openTransport(trust: string | undefined, signal: AbortSignal) {
  // No keep-alive: for a dozen requests per order it is not worth the risk of using a connection that the authority is
  // closing.
  const agent = new Agent({ ca: trust });
  return {
    /** Throws `AcmeFailure` if there is no answer. */
    send: async (method: "GET" | "HEAD" | "POST", url: string, body?: string): Promise<AcmeAnswer> => {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(patience)]);
      const headers = {
        "user-agent": `moor/${version}`,
        ...(body !== undefined && {
          "content-type": "application/jose+json",
          "content-length": Buffer.byteLength(body),
        }),
      };
      try {
        const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
        sendRequest(url, { method, headers, agent, signal: limited }, resolve).once("error", reject).end(body);
        const response = await promise;
        return { status: response.statusCode ?? 0, headers: response.headers, body: await readBody(response) };
      } catch (error) {
        throw unavailable(error, new URL(url).host, limited);
      }
    },
    close: (): void => agent.destroy(),
  };
}

async function readBody(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > mostBytes) throw new Error("the answer is too long");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function unavailable(error: unknown, host: string, { aborted, reason }: AbortSignal): AcmeFailure {
  const { code = "", message } = error as NodeJS.ErrnoException;
  const late = aborted && (reason as Error).name === "TimeoutError";
  const why = late ? `no answer within ${patience / 1_000} s` : message;
  return new AcmeFailure("unavailable", `the request to the authority at ${host} failed: ${why}${todoFor(code)}`, {
    cause: error,
  });
}

function todoFor(code: string): string {
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") return "; check the clock of this machine";
  if (/SELF_SIGNED|UNABLE_TO_/.test(code)) return "; give the CA certificate of that server with --acme-ca";
  return code === "ENOTFOUND" ? "; correct --acme-directory, or check the resolver of this machine" : "";
}

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent, request as sendRequest } from "node:https";
import { version } from "../../process/shipped-files.ts";
import { AcmeFailure } from "./failure.ts";

export type AcmeAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };

const patience = 30_000;
/** Far more than a certificate chain, which has a few kilobytes. */
const mostBytes = 1024 * 1024;

/** HTTPS to the authority. `trust`: PEM certificates to trust instead of the public ones. */
export function openTransport(trust: string | undefined, signal: AbortSignal) {
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

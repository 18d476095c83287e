import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { dirname } from "node:path";
import { addressesOf, listenOn } from "../../lib/http/listen.ts";
import { closeServer, createPlainServer, createTlsServer, showPair } from "../../lib/http/page-server.ts";
import { type PlainRequest, readPlainRequest } from "../../lib/http/plain-request.ts";
import type { Logger } from "../../process/log.ts";
import type { UpdaterConfig } from "../config/config.ts";
import { type ControlConfig, controlUrl } from "../config/outlets.ts";

export type PageReply = {
  readonly status: number;
  /** Strings and bytes are sent as they are, anything else as JSON. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

export type AnswerRequest = (request: PlainRequest) => Promise<PageReply>;

/** The updater's port. */
export type PageListener = {
  /**
   * Gives these answers from now on. Stays open if the address is the same as before, so that a reload of the config
   * interrupts nobody. Returns the URL; undefined without `control:`, or if it cannot listen there: names are updated
   * anyway.
   */
  readonly serve: (
    config: Pick<UpdaterConfig, "control" | "stateFile">,
    answer: AnswerRequest,
  ) => Promise<string | undefined>;
  readonly close: () => Promise<void>;
};

/** `option`: what sets the address, for messages. */
export function createPageListener(log: Logger, option = "control: listen:"): PageListener {
  let open: { readonly at: string; readonly url: string; readonly close: () => Promise<void> } | undefined;
  let answer: AnswerRequest = async () => ({ status: 503, body: { error: "starting" } });
  const handle: RequestListener = (request, response) => void respond(request, response, answer);
  const close = async () => {
    await open?.close();
    open = undefined;
  };
  return {
    async serve({ control, stateFile }, next) {
      const { host, port, password, certificate } = control ?? {};
      const at = JSON.stringify([host, port, password !== undefined, certificate, dirname(stateFile)]);
      if (open?.at !== at) await close();
      answer = next;
      if (control === undefined || open !== undefined) return open?.url;
      try {
        const { url, ...listening } = await listen(control, dirname(stateFile), { handle, log, option });
        open = { at, url, ...listening };
        log.info({ page: `${url}/` }, "the status page is available");
      } catch (error) {
        log.warn({ because: (error as Error).message }, "the status page is unavailable");
      }
      return open?.url;
    },
    close,
  };
}

type Tools = { readonly handle: RequestListener; readonly log: Logger; readonly option: string };

/** Passwords are never sent in plain text. Without a password, only this machine can connect. */
async function listen(control: ControlConfig, folder: string, { handle, log, option }: Tools) {
  const { server, close } = control.password ? await openTls(control, folder, handle, log) : openPlain(handle, log);
  try {
    const { port } = await listenOn(server, control, option);
    return { url: controlUrl({ ...control, port }), close };
  } catch (error) {
    void close();
    throw error;
  }
}

function openPlain(handle: RequestListener, log: Logger) {
  const server = createPlainServer({ handle, log });
  return { server, close: () => closeServer(server) };
}

/** Imported here, because a watcher without a password does not need it. */
async function openTls(control: ControlConfig, folder: string, handle: RequestListener, log: Logger) {
  const { openTlsMaterial } = await import("../../lib/tls/material.ts");
  const { certificate } = control;
  const tls = await openTlsMaterial({
    folder,
    pairName: "updater",
    log,
    ...(certificate && { files: certificate }),
    names: () => addressesOf(control),
  });
  const server = createTlsServer(tls.pair, { handle, log });
  tls.follow((pair) => showPair(server, pair));
  const close = () => {
    tls.close();
    return closeServer(server);
  };
  return { server, close };
}

async function respond(request: IncomingMessage, response: ServerResponse, answer: AnswerRequest): Promise<void> {
  try {
    const plain = await readPlainRequest(request);
    send(response, plain === undefined ? tooLarge : await answer(plain));
  } catch {
    if (!response.headersSent) response.writeHead(500);
    response.end();
  }
}

const tooLarge: PageReply = { status: 413, body: { error: { message: "The request is too large." } } };

const json = { "content-type": "application/json", "cache-control": "no-store" };

function send(response: ServerResponse, { status, body, headers = json }: PageReply): void {
  const isReady = typeof body === "string" || Buffer.isBuffer(body);
  const content = isReady ? body : `${JSON.stringify(body, undefined, 2)}\n`;
  // A 204 response must not even declare the length of a body.
  response.writeHead(status, { ...headers, ...(status !== 204 && { "content-length": Buffer.byteLength(content) }) });
  response.end(content);
}

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { freePort } from "../../free-port.ts";
import type { Asked } from "../services.ts";
import type { SourceFault, SourceRig } from "../source-suite.ts";

/** A small router on loopback: what it answers, and what it can do wrong. */
export type HttpPeer = Pick<SourceRig, "stall" | "stalled" | "open" | "close"> & {
  readonly port: number;
  readonly url: string;
  readonly asked: Asked[];
  /** Answers as usual from now on. */
  recover(): Promise<void>;
  /** Answers all requests like this from now on. */
  fail(answer: Answer): void;
  fault(title: string, answer: Answer, because: RegExp): SourceFault;
  /** What every server can do wrong. */
  readonly faults: readonly SourceFault[];
};

export type Answer = {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

export async function startHttpPeer(serve: (asked: Asked) => Answer): Promise<HttpPeer> {
  const asked: Asked[] = [];
  let [waiting, open] = [0, 0];
  const usual = (question: Asked, response: ServerResponse) => send(response, serve(question));
  let respond = usual;
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const question = { method: request.method ?? "", path: request.url ?? "", headers: request.headers, body };
    asked.push(question);
    respond(question, response);
  };
  const server = createServer((request, response) => void handle(request, response).catch(() => undefined));
  // If the process is paused, the default of five seconds would expire.
  server.keepAliveTimeout = 0;
  server.on("connection", (socket) => {
    open += 1;
    socket.once("close", () => {
      open -= 1;
    });
  });
  const port = await freePort();
  const listen = () => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const shut = () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    return closed;
  };
  await listen();
  const begin = (wrong: typeof usual) => () => {
    respond = wrong;
  };
  const fault = (title: string, answer: Answer, because: RegExp): SourceFault => ({
    ...{ title, because },
    begin: begin((_, response) => send(response, answer)),
  });
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    asked,
    async recover() {
      if (!server.listening) await listen();
      respond = usual;
    },
    fail: (answer) => begin((_, response) => send(response, answer))(),
    fault,
    faults: [
      { title: "refuses the connection", begin: shut, because: /nothing is listening/ },
      { title: "resets the connection", begin: begin((_, response) => response.destroy()), because: /closed the conn/ },
      fault("answers 500", { status: 500, body: "oops" }, /answered 500/),
      fault("redirects to its login", { status: 302, headers: { location: "/login" } }, /answered 302/),
      fault("never stops", { body: "x".repeat(5 * 1024 * 1024) }, /more than 4 MiB/),
      { title: "is slow", begin: begin(() => undefined), because: /within 1 s/, isSlow: true },
    ],
    stall: begin(() => {
      waiting += 1;
    }),
    stalled: () => waiting,
    open: () => open,
    close: shut,
  };
}

function send(response: ServerResponse, { status = 200, body = "", headers = {} }: Answer): void {
  response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
}

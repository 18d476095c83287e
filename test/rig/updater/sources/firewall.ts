import { writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { freePort } from "../../free-port.ts";
import { wanWith } from "../services.ts";
import type { SourceRig } from "../source-suite.ts";

/** Like `moor firewall`: a report, and a stream of them. */
export async function startFirewall(folder: string): Promise<SourceRig> {
  writeFileSync(join(folder, "key"), "key=thekey\nsecret=thesecret\n", { mode: 0o600 });
  let wan0: unknown = wanWith([], []);
  type Answer = (response: ServerResponse) => void;
  const send = (status: number, body: string) => (response: ServerResponse) =>
    void response.writeHead(status).end(body);
  const good: Answer = (response) => send(200, JSON.stringify({ wan0 }))(response);
  let answer = good;
  let [waiting, open] = [0, 0];
  const streams = new Set<ServerResponse>();
  const event = (name: string) => `event: ${name}\ndata: ${JSON.stringify({ wan0 })}\n\n`;
  const server = createServer((request, response) => {
    if (!request.url?.endsWith("/events")) return answer(response);
    response.writeHead(200, { "content-type": "text/event-stream" }).write(event("snapshot"));
    streams.add(response);
    response.once("close", () => streams.delete(response));
  });
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
  const fault = (title: string, wrong: Answer, because: RegExp) => ({
    ...{ title, because },
    begin: () => {
      answer = wrong;
    },
  });
  const authorization = Buffer.from("thekey:thesecret").toString("base64");
  return {
    entry: (timeout) => `{ url: "http://127.0.0.1:${port}", keyFile: key, timeout: ${timeout} }`,
    device: "wan0",
    secret: "thesecret",
    async say({ ipv4, ipv6 }) {
      if (!server.listening) await listen();
      wan0 = wanWith(ipv4, ipv6);
      answer = good;
      for (const stream of streams) stream.write(event("change"));
      return true;
    },
    faults: [
      { title: "refuses the connection", begin: shut, because: /nothing is listening/ },
      fault("resets the connection", (response) => response.destroy(), /closed the connection/),
      fault("answers with a page", send(200, `<p>${authorization} thesecret`), /a web page instead of data/),
      fault("echoes the secret", send(200, `{"wan0":"thesecret"}`), /wan0 is not an object/),
      fault("truncates its answer", send(200, '{"wan0":{"ipv4":[{"ip'), /not JSON, or was cut off/),
      fault("never stops", send(200, "x".repeat(5 * 1024 * 1024)), /more than 4 MiB/),
      fault("rejects the key", send(401, "thekey thesecret"), /rejected the key/),
      { ...fault("is slow", () => undefined, /within 1 s/), isSlow: true },
    ],
    stall: () => {
      answer = () => {
        waiting += 1;
      };
    },
    stalled: () => waiting,
    open: () => open,
    hangUp() {
      for (const stream of streams) stream.destroy();
    },
    close: shut,
  };
}

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TestCertificate } from "./certificates.ts";

/** A firewall that pushes changes, like `moor firewall`. */
export type EventFirewall = {
  readonly url: string;
  /** The requests it got, for streams and reports. */
  readonly asked: { readonly path: string }[];
  /** Changes the report, and notifies all listeners unless `silently`. */
  say(report: unknown, silently?: boolean): void;
  /** Sends a raw text to all listeners. */
  send(text: string): void;
  /** Ends all streams; `refuse` answers new ones with this status. */
  hangUp(refuse?: number): void;
  accept(): void;
  listeners(): number;
  close(): Promise<void>;
};

export async function startEventFirewall(first: unknown, certificate?: TestCertificate): Promise<EventFirewall> {
  const asked: EventFirewall["asked"] = [];
  const open = new Set<ServerResponse>();
  let report = first;
  let number = 0;
  let refused = 0;
  const event = (name: string) => `id: ${number}\nevent: ${name}\ndata: ${JSON.stringify(report)}\n\n`;
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    asked.push({ path: request.url ?? "" });
    if (!request.url?.endsWith("/events")) {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(report));
    } else if (refused > 0) {
      response.writeHead(refused).end();
    } else {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(`retry: 250\n${event("snapshot")}`);
      open.add(response);
      response.once("close", () => open.delete(response));
    }
  };
  const server = certificate ? createSecureServer({ ...certificate, ca: undefined }, listener) : createServer(listener);
  // If the process is paused, the default of five seconds would expire.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const send = (text: string) => {
    for (const response of open) response.write(text);
  };
  return {
    url: `${certificate ? "https" : "http"}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    say(next, silently = false) {
      report = next;
      number += 1;
      if (!silently) send(event("change"));
    },
    send,
    hangUp(refuse = 0) {
      refused = refuse;
      for (const response of open) response.destroy();
    },
    accept() {
      refused = 0;
    },
    listeners: () => open.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

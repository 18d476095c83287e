import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { freePort } from "../../free-port.ts";

/** A service that answers with the address it was given, at an IPv4 and an IPv6 address of this machine. */
export type EchoService = {
  readonly urls: readonly string[];
  /** What it answers over each family; may also break the connection, or not answer. */
  answer: Record<"ipv4" | "ipv6", (response: ServerResponse) => void>;
  readonly asked: { readonly family: "ipv4" | "ipv6"; readonly accept: string | undefined }[];
  open(): number;
  pause(): Promise<void>;
  resume(): Promise<void>;
};

/**
 * How real services print an address: echoip, which runs ifconfig.co, ends it with a newline
 * (https://github.com/mpolden/echoip, CLIHandler), as icanhazip.com does (https://github.com/major/icanhaz); ipify does
 * not (https://github.com/rdegges/ipify-api, get_ip.go).
 */
const prints = [
  (address: string) => says(`${address}\n`, 200, { "content-type": "text/plain; charset=utf-8" }),
  (address: string) => says(`${address}\n`, 200, { "content-type": "text/plain" }),
  (address: string) => says(address, 200, { "content-type": "text/plain" }),
] as const;

/** The address as the service with this number prints it. */
export const printed = (address: string, service: number) => (prints[service % prints.length] ?? prints[0])(address);

export const says =
  (body: string, status = 200, headers = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end(body);

export async function startEchoService(): Promise<EchoService> {
  const port = await freePort();
  let open = 0;
  const echo: EchoService = {
    urls: [`http://127.0.0.1:${port}/ip?plain`, `http://[::1]:${port}`],
    answer: { ipv4: says(""), ipv6: says("") },
    asked: [],
    open: () => open,
    pause: async () => void (await Promise.all(servers.map(([server]) => shut(server)))),
    resume: async () => void (await Promise.all(servers.map(([server, host]) => listen(server, port, host)))),
  };
  const handle = (family: "ipv4" | "ipv6") => (request: IncomingMessage, response: ServerResponse) => {
    echo.asked.push({ family, accept: request.headers.accept });
    echo.answer[family](response);
  };
  const servers = (["ipv4", "ipv6"] as const).map((family) => {
    const server = createServer(handle(family));
    server.keepAliveTimeout = 0;
    server.on("connection", (socket) => {
      open += 1;
      socket.once("close", () => {
        open -= 1;
      });
    });
    return [server, family === "ipv4" ? "127.0.0.1" : "::1"] as const;
  });
  await echo.resume();
  return echo;
}

const listen = (server: Server, port: number, host: string) =>
  new Promise<void>((resolve) => (server.listening ? resolve() : server.listen(port, host, resolve)));

function shut(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  return closed;
}

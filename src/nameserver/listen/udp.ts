import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { lookup } from "node:dns";
import { isIPv6 } from "node:net";
import type { ListenAddress } from "../../lib/http/listen.ts";
import { answerDatagrams, type UdpOptions } from "./answer-datagrams.ts";
import { passOfLoop } from "./backlog.ts";
import { type Client, clientFromText } from "./client.ts";
import { listenFailure } from "./failure.ts";

export type Listening = { readonly address: ListenAddress; readonly close: () => Promise<void> };

/**
 * About 10,000 queries. A smaller buffer would shorten the wait after a flood, but lose queries whenever this thread
 * gets no CPU for a tenth of a second, and a client waits longer to retry a lost query than for a full queue. The
 * kernel silently caps it at `net.core.rmem_max`.
 */
export const receiveBuffer = 4 * 1024 * 1024;

type DatagramClient = Client & { readonly port: number };

/** On Node's own sockets, which read and send one datagram per system call. `reusePort`: threads share the port. */
export async function listenUdp(
  at: ListenAddress,
  { reusePort = false, ...options }: UdpOptions & { readonly reusePort?: boolean },
): Promise<Listening> {
  const socket = openSocket(at, reusePort);
  const answers = answerDatagrams<DatagramClient>(options, {
    ...passOfLoop,
    send: (reply, { port, text }) => socket.send(reply, port, text),
  });
  const { seed } = options;
  socket.on("message", (query, { address, port }: RemoteInfo) => {
    // Port 0 cannot be sent to; only forged packets come from there.
    if (port === 0) return;
    const client = { ...clientFromText(address, seed), port };
    if (answers.admit(client, Date.now())) answers.answer(query, client);
  });
  await bind(socket, at);
  // The error of a reply that could not be sent: the client retries.
  socket.on("error", () => undefined);
  setReceiveBuffer(socket);
  return { address: { host: at.host, port: socket.address().port }, close: closeOnce(socket, answers.close) };
}

function closeOnce(socket: Socket, closeAnswers: () => void): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => {
    closeAnswers();
    closed ??= new Promise((resolve) => socket.close(() => resolve()));
    return closed;
  };
}

const openSocket = ({ host }: ListenAddress, reusePort: boolean): Socket =>
  createSocket({
    type: isIPv6(host) ? "udp6" : "udp4",
    ipv6Only: isIPv6(host) && host !== "::",
    reusePort,
    lookup: lookupOnce(),
  });

function bind(socket: Socket, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("error", (error) => reject(listenFailure(error, { host, port }, "UDP")));
    socket.bind(port, host, () => {
      socket.removeAllListeners("error");
      resolve();
    });
  });
}

/**
 * Only the listening address can be a hostname. Clients' addresses never are, and must not wait a tick for a lookup.
 */
function lookupOnce(): (host: string, family: unknown, give: LookupResult) => void {
  let bound = false;
  return (host, family, give) => {
    if (bound) give(null, host, 0);
    else lookup(host, { family: family === 6 ? 6 : 4 }, give);
    bound = true;
  };
}

type LookupResult = (error: NodeJS.ErrnoException | null, address: string, family: number) => void;

function setReceiveBuffer(socket: Socket): void {
  try {
    socket.setRecvBufferSize(receiveBuffer);
  } catch {
    // The default size stays.
  }
}

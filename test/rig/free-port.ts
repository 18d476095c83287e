import { createSocket } from "node:dgram";
import { createServer } from "node:net";

/**
 * Below those that systems give to outgoing connections (32768 on Linux): one that is free now stays so until it is listened on,
 * and also while its server is stopped and started again. Each worker has its own, so that none takes another's.
 */
const lowest = 20_000;
const each = 1_500;
const worker = Number(process.env.VITEST_POOL_ID ?? 0) % 8;
let next = lowest + worker * each + Math.floor(Math.random() * each);

/** A port of loopback on which nobody listens, neither over TCP nor over UDP. */
export async function freePort(): Promise<number> {
  for (let tries = each; tries > 0; tries--) {
    const port = next;
    next = lowest + worker * each + ((next + 1 - lowest) % each);
    if ((await isFreeOverTcp(port)) && (await isFreeOverUdp(port))) return port;
  }
  throw new Error(`no port is free from ${lowest + worker * each} on`);
}

const isFreeOverTcp = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

const isFreeOverUdp = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createSocket("udp4").once("error", () => resolve(false));
    socket.bind(port, "127.0.0.1", () => socket.close(() => resolve(true)));
  });

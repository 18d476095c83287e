import { createSocket } from "node:dgram";
import { createServer } from "node:net";

/**
 * Below the ephemeral ports (32768 on Linux), so that a free port stays free until it is listened on, and while its
 * server restarts. Each worker has a separate range.
 */
const lowest = 20_000;
const each = 1_500;
const worker = Number(process.env.VITEST_POOL_ID ?? 0) % 8;
let next = lowest + worker * each + Math.floor(Math.random() * each);

/** A loopback port on which nobody listens, neither TCP nor UDP. */
export async function freePort(): Promise<number> {
  for (let tries = each; tries > 0; tries--) {
    const port = next;
    next = lowest + worker * each + ((next + 1 - lowest) % each);
    if (await isFree(port)) return port;
  }
  throw new Error(`there is no free port from ${lowest + worker * each} on`);
}

export const isFree = async (port: number): Promise<boolean> =>
  (await isFreeOverTcp(port)) && (await isFreeOverUdp(port));

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

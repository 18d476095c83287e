import { BatchListeners } from "../../src/nameserver/listen/batch/batch-listeners.ts";
import { listenUdp } from "../../src/nameserver/listen/udp.ts";

/**
 * Echoes datagrams at one address and port, and prints how many it has read: `node udp-echo.ts HOST PORT batch|dgram`.
 * One that begins with an `h` is held until the next one that begins with an `r`.
 */
const [host = "", port, kind] = process.argv.slice(2);
let release = () => {};
const held = new Promise<void>((resolve) => {
  release = resolve;
});
let read = 0;
const options = {
  seed: 1,
  rateLimit: () => "send" as const,
  respond: (query: Buffer) => {
    read += 1;
    if (query[0] === "h".charCodeAt(0)) return held.then(() => query);
    if (query[0] === "r".charCodeAt(0)) release();
    return query;
  },
};
const at = { host, port: Number(port) };
await (kind === "dgram" ? listenUdp(at, options) : new BatchListeners().listen(at, options));
console.log("listens");
process.on("SIGUSR2", () => console.log(`read ${read}`));

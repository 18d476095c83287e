import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { followConnections, listenOn, listenTrouble } from "./listen.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

it.each(["*", "no-such-host.invalid"])("says what to write when %s is not an address to listen on", async (host) => {
  const [error] = await once(createServer().listen(8053, host), "error");
  // Which of the two depends on whether this machine has a network.
  const whys: Readonly<Record<string, string>> = {
    ENOTFOUND: `${host} is not an address or name of this machine`,
    EAI_AGAIN: `${host} is not an address, and DNS does not answer for it as a name`,
  };
  expect(Object.keys(whys)).toContain(error.code);
  for (const [code, why] of Object.entries(whys)) {
    expect(listenTrouble(Object.assign(error, { code }), { host, port: 8053 })).toBe(
      `${why}; choose one with --listen HOST:PORT: ` +
        "127.0.0.1:8053 for this machine only, 0.0.0.0:8053 or [::]:8053 for all its addresses",
    );
  }
});

/** A server for eight connections; `from` opens one from that address, and says whether it stays open. */
async function startForEight(isProxy?: (peer: string) => boolean) {
  const server = createServer();
  server.maxConnections = 8;
  followConnections(server, isProxy);
  server.on("connection", (socket) => {
    if (!socket.destroyed) socket.on("error", () => undefined).write("hello");
  });
  const { port } = await listenOn(server, { host: "127.0.0.1", port: 0 });
  closing.push(() => server.close());
  const from = async (localAddress: string): Promise<Socket | undefined> => {
    const socket = connect({ port, host: "127.0.0.1", localAddress }).on("error", () => undefined);
    closing.push(() => socket.destroy());
    const opened = Promise.withResolvers<boolean>();
    socket.once("data", () => opened.resolve(true)).once("close", () => opened.resolve(false));
    return (await opened.promise) ? socket : undefined;
  };
  return { from };
}

it("one client may open a quarter of the connections, and others still get theirs", async () => {
  const { from } = await startForEight();
  const [first, second, third] = [await from("127.0.0.2"), await from("127.0.0.2"), await from("127.0.0.2")];
  expect([first, second, third].map((each) => each !== undefined)).toEqual([true, true, false]);
  expect(await from("127.0.0.3")).toBeDefined();
  const left = new Promise((resolve) => first?.once("close", resolve));
  first?.destroy();
  await left;
  await expect.poll(() => from("127.0.0.2")).toBeDefined();
});

it("a trusted proxy may open all of them", async () => {
  const { from } = await startForEight((peer) => peer === "127.0.0.2");
  for (let i = 0; i < 8; i++) expect(await from("127.0.0.2")).toBeDefined();
  expect(await from("127.0.0.2")).toBeUndefined();
});

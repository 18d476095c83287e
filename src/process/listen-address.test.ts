import { once } from "node:events";
import { createServer } from "node:net";
import { expect, it } from "vitest";
import { listenTrouble } from "./listen-address.ts";

it.each(["*", "no-such-host.invalid"])("says what to write where %s is no address to listen on", async (host) => {
  const [error] = await once(createServer().listen(8053, host), "error");
  expect(listenTrouble(error, { host, port: 8053 })).toBe(
    `${host} is no address or name of this machine; choose one with --listen HOST:PORT: ` +
      "127.0.0.1:8053 for this machine alone, 0.0.0.0:8053 or [::]:8053 for all of its addresses",
  );
});

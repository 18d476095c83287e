import { once } from "node:events";
import { createServer } from "node:net";
import { expect, it } from "vitest";
import { listenTrouble } from "./listen.ts";

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

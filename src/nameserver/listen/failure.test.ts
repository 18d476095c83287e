import { expect, it } from "vitest";
import { listenFailure } from "./failure.ts";

it.each([
  ["EADDRINUSE", 53, /UDP port 53 on 127\.0\.0\.1 is in use.*ss -lnp sport = :53.*--dns HOST:PORT/],
  ["EACCES", 53, /UDP port 53 .* permission .*AmbientCapabilities=CAP_NET_BIND_SERVICE.*above 1023/],
  ["EADDRNOTAVAIL", 53, /does not have the address 127\.0\.0\.1/],
  ["ENOTFOUND", 5300, /not an address .* such as 127\.0\.0\.1:5300/],
  ["EAI_AGAIN", 5300, /DNS does not answer .*; write one such as 127\.0\.0\.1:5300/],
  ["EMFILE", 53, /cannot listen on UDP port 53 on 127\.0\.0\.1: too many/],
])("%s says what to do", (code, port, words) => {
  const cause = Object.assign(new Error("too many"), { code });
  const failure = listenFailure(cause, { host: "127.0.0.1", port }, "UDP");
  expect(failure.message).toMatch(words);
  expect(failure.cause).toBe(cause);
});

import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { createRequestIds } from "./request-id.ts";

const request = (peer: string, headers: Record<string, string> = {}) =>
  ({ headers, socket: { remoteAddress: peer } }) as unknown as IncomingMessage;

describe("the id of a request", () => {
  it("is 32 hex digits, different for each request", () => {
    const idOf = createRequestIds();
    const ids = Array.from({ length: 1_000 }, () => idOf(request("203.0.113.1", { "x-request-id": "mine" })));
    expect(new Set(ids).size).toBe(1_000);
    expect(ids.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
    expect(createRequestIds()(request("::1")).slice(0, 25)).not.toBe(ids[0]?.slice(0, 25));
  });

  const idOf = createRequestIds({ isTrusted: (peer) => peer === "10.0.0.1" });
  it.each([
    ["comes from a trusted proxy", "10.0.0.1", { "x-request-id": "abc-1.2_3" }, "abc-1.2_3"],
    ["comes from the proxy's other header", "10.0.0.1", { "x-correlation-id": "c-1" }, "c-1"],
    ["comes from the first of both headers", "10.0.0.1", { "x-request-id": "r", "x-correlation-id": "c" }, "r"],
    ["cannot break a line or a header", "10.0.0.1", { "x-request-id": 'a\n"level":"x" b' }, "alevelxb"],
    ["is cut if it is too long", "10.0.0.1", { "x-request-id": "x".repeat(100_000) }, "x".repeat(64)],
    ["is our own if no character is usable", "10.0.0.1", { "x-request-id": "\u00e4\u00f6 {}" }, /^[0-9a-f]{32}$/],
    ["is our own if the peer is not trusted", "203.0.113.1", { "x-request-id": "forged" }, /^[0-9a-f]{32}$/],
    ["is our own if the proxy sends none", "10.0.0.1", {}, /^[0-9a-f]{32}$/],
  ])("%s", (_, peer, headers, expected) => {
    expect(idOf(request(peer, headers as Record<string, string>))).toEqual(
      typeof expected === "string" ? expected : expect.stringMatching(expected),
    );
  });
});

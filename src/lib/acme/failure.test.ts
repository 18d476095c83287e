import { describe, expect, it } from "vitest";
import { readRetryAfter } from "./client.ts";
import { describeProblem } from "./failure.ts";

const error = (kind: string) => `urn:ietf:params:acme:error:${kind}`;

describe("describeProblem", () => {
  it.each([
    [{ type: error("dns"), detail: "no TXT record" }, /^no TXT record; check that public DNS delegates the zone/],
    [{ type: error("caa"), detail: "CAA forbids" }, /^CAA forbids; a CAA record of the domain forbids this authority/],
    [{ type: error("rateLimited"), detail: "too many" }, /^too many$/],
    [{ type: error("serverInternal") }, /^serverInternal$/],
    [{ type: "about:blank", detail: "odd\u001b[31m" }, /^odd\P{Control}+$/u],
    [{}, /^malformed$/],
  ])("%j", (problem, said) => {
    expect(describeProblem(problem)).toMatch(said);
  });

  it("lists each name that has a problem", () => {
    const subproblems = [
      { type: error("caa"), detail: "forbidden", identifier: { value: "a.example.org" } },
      { type: error("dns"), detail: "no answer", identifier: { value: "b.example.org" } },
    ];
    expect(describeProblem({ type: error("compound"), detail: "two problems", subproblems })).toBe(
      "two problems; a.example.org: forbidden; b.example.org: no answer",
    );
  });

  it("is short, whatever the authority sends", () => {
    expect(describeProblem({ detail: "x".repeat(100_000) }).length).toBeLessThan(2_000);
  });
});

describe("readRetryAfter", () => {
  it.each([
    [undefined, undefined],
    ["120", 120_000],
    ["Sun, 15 Nov 2026 00:01:00 GMT", 60_000],
    ["Sun, 15 Nov 2020 00:01:00 GMT", 0],
    ["soon", undefined],
  ])("%s", (text, wait) => {
    expect(readRetryAfter(text, new Date("2026-11-15T00:00:00Z"))).toBe(wait);
  });
});

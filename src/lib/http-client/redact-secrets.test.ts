import { describe, expect, it, test } from "vitest";
import { redactorOf, secretsIn, secretsOfUrl } from "./redact-secrets.ts";

const token = 'Zk3/vQ+9"xL7mN2pR5tW8yB1';
const escapedAll = Array.from(token, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
const percentAll = Array.from(token, (c) => `%${c.charCodeAt(0).toString(16)}`).join("");
const entities = Array.from(token, (c) => `&#${c.charCodeAt(0)};`).join("");

describe("a secret in a service's text is hidden", () => {
  const spellings: readonly (readonly [string, string])[] = [
    ["plain", token],
    ["part of a longer word", `x${token}y`],
    ["twice", `${token}${token}`],
    ["in another case", token.toLowerCase()],
    ["URL-encoded", encodeURIComponent(token)],
    ["URL-encoded twice", encodeURIComponent(encodeURIComponent(token))],
    ["URL-encoded throughout", percentAll],
    ["inside JSON", JSON.stringify({ sent: token })],
    ["inside JSON inside JSON", JSON.stringify(JSON.stringify({ sent: token }))],
    ["in escapes of JSON", escapedAll],
    ["in entities of HTML", entities],
    ["base64", Buffer.from(token).toString("base64")],
    ["base64 for URLs", Buffer.from(token).toString("base64url")],
    ["base64 after one character", Buffer.from(`:${token}`).toString("base64")],
    ["base64 between other characters", Buffer.from(`user:${token}\n`).toString("base64")],
    ["hexadecimal", Buffer.from(token).toString("hex")],
    ["wrapped", `${token.slice(0, 10)}\r\n  ${token.slice(10)}`],
    ["wrapped inside JSON", JSON.stringify(`${token.slice(0, 10)}\n\t${token.slice(10)}`)],
    ["spaced out", Array.from(token).join(" ")],
    ["first half alone", `starts with ${token.slice(0, 12)}`],
    ["second half alone", `ends with ${token.slice(12)}`],
  ];
  const views = [token, encodeURIComponent(token), Buffer.from(token).toString("base64").slice(2, -4)];
  test.each(spellings)("%s", (_, text) => {
    const shown = redactorOf([token])(`before ${text} after`);
    expect(shown).toMatch(/^before .*\(hidden\).* after$/s);
    const plain = shown.replaceAll(/[\s\\]/g, "");
    for (const part of [...views, token.slice(0, 12), token.slice(12)]) expect(plain).not.toContain(part);
  });
});

describe("what is not secret stays", () => {
  it.for([
    ["another text", token, "the record service answered 500: internal error"],
    ["a domain name that a secret begins with", "example.org-update-me", "no zone example.org"],
    ["a word that a secret begins with", "opnsense-home-firewall-key", "opnsense igb0"],
    ["a secret too short to be one", "ab", "about a table"],
  ] as const)("%s", ([, secret, text]) => {
    expect(redactorOf([secret])(text)).toBe(text);
  });

  it("a long text is processed in linear time, whatever it contains", () => {
    const near = `${token.slice(0, -1)} `.repeat(100);
    for (const text of ["Z".repeat(1_000_000), "\\".repeat(20_000), " ".repeat(1_000_000), near]) {
      expect(redactorOf([token])(text).length).toBeLessThanOrEqual(text.length);
    }
  });
});

describe("secrets are known from what is sent", () => {
  test.each([
    [{ authorization: "Bearer abc" }, ["abc"]],
    [{ "Auth-API-Token": "abc", accept: "x" }, ["abc"]],
    [{ authorization: `Basic ${btoa("key:a:b")}` }, [btoa("key:a:b"), "key:a:b", "key", "a:b"]],
    [{ "x-api-key": "a key with spaces" }, ["a key with spaces"]],
    [{ accept: "application/json" }, []],
  ] as const)("%j", (headers, secrets) => {
    expect(secretsIn(headers)).toEqual(secrets);
  });

  it("including the URL of a web hook", () => {
    const url = new URL("https://hooks.test/services/T00000000/B1/XXXXXXXXXXXX?room=7&key=verysecret");
    expect(secretsOfUrl(url)).toEqual(["services", "T00000000", "XXXXXXXXXXXX", "verysecret"]);
  });
});

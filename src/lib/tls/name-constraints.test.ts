import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer } from "node:tls";
import { describe, expect, it } from "vitest";
import { ensureCertificate } from "./certificates.ts";
import { issueAuthority, issueServerCertificate } from "./issue-certificate.ts";
import { permits, permittedNames } from "./name-constraints.ts";

const now = new Date();
const given = ["dns.example.org", "192.0.2.7"];

describe("the names that an authority may sign for", () => {
  it.each([
    [[], undefined],
    [["192.0.2.1", "2001:db8::1", "nas", "localhost"], undefined],
    [["dns.example.org"], "example.org"],
    [["a.b.example.org"], "b.example.org"],
    [["example.org"], "example.org"],
    [["example.co.uk"], "example.co.uk"],
    [["router.home"], "router.home"],
  ])("are limited if it is created with a name that has a domain: %j, %s", (names, domain) => {
    const permitted = permittedNames(names, "Harbour");
    if (domain === undefined) expect(permitted).toBeUndefined();
    else expect(permitted).toEqual(expect.arrayContaining(["localhost", "harbour", domain, "fritz.box", "home.arpa"]));
  });

  it.each([
    ["dns.example.org", true],
    ["later.example.org", true],
    ["example.org", true],
    ["harbour", true],
    ["localhost", true],
    ["nas.lan", true],
    ["198.51.100.9", true],
    ["2001:db8::9", true],
    ["example.com", false],
    ["notexample.org", false],
    ["other", false],
  ])("are read from its certificate: %s %s", async (name, may) => {
    const { cert } = await issueAuthority(now, permittedNames(given, "harbour"));
    expect(permits(cert)(name)).toBe(may);
    expect(permits((await issueAuthority(now, undefined)).cert)(name)).toBe(true);
  });
});

/** How OpenSSL and Node judge a certificate for these names. */
async function judged(permitted: readonly string[] | undefined, names: readonly string[]) {
  const authority = await issueAuthority(now, permitted);
  const server = await issueServerCertificate(authority, names, now);
  const folder = mkdtempSync(join(tmpdir(), "moor-constraints-"));
  writeFileSync(join(folder, "ca.pem"), authority.cert);
  writeFileSync(join(folder, "server.pem"), server.cert);
  const verify = (purpose: string) => {
    const words = ["verify", "-x509_strict", "-purpose", purpose, "-CAfile", "ca.pem", "server.pem"];
    try {
      return execFileSync("openssl", words, { cwd: folder, encoding: "utf8", stdio: "pipe" }).trim();
    } catch (error) {
      return String((error as { stderr: unknown }).stderr);
    }
  };
  const listener = createServer({ cert: server.cert + authority.cert, key: server.key });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as { port: number };
  const [servername = ""] = names;
  const node = await new Promise<string>((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", servername, ca: authority.cert });
    socket.once("secureConnect", () => resolve("OK")).once("error", ({ message }) => resolve(message));
    socket.once("close", () => listener.close());
    socket.on("secureConnect", () => socket.destroy());
  });
  return { openssl: verify("sslserver"), asClient: verify("sslclient"), node };
}

describe("clients", () => {
  const permitted = permittedNames(given, "harbour");

  it.each([
    [
      "later names and addresses within the constraints",
      permitted,
      ["later.example.org", "harbour", "198.51.100.9", "2001:db8::9"],
    ],
    ["any name, if no domain was known", undefined, ["dns.example.com", "2001:db8::9"]],
  ])("accept a certificate for %s", async (_, limit, names) => {
    const { openssl, node } = await judged(limit, names);
    expect([openssl, node]).toEqual(["server.pem: OK", "OK"]);
  });

  it("accept none for a name outside them, and none for anything but a TLS server", async () => {
    const outside = await judged(permitted, ["bank.example.com"]);
    expect(outside.openssl).toMatch(/permitted subtree violation/);
    expect(outside.node).toMatch(/permitted subtree violation/);
    expect((await judged(permitted, ["later.example.org"])).asClient).toMatch(
      /unsuitable certificate purpose|invalid CA/,
    );
  });
});

it("a later name outside the constraints is left out and reported, and the other names keep their certificate", async () => {
  const folder = mkdtempSync(join(tmpdir(), "moor-constraints-"));
  const first = await ensureCertificate(folder, given, now);
  expect(first.uncovered).toEqual([]);
  const second = await ensureCertificate(folder, [...given, "dns.example.com"], now);
  expect([second.uncovered, second.cert, second.ca]).toEqual([["dns.example.com"], first.cert, first.ca]);
  const third = await ensureCertificate(folder, ["ns2.example.org", "2001:db8::9"], now);
  expect([third.uncovered, third.ca]).toEqual([[], first.ca]);
  expect(hostname()).not.toBe("");
});

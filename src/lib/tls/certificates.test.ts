import { execFileSync } from "node:child_process";
import { createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { ensureCertificate } from "./certificates.ts";

const now = new Date("2026-11-15T00:00:00Z");
const inDays = (days: number) => new Date(now.getTime() + days * 86_400_000);

const makeKey = () =>
  generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-certificates-"));
});

describe("ensureCertificate", () => {
  it("creates an authority, and a server certificate with host names and addresses", async () => {
    const made = await ensureCertificate(folder, ["dns.example.org", "192.0.2.7", "2001:db8::7"], now);
    const server = new X509Certificate(made.cert);
    const ca = new X509Certificate(made.ca);
    expect(ca.ca).toBe(true);
    expect(server.verify(ca.publicKey)).toBe(true);
    expect(server.checkHost("dns.example.org")).toBe("dns.example.org");
    expect(server.checkHost("localhost")).toBe("localhost");
    expect(server.checkIP("192.0.2.7")).toBe("192.0.2.7");
    expect(server.checkIP("2001:db8::7")).toBe("2001:db8::7");
  });

  it("creates a chain that passes the strict checks of RFC 5280, as Python applies them since 3.13", async () => {
    await ensureCertificate(folder, [], now);
    const said = execFileSync(
      "openssl",
      ["verify", "-x509_strict", "-purpose", "sslserver", "-attime", String(now.getTime() / 1000), "-CAfile"].concat(
        join(folder, "ca.pem"),
        join(folder, "server.pem"),
      ),
      { encoding: "utf8" },
    );
    expect(said).toMatch(/server\.pem: OK/);
  });

  it("keeps valid certificates", async () => {
    const first = await ensureCertificate(folder, [], now);
    expect(await ensureCertificate(folder, [], inDays(200))).toEqual(first);
  });

  it.each([
    ["the certificate expires soon", inDays(380), []],
    ["a name is new", now, ["new.example.org"]],
  ])("issues a new server certificate from the same authority if %s", async (_, later, names) => {
    const first = await ensureCertificate(folder, [], now);
    const second = await ensureCertificate(folder, names, later);
    expect(second.ca).toBe(first.ca);
    expect(second.cert).not.toBe(first.cert);
    expect(new X509Certificate(second.cert).validToDate.getTime()).toBeGreaterThan(inDays(395).getTime() - 1);
  });

  it("issues a new server certificate if the old one, from a clock that was ahead, is not valid yet", async () => {
    const first = await ensureCertificate(folder, [], now);
    const ahead = await ensureCertificate(folder, [], inDays(3650));
    const back = await ensureCertificate(folder, [], inDays(1));
    expect(ahead.cert).not.toBe(first.cert);
    expect(new X509Certificate(back.cert).validFromDate.getTime()).toBeLessThan(inDays(1).getTime());
  });

  it("keeps the server certificate if the clock shows a time before the authority was created", async () => {
    const first = await ensureCertificate(folder, [], now);
    expect(await ensureCertificate(folder, [], new Date("1970-01-02"))).toEqual(first);
  });

  it("creates an authority that lasts, even on a machine that does not know the time yet", async () => {
    const { ca } = await ensureCertificate(folder, [], new Date("1970-01-02"));
    expect(new X509Certificate(ca).validFromDate.getTime()).toBeLessThan(now.getTime());
    expect(new X509Certificate(ca).validToDate.getTime()).toBeGreaterThan(inDays(19 * 365).getTime());
  });

  it.each(["server.pem", "server.key"])("issues a new server certificate if %s is damaged", async (file) => {
    const first = await ensureCertificate(folder, [], now);
    await writeFile(join(folder, file), "torn");
    const second = await ensureCertificate(folder, [], now);
    expect(second.ca).toBe(first.ca);
    expect(new X509Certificate(second.cert).checkPrivateKey(createPrivateKey(second.key))).toBe(true);
  });

  it.each([
    ["neither file is PEM", "torn", "torn"],
    ["the key belongs to another", makeKey(), undefined],
  ])("says what to do if the authority is damaged, and creates no other: %s", async (_, key, cert) => {
    await ensureCertificate(folder, [], now);
    const published = await readFile(join(folder, "ca.pem"), "utf8");
    await writeFile(join(folder, "ca.key"), key);
    await writeFile(join(folder, "ca.pem"), cert ?? published);
    await expect(ensureCertificate(folder, [], now)).rejects.toThrow(
      /authority in .* is damaged: .*\nReplace both with good copies/,
    );
    expect(await readFile(join(folder, "ca.key"), "utf8")).toBe(key);
  });

  it("creates no other authority if the key of the one that clients trust is lost", async () => {
    const { ca } = await ensureCertificate(folder, [], now);
    await rm(join(folder, "ca.key"));
    await expect(ensureCertificate(folder, [], now)).rejects.toThrow(
      /ca\.pem exists, but ca\.key does not\nReplace both/,
    );
    expect(await readFile(join(folder, "ca.pem"), "utf8")).toBe(ca);
  });

  it("creates one authority when many processes start at the same time", async () => {
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, at) => ensureCertificate(folder, [], now, at % 2 === 0 ? "server" : "firewall")),
    );
    expect(new Set(made.map(({ ca }) => ca)).size).toBe(1);
    expect(await readFile(join(folder, "ca.pem"), "utf8")).toBe(made[0]?.ca);
    for (const { cert, ca } of made)
      expect(new X509Certificate(cert).verify(new X509Certificate(ca).publicKey)).toBe(true);
    expect((await readdir(folder)).toSorted()).toEqual([
      "ca.key",
      "ca.pem",
      "firewall.key",
      "firewall.pem",
      "server.key",
      "server.pem",
    ]);
  });

  it("accepts an authority in two files, as older releases wrote it", async () => {
    const { ca } = await ensureCertificate(folder, [], now);
    const whole = await readFile(join(folder, "ca.key"), "utf8");
    await writeFile(join(folder, "ca.key"), whole.slice(0, whole.indexOf("-----BEGIN CERTIFICATE")));
    expect((await ensureCertificate(folder, ["new.example.org"], now)).ca).toBe(ca);
  });

  it("completes what a crash interrupted", async () => {
    const { ca } = await ensureCertificate(folder, [], now);
    await rm(join(folder, "ca.pem"));
    expect((await ensureCertificate(folder, [], now)).ca).toBe(ca);
    expect(await readFile(join(folder, "ca.pem"), "utf8")).toBe(ca);
    const other = await ensureCertificate(folder, [], now, "firewall");
    await writeFile(join(folder, "server.key"), other.key);
    const again = await ensureCertificate(folder, [], now);
    expect(new X509Certificate(again.cert).checkPrivateKey(createPrivateKey(again.key))).toBe(true);
  });

  it("makes the private keys readable only by their owner", async () => {
    await ensureCertificate(folder, [], now);
    for (const name of ["ca.key", "server.key"]) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  });
});

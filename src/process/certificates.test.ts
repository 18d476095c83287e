import { X509Certificate } from "node:crypto";
import { mkdtemp, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { ensureCertificate } from "./certificates.ts";

const now = new Date("2026-11-15T00:00:00Z");
const inDays = (days: number) => new Date(now.getTime() + days * 86_400_000);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-certificates-"));
});

describe("ensureCertificate", () => {
  it("makes an authority and a server certificate that names hosts and addresses", async () => {
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

  it("keeps what is there", async () => {
    const first = await ensureCertificate(folder, [], now);
    expect(await ensureCertificate(folder, [], inDays(200))).toEqual(first);
  });

  it.each([
    ["the certificate ends soon", inDays(380), []],
    ["a name is new", now, ["new.example.org"]],
  ])("makes a new server certificate from the same authority when %s", async (_, later, names) => {
    const first = await ensureCertificate(folder, [], now);
    const second = await ensureCertificate(folder, names, later);
    expect(second.ca).toBe(first.ca);
    expect(second.cert).not.toBe(first.cert);
    expect(new X509Certificate(second.cert).validToDate.getTime()).toBeGreaterThan(inDays(395).getTime() - 1);
  });

  it("lets nobody else read the private keys", async () => {
    await ensureCertificate(folder, [], now);
    for (const name of ["ca.key", "server.key"]) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  });
});

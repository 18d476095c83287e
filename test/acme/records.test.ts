import { mkdtemp, readFile, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startFirewall } from "../../src/firewall/start.ts";
import { listenOn } from "../../src/lib/http/listen.ts";
import { createLog } from "../../src/process/log.ts";
import { type Pebble, startPebble } from "../rig/pebble.ts";
import { until } from "../rig/until.ts";
import { acmeOf, ask, connectTo, hostName, serialOf, startAcmeService } from "./acme-service.ts";

/** The record service gets its certificate from a real authority, which queries the service's own nameserver. */

let pebble: Pebble;
beforeAll(async () => {
  pebble = await startPebble();
});
afterAll(() => pebble.close());

const day = 86_400_000;
/** More than two thirds of the five years for which pebble's certificates are valid. */
const untilRenewal = 1_300 * day;

describe("a certificate from an ACME authority", () => {
  it("is presented to clients that use a public name; others get the private authority's", async () => {
    const service = await startAcmeService(pebble);
    await service.put("_acme-challenge.dns", "TXT", '"of another client"');
    await service.issued();
    const trusted = await connectTo(service.url, hostName, await pebble.root());
    expect(trusted.getPeerX509Certificate()?.subjectAltName).toBe(`DNS:${hostName}`);
    const local = await connectTo(service.url, "localhost", await readFile(service.caFile ?? "", "utf8"));
    expect(local.getPeerX509Certificate()?.subjectAltName).toContain("127.0.0.1");
    expect(await service.challenges()).toEqual(['"of another client"']);
    expect((await service.health.readiness()).parts.certificate).toEqual({ ok: true });
  });

  it("may be a wildcard", async () => {
    const service = await startAcmeService(pebble, { names: ["example.org", "*.example.org"] });
    await service.issued();
    for (const name of ["example.org", "any.example.org"])
      expect(serialOf(await connectTo(service.url, name, await pebble.root()))).not.toBe("");
  });

  it("is validated over HTTP if the zone is not on this service", async () => {
    // The nameserver of the test must answer for the name, but its challenges are in another zone, where we cannot
    // publish them.
    const service = await startAcmeService(pebble, { names: ["web.example.org"] });
    await service.put("web", "A", "127.0.0.1");
    await service.put("_acme-challenge.web", "CNAME", "elsewhere.example.net.");
    await service.issued();
    expect(service.logged()).not.toContainEqual(expect.objectContaining({ level: "warn" }));
  });

  it("follows a CNAME at the challenge's name into another zone of this service", async () => {
    const service = await startAcmeService(pebble);
    await service.put("_acme-challenge.dns", "CNAME", "proofs.example.org.");
    await service.issued();
    expect(await service.challenges()).toEqual([]);
  });

  it("is renewed without a restart, and no connection is closed", async () => {
    const service = await startAcmeService(pebble);
    await service.issued();
    const root = await pebble.root();
    const before = await connectTo(service.url, hostName, root);
    const first = serialOf(before);
    service.pass(untilRenewal);
    let answered = 0;
    await expect
      .poll(async () => {
        expect(await ask(before)).toBe("HTTP/1.1 200 OK");
        answered += 1;
        return serialOf(await connectTo(service.url, hostName, root));
      })
      .not.toBe(first);
    expect(await ask(before)).toBe("HTTP/1.1 200 OK");
    expect(answered).toBeGreaterThan(0);
  });

  it("is not ordered again and again when the clock is far ahead", async () => {
    const service = await startAcmeService(pebble);
    const orders = pebble.orders();
    service.pass(untilRenewal);
    service.lead();
    await expect.poll(() => service.acme.failures()).toBe(1);
    expect(service.logged().at(-1)?.because).toMatch(/the new certificate \(valid until 20.*; correct the clock$/);
    expect(pebble.orders() - orders).toBe(1);
  });
});

describe("when the authority does not issue one", () => {
  const warnings = (service: { logged: () => readonly Record<string, string>[] }) =>
    service.logged().filter(({ level }) => level === "warn");

  it("the log says why in plain words, what to do, and when the next attempt is", async () => {
    const service = await startAcmeService(pebble, { names: ["blocked.net"] });
    service.lead();
    await expect.poll(() => warnings(service)).toHaveLength(1);
    expect(warnings(service)[0]).toMatchObject({
      msg: "no ACME certificate could be obtained yet",
      because: expect.stringMatching(/^the authority refused the request: .*blocked.*: correct --name$/),
      "next attempt": expect.stringMatching(/^20/),
    });
    expect(service.acme.failures()).toBe(1);
  });

  it("a name that does not point here is reported, and tried again later", async () => {
    const service = await startAcmeService(pebble, { names: ["web.example.org"] });
    await service.put("_acme-challenge.web", "CNAME", "elsewhere.example.net.");
    service.lead();
    await expect.poll(() => warnings(service).length).toBeGreaterThan(0);
    expect(warnings(service)[0]?.because).toMatch(
      /^the authority could not verify web\.example\.org: .*; check that public DNS delegates the zone/,
    );
    await service.put("web", "A", "127.0.0.1");
    service.pass(3_600_000);
    await service.issued();
    await expect.poll(() => service.acme.failures()).toBe(0);
  });

  it("the old one stays in use while the authority is down, and is renewed when it is back", async () => {
    const service = await startAcmeService(pebble);
    const until = await service.issued();
    const root = await pebble.root();
    const first = serialOf(await connectTo(service.url, hostName, root));
    await pebble.stop();
    service.pass(untilRenewal);
    await expect.poll(() => warnings(service)).toHaveLength(1);
    expect(warnings(service)[0]).toMatchObject({
      msg: "the ACME certificate could not be renewed; the old one stays in use",
      because: expect.stringMatching(/^the request to the authority at 127\.0\.0\.1:\d+ failed: connect ECONNREFUSED/),
      "valid until": until.toISOString(),
    });
    expect(serialOf(await connectTo(service.url, hostName, root))).toBe(first);
    expect((await service.health.readiness()).parts.certificate).toEqual({ ok: true });
    service.pass(6 * 365 * day);
    await expect
      .poll(async () => (await service.health.readiness()).parts.certificate)
      .toMatchObject({ because: expect.stringMatching(/^the certificate from the ACME authority expired on 20/) });
    await pebble.start();
    service.pass(3_600_000);
    // After its restart, the authority has lost its accounts, and has a new root.
    await expect.poll(async () => serialOf(await connectTo(service.url, hostName, await pebble.root()))).not.toBe("");
  });
});

describe("moor firewall", () => {
  const start = async () => {
    const folder = await mkdtemp(join(tmpdir(), "moor-acme-firewall-"));
    // Only its nameserver is needed: the authority finds the router with it.
    const { put } = await startAcmeService(pebble);
    await put("router", "A", "127.0.0.1");
    const lines: string[] = [];
    const firewall = await startFirewall({
      ...{ dataFolder: folder, listen: { host: "127.0.0.1", port: 0 }, read: async () => [] },
      log: createLog({ format: "text", write: (line) => lines.push(line) }),
      acme: { ...acmeOf(pebble), names: ["router.example.org"] },
    });
    onTestFinished(firewall.close);
    return { firewall, log: () => lines.join(""), saved: join(folder, "firewall-acme.json") };
  };

  it("validates its name over HTTP, and keeps its keys private", async () => {
    const { firewall, log, saved } = await start();
    await until(() => firewall.acme?.expires() !== undefined, { what: log });
    await connectTo(firewall.url, "router.example.org", await pebble.root());
    expect((await stat(saved)).mode & 0o777).toBe(0o600);
  });

  it("says what to do when port 80 is in use", async () => {
    const other = createServer();
    await listenOn(other, acmeOf(pebble).http);
    onTestFinished(() => void other.close());
    const { log } = await start();
    await until(() => log().includes("no ACME certificate could be obtained yet"), { what: log });
    expect(log()).toMatch(/is in use by another program; stop it, .*; the authority connects to port 80, so forward/);
  });
});

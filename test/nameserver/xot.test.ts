import { X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect as connectPlain } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { askTcp } from "../../src/lib/dns/ask.ts";
import { classes, opcodes, rcodes, types } from "../../src/lib/dns/codes.ts";
import { ensureCertificate, type ServerCertificate } from "../../src/lib/tls/certificates.ts";
import { pinOf } from "../../src/lib/tls/tls-peer.ts";
import { freePort } from "../rig/free-port.ts";
import { patience } from "../rig/patience.ts";
import { startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";
import { everyone, type MoorDns, run, startMoorDns } from "./moor-dns.ts";

/** Knot transfers over TLS since 3.4; Debian 12 has 3.2, which only knows QUIC. */

let folder: string;
let certificate: ServerCertificate;
let moor: MoorDns;
let pin: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-xot-"));
  certificate = await ensureCertificate(folder, ["localhost", "127.0.0.1"], new Date(), "server");
  await writeFile(join(folder, "cert.pem"), certificate.cert);
  await writeFile(join(folder, "key.pem"), certificate.key);
  const key = new X509Certificate(certificate.cert).publicKey.export({ type: "spki", format: "der" });
  pin = pinOf(key);
  moor = await startMoorDns({ networks: everyone, tls: { pair: certificate, follow: () => undefined } });
  await moor.makeZone("example.org", "@ 60 NS ns1\nns1 60 A 192.0.2.1\nwww 60 A 192.0.2.2\n");
});
afterAll(async () => {
  await moor?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A real server, whose config says where its files are. Ready when it has the zone. */
async function startServer(command: readonly [string, ...string[]], config: string, port: number, zone: string) {
  const own = await mkdtemp(join(tmpdir(), "moor-xot-server-"));
  await writeFile(join(own, "server.conf"), config.replaceAll("FOLDER", own));
  await writeFile(join(own, "zone"), primaryZone);
  const child = startProcess([...command, join(own, "server.conf")], { cwd: own });
  onTestFinished(async () => {
    await child.stop();
    await rm(own, { recursive: true, force: true });
  });
  const ask = (type: string, name: string) => run("dig", ["@127.0.0.1", "-p", `${port}`, "+short", name, type]);
  await until(async () => /^\S+ \S+ \d+ /.test(await ask("SOA", zone)), {
    what: () => `${command[0]} to have ${zone}: ${child.out()}${child.err()}${moor.log()}`,
  });
  return { ask };
}

const bind = ["/usr/sbin/named", "-g", "-n", "1", "-c"] as const;
const nsd = ["/usr/sbin/nsd", "-d", "-c"] as const;

const bindOptions = (listen: string) =>
  `options { directory "FOLDER"; pid-file none; session-keyfile none; ${listen} listen-on-v6 { none; };
  recursion no; dnssec-validation no; notify no; };\ncontrols { };\n`;
const nsdServer = (more: string) => `server:
  server-count: 1
  username: ""
  chroot: ""
  zonesdir: "FOLDER"
  database: ""
  pidfile: "FOLDER/nsd.pid"
  zonelistfile: "FOLDER/zone.list"
  xfrdfile: "FOLDER/xfrd.state"
  xfrdir: "FOLDER"
${more}remote-control:
  control-enable: no
`;

const primaryZone =
  "$TTL 60\n@ SOA ns1 hostmaster 7 7200 900 1209600 300\n@ NS ns1\nns1 A 192.0.2.1\nfar A 192.0.2.7\n";

describe("moor sends zones over TLS", () => {
  it("to dig, and answers its queries", async () => {
    const dig = (...words: readonly string[]) =>
      run("dig", [
        "@127.0.0.1",
        "-p",
        `${moor.tlsPort}`,
        "+tls",
        `+tls-ca=${join(folder, "ca.pem")}`,
        "+tls-hostname=localhost",
        ...words,
      ]);
    expect(await dig("example.org", "AXFR")).toContain("XFR size: 5 records");
    expect(await dig("+short", "www.example.org")).toBe("192.0.2.2");
  });

  it.each([
    ["without a check of the certificate", "tls ephemeral", ""],
    [
      "with a check of the certificate",
      "tls moor",
      'tls moor { ca-file "CA"; remote-hostname "localhost"; protocols { TLSv1.3; }; };\n',
    ],
  ])("to BIND, %s", async (_, use, block) => {
    const port = await freePort();
    const zone = `zone "example.org" { type secondary; file "s"; primaries { 127.0.0.1 port ${moor.tlsPort} ${use}; }; };\n`;
    const options = bindOptions(`listen-on port ${port} { 127.0.0.1; };`);
    const config = `${block.replace("CA", join(folder, "ca.pem"))}${options}${zone}`;
    const { ask } = await startServer(bind, config, port, "example.org");
    expect(await ask("A", "www.example.org")).toBe("192.0.2.2");
  });

  it("to NSD, which checks the certificate", async () => {
    const port = await freePort();
    const server = nsdServer(`  ip-address: 127.0.0.1@${port}\n  tls-cert-bundle: "${join(folder, "ca.pem")}"\n`);
    const auth = `tls-auth:\n  name: "moor"\n  auth-domain-name: "localhost"\n`;
    const zone = `zone:\n  name: "example.org"\n  request-xfr: AXFR 127.0.0.1@${moor.tlsPort} NOKEY moor\n`;
    const { ask } = await startServer(nsd, `${server}${auth}${zone}`, port, "example.org");
    expect(await ask("A", "www.example.org")).toBe("192.0.2.2");
  });

  it.each([["http/1.1"], []])("not to a client that offers %s as its protocol", async (...offered) => {
    const socket = connect({
      port: moor.tlsPort,
      rejectUnauthorized: false,
      ...(offered.length > 0 && { ALPNProtocols: offered }),
    });
    socket.on("error", () => undefined);
    await new Promise((resolve) => socket.on("close", resolve));
    expect(socket.bytesRead).toBeLessThan(4_000);
  });

  it("and a client that does not speak TLS is disconnected", async () => {
    const socket = connectPlain(moor.tlsPort, "127.0.0.1");
    socket.on("error", () => undefined).resume();
    socket.write(Buffer.alloc(64, 0x20));
    await new Promise((resolve) => socket.on("close", resolve));
    expect(await moor.dig("+short", "www.example.org")).toBe("192.0.2.2");
  });
});

describe("moor transfers zones over TLS", () => {
  /** A secondary moor, which asks a primary on this port over TLS. */
  async function secondaryOf(port: number, withPin: string | undefined) {
    const tls = { pair: certificate, follow: () => undefined };
    const secondary = await startMoorDns({ tls, primariesOverTls: [{ host: "127.0.0.1", port, pin: withPin }] });
    onTestFinished(secondary.close);
    // The port that the zone gives is not used.
    const primaries = [{ id: "p", address: "127.0.0.1", port: 1, created: 0, modified: 0 }];
    await secondary.makeZone("far.example", "", { mode: "secondary", primaries });
    return secondary;
  }

  const expectZone = async (secondary: MoorDns) => {
    const answer = () => secondary.dig("+short", "far.far.example");
    await until(async () => (await answer()) === "192.0.2.7", { what: () => `the zone: ${secondary.log()}` });
    expect(await answer()).toBe("192.0.2.7");
  };

  const startBind = async () => {
    const [plain, port] = [await freePort(), await freePort()];
    const tls = `tls own { cert-file "${join(folder, "cert.pem")}"; key-file "${join(folder, "key.pem")}"; };\n`;
    const listen = `listen-on port ${plain} { 127.0.0.1; }; listen-on port ${port} tls own { 127.0.0.1; };`;
    const zone = `zone "far.example" { type primary; file "zone"; allow-transfer port ${port} transport tls { any; }; };\n`;
    await startServer(bind, `${tls}${bindOptions(listen)}${zone}`, plain, "far.example");
    return port;
  };

  it("from BIND, whose key is pinned", async () => {
    await expectZone(await secondaryOf(await startBind(), pin));
  });

  it("from NSD, whose key is not known, and which names no protocol", async () => {
    const [plain, port] = [await freePort(), await freePort()];
    const files = `  tls-service-key: "${join(folder, "key.pem")}"\n  tls-service-pem: "${join(folder, "cert.pem")}"\n`;
    const server = nsdServer(
      `  ip-address: 127.0.0.1@${plain}\n  ip-address: 127.0.0.1@${port}\n  tls-port: ${port}\n${files}`,
    );
    const zone = `zone:\n  name: "far.example"\n  zonefile: "zone"\n  provide-xfr: 127.0.0.1 NOKEY\n`;
    await startServer(nsd, `${server}${zone}`, plain, "far.example");
    await expectZone(await secondaryOf(port, undefined));
  });

  it("from another moor", async () => {
    const primary = await startMoorDns({ networks: everyone, tls: { pair: certificate, follow: () => undefined } });
    onTestFinished(primary.close);
    await primary.makeZone("far.example", "@ 60 NS ns1\nns1 60 A 192.0.2.1\nfar 60 A 192.0.2.7\n");
    await expectZone(await secondaryOf(primary.tlsPort, pin));
  });

  it("when the primary says over TLS too that a zone has changed", async () => {
    const primary = await startMoorDns({ networks: everyone, tls: { pair: certificate, follow: () => undefined } });
    onTestFinished(primary.close);
    const text = "@ 60 NS ns1\nns1 60 A 192.0.2.1\nfar 60 A 192.0.2.7\n";
    const zone = await primary.makeZone("far.example", text);
    const secondary = await secondaryOf(primary.tlsPort, pin);
    await expectZone(secondary);
    await primary.write(zone, `${text}new 60 A 192.0.2.8\n`);
    const peer = { host: "127.0.0.1", port: secondary.tlsPort, key: undefined, tls: { pin } };
    const question = { name: "far.example", type: types.soa, class: classes.in };
    const options = { signal: AbortSignal.timeout(patience), limit: patience, now: Date.now };
    for await (const { message } of askTcp(peer, { opcode: opcodes.notify, authoritative: true, question }, options)) {
      expect(message.rcode).toBe(rcodes.noError);
      break;
    }
    const answer = () => secondary.dig("+short", "new.far.example");
    await until(async () => (await answer()) === "192.0.2.8", { what: () => `the record: ${secondary.log()}` });
  });

  it("not from a server with another key, and says which key it has", async () => {
    const secondary = await secondaryOf(await startBind(), Buffer.alloc(32, 1).toString("base64"));
    await until(() => secondary.log().includes(`another key than the pinned one: sha256/${pin}`), {
      what: () => `the reason: ${secondary.log()}`,
    });
    expect(await secondary.dig("far.far.example")).toContain("SERVFAIL");
  });
});

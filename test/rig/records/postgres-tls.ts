import "reflect-metadata";
import { webcrypto, X509Certificate } from "node:crypto";
import { chown, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { ExtendedKeyUsage, ExtendedKeyUsageExtension, PemConverter, X509CertificateGenerator } from "@peculiar/x509";
import pg from "pg";
import { issueAuthority, issueServerCertificate, type Pair } from "../../../src/lib/tls/issue-certificate.ts";
import { startPostgres } from "../postgres.ts";
import { until } from "../until.ts";

/**
 * A server that only accepts TLS, as `localhost` and 127.0.0.1; it listens at 127.0.0.2 too. The user `visitor`
 * presents a certificate and needs no password.
 */
export type TlsPostgres = {
  readonly port: number;
  /** `OWN` is the certificate of its authority, `OTHER` that of another one, `CERT` and `KEY` are the visitor's. */
  readonly files: Readonly<Record<string, string>>;
  /** A session that was opened before the server required TLS. */
  readonly admin: pg.Client;
  /** Uses a certificate that expires in `days`, for new connections. */
  readonly showCertificate: (days: number) => Promise<void>;
  readonly turnTls: (to: "on" | "off") => Promise<void>;
  readonly stop: () => Promise<void>;
};

const day = 24 * 60 * 60 * 1000;
/** How long the certificates that moor issues are valid from now on. */
const usualDays = 396;

export async function startTlsPostgres(): Promise<TlsPostgres> {
  const server = await startPostgres(["listen_addresses=127.0.0.1,127.0.0.2"]);
  const admin = await server.connect();
  const folder = await mkdtemp(join(tmpdir(), "moor-authorities-"));
  const own = await issueAuthority(new Date(), undefined);
  const visitor = await makeClientCertificate("visitor");
  const texts = {
    OWN: own.cert,
    OTHER: (await issueAuthority(new Date(), undefined)).cert,
    CERT: visitor.cert,
    KEY: visitor.key,
  };
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text);
  const files = Object.fromEntries(Object.keys(texts).map((name) => [name, join(folder, name)]));
  const data = String((await admin.query("SHOW data_directory")).rows[0]?.data_directory);

  /** If the tests run as root, the server runs as another user, who must own its files. */
  const place = async (name: string, text: string): Promise<void> => {
    const { uid, gid } = await stat(data);
    await writeFile(join(data, name), text, { mode: 0o600 });
    await chown(join(data, name), uid, gid);
  };
  /** The server applies new settings with a delay; its certificate shows when it did. */
  const settle = async (wanted: string | undefined): Promise<void> => {
    await admin.query("SELECT pg_reload_conf()");
    const is = async () => (await fingerprintAt(server.url())) === wanted;
    await until(is, { what: () => "the new settings" });
  };
  let shown: string | undefined;
  const showCertificate = async (days: number): Promise<void> => {
    const issued = new Date(Date.now() + (days - usualDays) * day);
    const { cert, key } = await issueServerCertificate(own, ["localhost", "127.0.0.1"], issued);
    await place("server.crt", cert);
    await place("server.key", key);
    shown = new X509Certificate(cert).fingerprint256;
    await settle(shown);
  };
  const turnTls = async (to: "on" | "off"): Promise<void> => {
    await admin.query(`ALTER SYSTEM SET ssl = ${to}`);
    await settle(to === "on" ? shown : undefined);
  };

  const all = "hostssl all all 127.0.0.0/8 scram-sha-256\n";
  await place("pg_hba.conf", `hostssl all visitor 127.0.0.0/8 cert\n${all}`);
  await place("root.crt", visitor.cert);
  await admin.query("CREATE ROLE visitor LOGIN");
  await admin.query("ALTER SYSTEM SET ssl_ca_file = 'root.crt'");
  await admin.query("ALTER SYSTEM SET ssl = on");
  await showCertificate(usualDays);
  return {
    ...{ port: server.port, files, admin, showCertificate, turnTls },
    stop: async () => {
      await admin.end();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Self-signed: moor's authority issues server certificates only. */
async function makeClientCertificate(name: string): Promise<Pair> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...{ name: `CN=${name}`, keys, signingAlgorithm: algorithm },
    notAfter: new Date(Date.now() + day),
    extensions: [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth])],
  });
  const key = PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
  return { cert: certificate.toString("pem"), key };
}

async function fingerprintAt(url: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url, ssl: { rejectUnauthorized: false } });
  try {
    await client.connect();
    const { stream } = client.connection;
    return stream instanceof TLSSocket ? stream.getPeerX509Certificate()?.fingerprint256 : undefined;
  } catch {
    return undefined;
  } finally {
    await client.end();
  }
}

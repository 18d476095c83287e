import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ConnectionOptions } from "node:tls";
import type { ClientConfig } from "pg";
import { bracketed } from "../../core/addresses/address.ts";
import { fail, ok, type Result } from "../../core/result.ts";
import { readFileIfThere } from "../../process/data-folder.ts";
import type { SessionKind } from "./client.ts";
import { PasswordMissing } from "./faults.ts";
import { readHosts, splitHosts } from "./url-hosts.ts";

/** Which database, and how to connect to it. `shown` and `toType` contain no secret. */
export type PostgresAddress = {
  readonly config: ClientConfig;
  /** The other hosts, in this order. */
  readonly others: readonly ClientConfig[];
  readonly session: SessionKind;
  readonly shown: string;
  /** What to give to another command: `shown` with the parameters of the URL. */
  readonly toType: string;
};

export type PasswordSources = {
  /** Read at every connection, so that the password can be changed without a restart. */
  readonly passwordFile?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** `postgres://user@host:5432/database?sslmode=…`, with the parameters and defaults of other PostgreSQL clients. */
export function readPostgresUrl(text: string, sources: PasswordSources): Result<PostgresAddress> {
  const { single, listed } = splitHosts(text);
  const url = parsed(single);
  if (url === undefined) {
    return fault("is not a URL such as postgres://moor@db.example.org/moor");
  }
  const parts = decoded(url);
  if (parts === undefined) return fault("has a % that is not part of an escape: write %25");
  const unknown = [...url.searchParams.keys()].filter((key) => !parameters.has(key));
  if (unknown.length > 0) return fault(`has a parameter that moor does not know; remove it: ${unknown.join(", ")}`);
  const { env } = sources;
  const parameter = (name: string, variable: string) => url.searchParams.get(name) ?? env[variable];
  const hosts = readHosts({ url, listed, host: parts.host, env });
  if (!hosts.ok) return hosts;
  // moor writes: on a standby it would stay, although it cannot, when the primary is back.
  const usual = hosts.value.length > 1 ? "read-write" : "any";
  const session = parameter("target_session_attrs", "PGTARGETSESSIONATTRS") ?? usual;
  if (!isSessionKind(session)) {
    const where = url.searchParams.has("target_session_attrs") ? "--database" : "PGTARGETSESSIONATTRS";
    return fault(
      `accepts ${sessionKinds.map((kind) => `target_session_attrs=${kind}`).join(", ")}: moor writes`,
      where,
    );
  }
  const user = parts.user || env.PGUSER || env.USER || "postgres";
  const database = parts.database || env.PGDATABASE || user;
  const configs: ClientConfig[] = [];
  for (const { host, port } of hosts.value) {
    const ssl = readTls(host, url, env);
    if (!ssl.ok) return ssl;
    const options = parameter("options", "PGOPTIONS");
    configs.push({
      host,
      port,
      user,
      database,
      ssl: ssl.value,
      ...(options !== undefined && { options }),
      application_name: parameter("application_name", "PGAPPNAME") ?? "moor",
      password: passwordFor(parts.password, sources, { host, port, database, user }),
    });
  }
  const [config = {}, ...others] = configs;
  const shown = hosts.value.map(({ host, port }) => `${bracketed(host)}:${port}`).join(",");
  const address = `postgres://${user}@${shown}/${database}`;
  return ok({ config, others, session, shown: address, toType: `${address}${parametersToType(url)}` });
}

/** Hosts and ports are in front of the path already. */
function parametersToType({ searchParams }: URL): string {
  const kept = [...searchParams].filter(([name]) => name !== "host" && name !== "port");
  return kept.length === 0 ? "" : `?${kept.map(([name, value]) => `${name}=${encodeURI(value)}`).join("&")}`;
}

const sessionKinds = ["any", "read-write", "primary"] as const;
const isSessionKind = (text: string): text is SessionKind => (sessionKinds as readonly string[]).includes(text);

function readTls(host: string, url: URL, env: PasswordSources["env"]): Result<false | ConnectionOptions> {
  const parameter = (name: string, variable: string) => url.searchParams.get(name) ?? env[variable];
  const mode = parameter("sslmode", "PGSSLMODE") ?? defaultMode(host);
  if (!modes.has(mode) && !host.startsWith("/")) {
    return url.searchParams.has("sslmode")
      ? fault("accepts sslmode=disable, require, verify-ca or verify-full")
      : fault("must be disable, require, verify-ca or verify-full", "PGSSLMODE");
  }
  const file = (option: TlsFile["option"], name: string, variable: string): readonly TlsFile[] => {
    const path = parameter(name, variable);
    const where = url.searchParams.has(name) ? "--database" : variable;
    return path === undefined ? [] : [{ option, path, where }];
  };
  const [ca] = file("ca", "sslrootcert", "PGSSLROOTCERT");
  if (ca?.path === "system" && mode !== "verify-full") {
    return ca.where === "--database"
      ? fault("accepts sslrootcert=system only with sslmode=verify-full")
      : fault("can be system only with sslmode=verify-full", ca.where);
  }
  return tlsFor(mode, host, [
    // The authorities that Node comes with.
    ...(ca === undefined || ca.path === "system" ? [] : [ca]),
    ...file("cert", "sslcert", "PGSSLCERT"),
    ...file("key", "sslkey", "PGSSLKEY"),
  ]);
}

/** Whether the address carries a password. */
export const hasPassword = (text: string): boolean => (parsed(splitHosts(text).single)?.password ?? "") !== "";

const modes = new Set(["disable", "require", "verify-ca", "verify-full"]);
const parameters = new Set([
  ...["host", "port", "target_session_attrs", "sslmode", "sslrootcert", "sslcert", "sslkey"],
  ...["options", "application_name"],
]);

const fault = (message: string, where = "--database"): Result<never> => fail({ code: "bad-database", where, message });

/** A URL with a user and no host means a Unix socket; `URL` does not accept that. */
function parsed(text: string): URL | undefined {
  const url = URL.parse(text) ?? URL.parse(text.replace(/^(\w+:\/\/[^/?#]*@)(?=\/)/, "$1localhost"));
  return url !== null && /^postgres(?:ql)?:$/.test(url.protocol) ? url : undefined;
}

function decoded(url: URL) {
  try {
    return {
      host: decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, "$1"),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      database: decodeURIComponent(url.pathname.slice(1)),
    };
  } catch {
    return undefined;
  }
}

/** Over a network, TLS with full verification is the default; anything weaker must be configured. */
const defaultMode = (host: string): string =>
  host.startsWith("/") || /^(?:localhost|127(?:\.\d+){3}|::1)$/.test(host) ? "disable" : "verify-full";

/** `where`: what names the file, for messages. */
type TlsFile = { readonly option: "ca" | "cert" | "key"; readonly path: string; readonly where: string };

/** https://www.postgresql.org/docs/current/libpq-ssl.html: with a root certificate, `require` checks it too. */
function tlsFor(mode: string, host: string, files: readonly TlsFile[]): Result<false | ConnectionOptions> {
  if (mode === "disable" || host.startsWith("/")) return ok(false);
  const read: ConnectionOptions = {};
  for (const { option, path, where } of files) {
    try {
      read[option] = readFileSync(path, "utf8");
    } catch (error) {
      return fault(`names a file that cannot be read: ${(error as Error).message}`, where);
    }
    // Node ignores an empty file, and would trust its built-in authorities instead.
    if (option === "ca" && !isCertificate(read.ca)) return fault(`names ${path}, which contains no certificate`, where);
  }
  const checked = mode !== "require" || read.ca !== undefined;
  const anyName = mode === "verify-full" ? {} : { checkServerIdentity: () => undefined };
  return ok({ ...read, rejectUnauthorized: checked, ...anyName });
}

function isCertificate(text: ConnectionOptions["ca"]): boolean {
  try {
    return new X509Certificate(String(text)).subject !== undefined;
  } catch {
    return false;
  }
}

function passwordFor(
  inUrl: string,
  { passwordFile, env }: PasswordSources,
  key: Parameters<typeof passwordFromPassfile>[1],
): () => Promise<string> {
  return async () => {
    const password =
      passwordFile === undefined
        ? inUrl || env.PGPASSWORD || (await passwordFromPassfile(env, key))
        : await passwordInFile(passwordFile);
    if (password) return password;
    throw new PasswordMissing(
      passwordFile === undefined
        ? "it asks for a password, and none is configured; give it in --database-password-file, in PGPASSWORD or in a passfile"
        : `it asks for a password, and the file ${passwordFile} is empty; write the password to it`,
    );
  };
}

async function passwordInFile(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).replace(/\r?\n$/, "");
  } catch (error) {
    throw new PasswordMissing(
      `it asks for a password, and the password file cannot be read: ${(error as Error).message}`,
    );
  }
}

type PassfileKey = {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
};

/** https://www.postgresql.org/docs/current/libpq-pgpass.html: the first line that fits. */
export function passwordIn(text: string, { host, port, database, user }: PassfileKey): string | undefined {
  const wanted = [host, String(port), database, user];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("#")) continue;
    const fields = line.match(/(?:\\.|[^:\\])*(?::|$)/g)?.map((field) => field.replace(/:$/, "")) ?? [];
    const [password] = fields.slice(4);
    const fits = wanted.every((value, i) => fields[i] === "*" || unescaped(fields[i] ?? "") === value);
    if (fits && password) return unescaped(password);
  }
  return undefined;
}

const unescaped = (field: string): string => field.replace(/\\(.)/g, "$1");

async function passwordFromPassfile(
  env: Readonly<Record<string, string | undefined>>,
  key: PassfileKey,
): Promise<string | undefined> {
  const path = env.PGPASSFILE ?? join(env.HOME ?? homedir(), ".pgpass");
  const text = await readFileIfThere(path);
  return text === undefined ? undefined : passwordIn(text, key);
}

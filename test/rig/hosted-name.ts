import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { administer, startMoor } from "./moor.ts";
import type { Namespace } from "./namespace.ts";
import { secretIn } from "./services.ts";
import type { Ended } from "./started-process.ts";

/**
 * A record service at the host name and port that v1 clients have built in, with a certificate of moor's private
 * authority. `/etc/hosts` resolves that name only for the programs that are run here.
 */
export type HostedName = {
  readonly caFile: string;
  readonly token: string;
  run(command: readonly [string, ...string[]], env?: Readonly<Record<string, string>>): Promise<Ended>;
  /** The v1 API, called with curl. */
  ask(method: string, path: string, body?: unknown): Promise<HostedAnswer>;
};

export type HostedAnswer = { readonly zone?: { readonly id: string }; readonly records?: readonly HostedRecord[] };
export type HostedRecord = {
  readonly name: string;
  readonly type: string;
  readonly value: string;
  readonly ttl?: number;
};

export const builtInName = "dns.hetzner.com";

/** Also resolves to the service, for clients that query the nameservers of a zone directly. */
export const nameserver = "ns1.example.org";

export async function hostName(inside: Namespace, folder: string): Promise<HostedName> {
  const [data, tokenFile, hosts] = [join(folder, "data"), join(folder, "token"), join(folder, "hosts")];
  writeFileSync(hosts, `127.0.0.1 localhost ${builtInName} ${nameserver}\n`);
  await administer(["token", "add", "--new", "--data", data, "--to", tokenFile]);
  const listen = ["--listen", "127.0.0.1:443", "--name", builtInName, "--dns", "127.0.0.1:53"];
  const service = startMoor(inside, ["records", "--data", data, ...listen]);
  await service.says(/ listens on https:.*\n/);
  const [caFile, token] = [join(data, "ca.pem"), secretIn(tokenFile)];

  const mounted = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', hosts] as const;
  const run: HostedName["run"] = (command, env = {}) => inside.run([...mounted, ...command], { cwd: folder, env });
  return {
    caFile,
    token,
    run,
    async ask(method, path, body) {
      const sent = body === undefined ? [] : ["-d", JSON.stringify(body)];
      const url = `https://${builtInName}/api/v1${path}`;
      const header = ["-H", `Auth-API-Token: ${token}`];
      const { out, err } = await run(["curl", "-sS", "--cacert", caFile, ...header, "-X", method, ...sent, url]);
      if (out === "") throw new Error(`${method} ${path}: ${err}`);
      return JSON.parse(out) as HostedAnswer;
    },
  };
}

export const authorityUrl = "https://127.0.0.1:14000/dir";

/** Pebble, Let's Encrypt's test authority for clients, beside a hosted name: it asks the nameserver of that service. */
export async function startAuthority(inside: Namespace, folder: string): Promise<void> {
  const pebble = {
    listenAddress: "127.0.0.1:14000",
    managementListenAddress: "127.0.0.1:15000",
    certificate: join(folder, "data", "server.pem"),
    privateKey: join(folder, "data", "server.key"),
  };
  const config = join(folder, "pebble.json");
  writeFileSync(config, JSON.stringify({ pebble }));
  const env = { PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "0" };
  const process = inside.start(["pebble", "-config", config, "-dnsserver", "127.0.0.1:53"], { env });
  await process.says(/ACME directory available/);
}

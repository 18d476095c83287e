import { mkdtemp, readFile } from "node:fs/promises";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NewApiKey } from "../../src/firewall/access/keys.ts";
import type { Privilege } from "../../src/firewall/access/privileges.ts";
import { type AccessStore, keysFile, openAccess } from "../../src/firewall/access/store.ts";
import { type FirewallOptions, type RunningFirewall, startFirewall } from "../../src/firewall/start.ts";
import { createLog } from "../../src/process/log.ts";
import { cheapPasswords } from "../rig/cheap-passwords.ts";

/**
 * A firewall service on a free port, a second handle on its users and keys, and a client with persistent connections.
 */
export type Rig = {
  readonly service: RunningFirewall;
  readonly access: AccessStore;
  readonly logged: string[];
  readonly key: (name: string, privileges: readonly Privilege[]) => NewApiKey;
  readonly ask: (path: string, asking?: Asking) => Promise<Got>;
  /** The response as soon as its headers have arrived. */
  readonly open: (path: string, asking?: Asking) => Promise<IncomingMessage>;
  readonly ca: Buffer;
  readonly close: () => Promise<void>;
};

export type Asking = {
  readonly key?: { readonly key: string; readonly secret: string };
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type Got = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly ms: number;
};

export async function openRig(more: Partial<FirewallOptions> = {}): Promise<Rig> {
  const dataFolder = await mkdtemp(join(tmpdir(), "moor-firewall-rig-"));
  const logged: string[] = [];
  const log = createLog({ format: "json", write: (line) => logged.push(line) });
  const passwordCost = cheapPasswords;
  const listen = { host: "127.0.0.1", port: 0 };
  const service = await startFirewall({ dataFolder, listen, log, passwordCost, ...more });
  const access = openAccess(keysFile(dataFolder), passwordCost);
  const ca = await readFile(service.caFile ?? "");
  const agent = new Agent({ keepAlive: true, ca, maxSockets: 200 });

  const open: Rig["open"] = (path, { key, method = "GET", headers = {}, body } = {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { host, port } = service.address;
    const auth = key === undefined ? {} : { auth: `${key.key}:${key.secret}` };
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const asked = request({ host, port, path, method, agent, ...auth, headers: { ...length, ...headers } }, resolve);
    // The service may close a persistent connection at the moment when it is reused.
    const isClosed = () => method === "GET" && asked.reusedSocket;
    asked.once("error", (error) =>
      isClosed() ? resolve(open(path, { ...(key && { key }), headers })) : reject(error),
    );
    asked.end(body);
    return promise;
  };

  return {
    ...{ service, access, logged, open, ca },
    key: (name, privileges) => access.keys.add({ name, privileges, now: new Date() }),
    ask: async (path, asking) => {
      const before = performance.now();
      const response = await open(path, asking);
      let body = "";
      for await (const chunk of response.setEncoding("utf8")) body += String(chunk);
      return { status: response.statusCode ?? 0, headers: response.headers, body, ms: performance.now() - before };
    },
    close: async () => {
      agent.destroy();
      access.close();
      await service.close();
    },
  };
}

import { readFile, writeFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { connect as connectPlain, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { builtProgram } from "../rig/bundle.ts";
import { freePort } from "../rig/free-port.ts";
import { administer } from "../rig/moor.ts";
import { node } from "../rig/namespace.ts";
import { patience } from "../rig/patience.ts";
import { type StartedProcess, startProcess } from "../rig/started-process.ts";
import type { Request } from "./invented-requests.ts";

/** A service in a separate process, and how to call it. */
export type StartedService = {
  readonly process: StartedProcess;
  /** Headers with valid credentials. */
  readonly secret: Readonly<Record<string, string>>;
  /** Times out after a few seconds. `agent` keeps the connection for the next request. */
  readonly ask: (request: Request, agent: Agent) => Promise<{ readonly status: number; readonly body: string }>;
  readonly newAgent: () => Agent;
  readonly connect: () => Socket;
};

export type Agent = http.Agent;

const moor = (...words: readonly string[]) => startProcess([node, builtProgram(), ...words], {});

const serviceOf = (
  process: StartedProcess,
  port: number,
  secret: StartedService["secret"],
  ca?: Buffer,
): StartedService => {
  const newAgent = () =>
    ca ? new https.Agent({ keepAlive: true, maxSockets: 1, ca }) : new http.Agent({ keepAlive: true, maxSockets: 1 });
  return {
    process,
    secret,
    newAgent,
    connect: () => (ca ? connectTls({ port, host: "127.0.0.1", ca }) : connectPlain(port, "127.0.0.1")),
    ask: ({ method, path, headers, body = "" }, agent) =>
      new Promise((resolve, reject) => {
        const { request } = ca ? https : http;
        const length = body === "" ? {} : { "content-length": Buffer.byteLength(body) };
        const all = { ...secret, ...headers, ...length };
        const asked = request({ agent, port, host: "127.0.0.1", method, path, headers: all, timeout: patience });
        asked.on("timeout", () => asked.destroy(new Error("no answer")));
        asked.on("error", (error) => reject(new Error(`${method} ${path}: ${error.message}`, { cause: error })));
        asked.on("response", (answer) => {
          // An event stream does not end.
          if (answer.headers["content-type"]?.startsWith("text/event-stream")) answer.destroy();
          const status = answer.statusCode ?? 0;
          text(answer).then(
            (said) => resolve({ status, body: said }),
            () => resolve({ status, body: "" }),
          );
        });
        asked.end(body);
      }),
  };
};

/** The record service, the firewall service and the updater, each started as an operator would. */
export async function startEachService(
  folder: string,
): Promise<Record<"records" | "firewall" | "updater", StartedService>> {
  const file = (name: string) => join(folder, name);
  const [recordsAt, firewallAt, updaterAt] = [await freePort(), await freePort(), await freePort()];
  await administer(["token", "add", "--new", "--data", folder, "--to", file("token")]);
  await administer(["key", "add", "--new", "--data", folder, "--to", file("key")]);
  const records = moor("records", "--plain-http", "--data", folder, "--listen", `127.0.0.1:${recordsAt}`);
  await records.says(/ listens on http:.*\n/);
  const firewall = moor("firewall", "--data", folder, "--listen", `127.0.0.1:${firewallAt}`);
  await firewall.says(/ listens on https:.*\n/);
  await writeFile(file("control-token"), "for-nobody\n", { mode: 0o600 });
  await writeFile(
    file("moor.yaml"),
    `sources: { home: { url: "https://127.0.0.1:${firewallAt}", keyFile: key, ca: ca.pem } }
targets: { dns: { url: "http://127.0.0.1:${recordsAt}", token: { file: token } } }
names: [{ name: home, zone: hostile.example, ipv4: lo }]
control: { listen: "127.0.0.1:${updaterAt}", token: { file: control-token } }
`,
  );
  const updater = moor("update", "--config", file("moor.yaml"));
  const ca = await readFile(file("ca.pem"));
  const token = (await readFile(file("token"), "utf8")).trim();
  const [, key, secret] = /^key=(.*)\nsecret=(.*)$/m.exec(await readFile(file("key"), "utf8")) ?? [];
  const basic = Buffer.from(`${key}:${secret}`).toString("base64");
  return {
    records: serviceOf(records, recordsAt, { "auth-api-token": token, authorization: `Bearer ${token}` }),
    firewall: serviceOf(firewall, firewallAt, { authorization: `Basic ${basic}` }, ca),
    updater: serviceOf(updater, updaterAt, { authorization: "Bearer for-nobody" }),
  };
}

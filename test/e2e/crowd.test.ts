import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:https";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askOverTcp } from "../nameserver/ask-over-tcp.ts";
import { builtProgram } from "../rig/bundle.ts";
import { freePort } from "../rig/free-port.ts";
import { node } from "../rig/namespace.ts";
import { type StartedProcess, startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";

const files = 128;
let folder: string;
let service: StartedProcess;
let ports: { readonly https: number; readonly dns: number; readonly metrics: number };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-crowd-"));
  ports = { https: await freePort(), dns: await freePort(), metrics: await freePort() };
  const at = (port: number) => `127.0.0.1:${port}`;
  const words = ["--listen", at(ports.https), "--dns", at(ports.dns), "--metrics", at(ports.metrics)];
  const moor = [node, builtProgram(), "records", "--data", folder, ...words];
  service = startProcess(["sh", "-c", `ulimit -n ${files} && exec "$@"`, "sh", ...moor], { cwd: folder });
  await service.says(/Metrics and health are at/);
});
afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Idle connections, from `clients` addresses. */
function openCrowd(count: number, clients: number): readonly Socket[] {
  return Array.from({ length: count }, (_, i) => {
    const localAddress = `127.0.1.${1 + (i % clients)}`;
    const socket = connect({ port: ports.https, host: "127.0.0.1", localAddress }).on("error", () => undefined);
    return socket.resume();
  });
}

const isClosed = (socket: Socket): boolean => socket.destroyed || socket.readableEnded;

const askLive = (): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const url = `https://127.0.0.1:${ports.https}/health/live`;
    get(url, { ca: readFileSync(join(folder, "ca.pem")), agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).on("error", reject);
  });

describe("more connections to the record service than it may open files", () => {
  it("do not affect its health and DNS over TCP, are logged, and are closed if idle", async () => {
    expect(await askLive()).toBe(200);
    const crowd = openCrowd(2 * files, 16);
    await service.says(/too many connections are open/);
    expect((await fetch(`http://127.0.0.1:${ports.metrics}/health/ready`)).status).toBe(200);
    expect(await askOverTcp(ports.dns, [{ name: "none.example.", type: 1 }])).toHaveLength(1);
    await until(() => crowd.every(isClosed), { what: () => "the idle connections are not closed" });
    expect(await askLive()).toBe(200);
    expect(service.err().match(/too many connections are open/g)).toHaveLength(1);
  });

  it("do not affect other clients if they are those of one client, which the log names once", async () => {
    const crowd = openCrowd(files / 2, 1);
    await service.says(/one client has too many connections open.*client=127\.0\.1\.1/);
    expect(await askLive()).toBe(200);
    for (const socket of crowd) socket.destroy();
    expect(service.err().match(/one client has too many connections open/g)).toHaveLength(1);
  });
});

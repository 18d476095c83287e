import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureCertificate } from "../../src/lib/tls/certificates.ts";
import { freePort } from "./free-port.ts";
import { environment } from "./namespace.ts";
import { type StartedProcess, startProcess } from "./started-process.ts";

/** Let's Encrypt's test authority, which forgets everything when it stops. */
export type Pebble = {
  readonly directory: string;
  /** PEM: what signed the certificate of its own server. */
  readonly trust: string;
  /** Where it asks DNS questions. */
  readonly dnsPort: number;
  /** The port that it uses instead of 80. */
  readonly httpPort: number;
  /** PEM: the root of the certificates that it issues now. */
  readonly root: () => Promise<string>;
  /** How many orders it was sent since it started. */
  readonly orders: () => number;
  /** How many of them it gave up, because a check failed or took too long. */
  readonly ordersGivenUp: () => number;
  readonly start: (env?: Readonly<Record<string, string>>) => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export async function startPebble(): Promise<Pebble> {
  const folder = await mkdtemp(join(tmpdir(), "moor-pebble-"));
  const { ca } = await ensureCertificate(folder, [], new Date());
  const [port, management, dnsPort, httpPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const config = join(folder, "pebble.json");
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: join(folder, "server.pem"),
    privateKey: join(folder, "server.key"),
    httpPort,
    domainBlocklist: ["blocked.net"],
  };
  writeFileSync(config, JSON.stringify({ pebble }));
  let running: StartedProcess;
  const start: Pebble["start"] = async (env = { PEBBLE_VA_NOSLEEP: "1" }) => {
    running = startProcess(["pebble", "-config", config, "-dnsserver", `127.0.0.1:${dnsPort}`], {
      env: { ...environment, PEBBLE_AUTHZREUSE: "0", PEBBLE_WFE_NONCEREJECT: "30", ...env },
    });
    await running.says(/ACME directory available/);
  };
  const stop = async () => void (await running.stop("SIGKILL"));
  await start();
  return {
    directory: `https://127.0.0.1:${port}/dir`,
    ...{ trust: ca, dnsPort, httpPort, start, stop },
    orders: () => [...running.out().matchAll(/There are now (\d+) orders/g)].length,
    ordersGivenUp: () => [...running.out().matchAll(/order \S+ set INVALID/g)].length,
    root: async () => {
      const { Agent, request } = await import("undici");
      const dispatcher = new Agent({ connect: { ca } });
      try {
        const { body } = await request(`https://127.0.0.1:${management}/roots/0`, { dispatcher });
        return await body.text();
      } finally {
        await dispatcher.close();
      }
    },
    close: async () => {
      await stop();
      await rm(folder, { recursive: true });
    },
  };
}

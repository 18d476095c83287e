import { readFileSync } from "node:fs";
import { join } from "node:path";
import { administer, startMoor } from "./moor.ts";
import type { Namespace } from "./namespace.ts";
import type { StartedProcess } from "./started-process.ts";

/** A record service and a firewall service, as two processes on one data folder. */
export type Services = {
  readonly data: string;
  readonly caFile: string;
  readonly tokenFile: string;
  readonly keyFile: string;
  readonly records: Service;
  readonly firewall: Service;
};

export type Service = { readonly url: string; readonly process: StartedProcess };

const usualPorts = { records: 8053, firewall: 8443 } as const;

export async function startServices(
  inside: Namespace,
  folder: string,
  ports: { readonly records: number; readonly firewall: number } = usualPorts,
): Promise<Services> {
  const data = join(folder, "data");
  const [tokenFile, keyFile] = [join(folder, "token"), join(folder, "key")];
  await administer(["token", "add", "--new", "--data", data, "--to", tokenFile]);
  await administer(["key", "add", "--new", "--data", data, "--to", keyFile]);
  // One after the other, because each creates the certificates that are missing.
  const records = await startService(inside, "records", data, `127.0.0.1:${ports.records}`);
  const firewall = await startService(inside, "firewall", data, `127.0.0.1:${ports.firewall}`);
  return { data, caFile: join(data, "ca.pem"), tokenFile, keyFile, records, firewall };
}

export async function startService(
  inside: Namespace,
  verb: "records" | "firewall",
  data: string,
  listen: string,
): Promise<Service> {
  const process = startMoor(inside, [verb, "--data", data, "--listen", listen]);
  // It may start at the same time as a dozen others.
  await process.says(/ listens on https:.*\n/);
  return { url: `https://${listen}`, process };
}

export const secretIn = (file: string): string => readFileSync(file, "utf8").trim();

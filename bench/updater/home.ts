import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificate } from "../../test/rig/updater/certificates.ts";
import { recordService, startServer, type TestRecord, wanWith } from "../../test/rig/updater/services.ts";
import { type Usage, usageOfIdle } from "../process-usage.ts";

export const repository = join(import.meta.dirname, "../..");

/** A firewall and a record service over HTTPS, and a folder with the config of an updater between them. */
export async function openHome() {
  const folder = mkdtempSync(join(tmpdir(), "moor-bench-updater-"));
  const certificate = makeCertificate("IP:127.0.0.1");
  const records: TestRecord[] = ["A", "AAAA"].map((type) => ({
    id: type,
    type,
    name: "home",
    value: "",
    zone_id: "z1",
  }));
  const firewall = await startServer(
    ({ path }) =>
      path.includes("getinterfaceconfig") ? { body: { wan0: wanWith(["9.9.9.9"], ["2a00::9"]) } } : { status: 404 },
    certificate,
  );
  const service = await startServer(recordService(records), certificate);
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 });
  write("key", "key=thekey\nsecret=thesecret\n");
  write("token", "t0ken\n");
  write("ca.pem", certificate.ca);
  write(
    "moor.yaml",
    `sources: { home: { url: "${firewall.url}", keyFile: key, ca: ca.pem } }
targets: { dns: { url: "${service.url}", token: { file: token }, ca: ca.pem } }
names: [{ name: home, zone: example.org, ipv4: wan0, ipv6: wan0 }]
`,
  );
  const close = async () => {
    await Promise.all([firewall.close(), service.close()]);
    rmSync(folder, { recursive: true });
  };
  return { folder, firewall: firewall.url, close };
}

/** The memory after some milliseconds of watching. */
export const usageWatching = (command: readonly string[], folder: string, after: number): Promise<Usage> =>
  usageOfIdle([...command, "update", "--config", join(folder, "moor.yaml")], after, repository);

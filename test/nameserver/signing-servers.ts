import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../rig/free-port.ts";
import { type UnboundSettings, unboundConfig } from "../rig/rehearsal/unbound.ts";
import { type StartedProcess, startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";
import { askOverTcp } from "./ask-over-tcp.ts";
import { run } from "./moor-dns.ts";

/**
 * How a zone proves that names do not exist. Opt-out comes with a salt and iterations, so that hashing is tested too.
 */
export type Chain = "nsec" | "nsec3" | "optout";

export type ZoneToSign = { readonly name: string; readonly chain: Chain; readonly text: string };

/** A real server with signed zones that everyone can transfer. */
export type Signer = {
  readonly name: "BIND" | "Knot";
  readonly port: number;
  readonly zones: readonly ZoneToSign[];
  /** Where its keys are. */
  readonly folder: string;
  readonly close: () => Promise<void>;
};

/** The zones are signed once, by dnssec-signzone. */
export async function startBindSigner(zones: readonly ZoneToSign[]): Promise<Signer> {
  const folder = await mkdtemp(join(tmpdir(), "moor-signer-"));
  await Promise.all(zones.map((zone) => signWithBind(folder, zone)));
  const port = await freePort();
  const config = join(folder, "named.conf");
  await writeFile(
    config,
    `options {
  directory "${folder}"; pid-file none; session-keyfile none; notify no;
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; minimal-responses no-auth; allow-transfer { any; };
  tcp-initial-timeout 1200; tcp-idle-timeout 1200; zero-no-soa-ttl no; check-names primary ignore; check-integrity no;
};
controls { };
${zones.map(({ name }) => `zone "${name}" { type primary; file "${name}/signed"; };`).join("\n")}
`,
  );
  const child = startProcess(["/usr/sbin/named", "-g", "-n", "1", "-c", config], {});
  return await whenReady({ name: "BIND", port, zones, folder, child });
}

const bindOptions: Readonly<Record<Chain, readonly string[]>> = {
  nsec: [],
  nsec3: ["-3", "-", "-H", "0"],
  optout: ["-3", "ab12", "-H", "3", "-A"],
};

async function signWithBind(folder: string, { name, chain, text }: ZoneToSign): Promise<void> {
  const own = join(folder, name);
  await mkdir(own);
  await writeFile(join(own, "zone"), text);
  const key = await run("dnssec-keygen", ["-q", "-a", "ECDSAP256SHA256", "-f", "KSK", "-K", own, name]);
  const said = await run("dnssec-signzone", [
    ...["-S", "-z", "-q", "-K", own, "-d", own, "-o", name, "-f", join(own, "signed"), ...bindOptions[chain]],
    join(own, "zone"),
  ]);
  if (!(await readdir(own)).includes("signed")) throw new Error(`${name} could not be signed: ${key}\n${said}`);
}

/** It signs automatically, and again at every change that `nsupdate` makes; then it notifies the server at `notify`. */
export async function startKnotSigner(zones: readonly ZoneToSign[], notify: number): Promise<Signer> {
  const folder = await mkdtemp(join(tmpdir(), "moor-signer-"));
  for (const { name, text } of zones) await writeFile(join(folder, `${name}.zone`), text);
  const port = await freePort();
  const config = join(folder, "knot.conf");
  const policy = (id: Chain, more: string) =>
    `  - id: ${id}\n    single-type-signing: on\n    algorithm: ecdsap256sha256\n${more}`;
  const nsec3 = (iterations: number, salt: number) =>
    `    nsec3: on\n    nsec3-iterations: ${iterations}\n    nsec3-salt-length: ${salt}\n`;
  await writeFile(
    config,
    `server:
    listen: 127.0.0.1@${port}
    rundir: "${folder}"
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
    tcp-idle-timeout: 600
    tcp-io-timeout: 0
database:
    storage: "${folder}"
log:
  - target: stderr
    any: info
remote:
  - id: moor
    address: 127.0.0.1@${notify}
acl:
  - id: everyone
    address: 127.0.0.1
    action: [transfer, update]
policy:
${policy("nsec", "")}${policy("nsec3", nsec3(0, 0))}${policy("optout", `${nsec3(3, 4)}    nsec3-opt-out: on\n`)}
template:
  - id: default
    storage: "${folder}"
    file: "%s.zone"
    zonefile-sync: -1
    zonefile-load: difference-no-serial
    journal-content: all
    semantic-checks: off
    dnssec-signing: on
    notify: moor
    acl: everyone
zone:
${zones.map(({ name, chain }) => `  - domain: ${name}\n    dnssec-policy: ${chain}\n`).join("")}`,
  );
  const child = startProcess(["/usr/sbin/knotd", "-c", config], {});
  return await whenReady({ name: "Knot", port, zones, folder, child });
}

/**
 * Answers are cached for this many seconds only, so all are validated; over TCP, which survives pauses of this machine.
 */
export const cachedFor = (seconds: number): readonly string[] => [
  `cache-max-ttl: ${seconds}`,
  `cache-max-negative-ttl: ${seconds}`,
  "tcp-upstream: yes",
];

/** A validating resolver that trusts the keys of these zones and queries only `server` for them. */
export async function startUnbound(
  zones: readonly { readonly name: string; readonly keys: readonly string[] }[],
  server: number,
  more: readonly string[] = [],
): ReturnType<typeof startUnboundWith> {
  return await startUnboundWith({
    anchors: zones.flatMap(({ keys }) => keys),
    stubs: zones.map(({ name }) => ({ name, servers: [server] })),
    // From its cache of proofs, it would answer DS queries even in the second after a record has expired.
    more: ["aggressive-nsec: no", "neg-cache-size: 0", ...more],
  });
}

/** Its `folder` has the control socket. */
export async function startUnboundWith(settings: Pick<UnboundSettings, "anchors" | "stubs" | "more">) {
  const folder = await mkdtemp(join(tmpdir(), "moor-unbound-"));
  const port = await freePort();
  const config = join(folder, "unbound.conf");
  // On a busy machine, a server that answers late is not down.
  const patient = ["tcp-idle-timeout: 60000", "infra-keep-probing: yes", "outbound-msg-retry: 32"];
  const more = ["val-log-level: 2", ...patient, ...settings.more];
  await writeFile(config, unboundConfig({ ...settings, folder, port, more }));
  const child = startProcess(["/usr/sbin/unbound", "-d", "-p", "-c", config], {});
  await child.says(/start of service/);
  return { port, folder, said: child.err, close: () => end(child, folder) };
}

type Started = Omit<Signer, "close"> & { readonly child: StartedProcess };

/** Ready when each zone has an SOA record with a signature. */
async function whenReady({ child, ...signer }: Started): Promise<Signer> {
  const close = () => end(child, signer.folder);
  const questions = signer.zones.map(({ name }) => ({ name, type: 6, dnssecOk: true }));
  const isSigned = async () => {
    const replies = await askOverTcp(signer.port, questions).catch(() => []);
    return replies.length > 0 && replies.every(({ answers }) => answers.some(({ type }) => type === 46));
  };
  try {
    await until(isSigned, { every: 50, what: () => `${signer.name} to sign its zones:\n${child.out()}${child.err()}` });
  } catch (error) {
    await close();
    throw error;
  }
  return { ...signer, close };
}

async function end(child: StartedProcess, folder: string): Promise<void> {
  await child.stop();
  await rm(folder, { recursive: true, force: true });
}

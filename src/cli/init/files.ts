import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { giveToOwnerOf } from "../../process/data-folder.ts";
import type { HttpTrust } from "../../updater/http/endpoint.ts";

/** What to trust: the system's authorities, one certificate, or one authority. */
export type ShownTrust = Exclude<HttpTrust, { readonly kind: "insecure" }>;

/** Everything that `moor init` asked for. */
export type Setup = {
  readonly firewall: {
    readonly url: string;
    readonly trust: ShownTrust;
    readonly key: string;
    readonly secret: string;
  };
  readonly records: {
    readonly url: string;
    readonly trust: ShownTrust;
    readonly api: string;
    readonly token: string;
  };
  readonly zone: string;
  readonly name: string;
  readonly ipv4?: string;
  readonly ipv6?: string;
  /** Where the updating client listens on this machine, and its token. */
  readonly control?: { readonly listen: string; readonly token: string };
};

export type SetupFile = { readonly path: string; readonly text: string };

/** The config of `packaging/systemd/moor-update.service`, which may write to this folder only. */
export const serviceConfig = "/etc/moor/moor.yaml";
const serviceState = "/var/lib/moor";

/** The config and its secrets, by paths relative to the config's folder. */
export function setupFiles(setup: Setup, config: string): readonly SetupFile[] {
  const { firewall, records, control } = setup;
  return [
    { path: "secrets/firewall-key.txt", text: `key=${firewall.key}\nsecret=${firewall.secret}\n` },
    { path: "secrets/records-token", text: `${records.token}\n` },
    ...authorityFile("firewall", firewall.trust),
    ...authorityFile("records", records.trust),
    ...(control ? [{ path: "secrets/control-token", text: `${control.token}\n` }] : []),
    { path: basename(config), text: printConfig(setup, config === serviceConfig ? serviceState : undefined) },
  ];
}

const authorityFile = (which: string, trust: ShownTrust): readonly SetupFile[] =>
  trust.kind === "ca" ? [{ path: `secrets/${which}-ca.pem`, text: trust.pem }] : [];

function printTrust(which: string, trust: ShownTrust): string {
  if (trust.kind === "ca") return `    ca: secrets/${which}-ca.pem\n`;
  return trust.kind === "fingerprint" ? `    fingerprint: "${trust.sha256}"\n` : "";
}

function printConfig(setup: Setup, stateFolder: string | undefined): string {
  const { firewall, records, zone, name, ipv4, ipv6, control } = setup;
  const state = stateFolder ? `state: ${stateFolder}/state.json\nhistory: ${stateFolder}/history.jsonl\n` : "";

  const family = (key: string, device: string | undefined) => (device ? `    ${key}: ${JSON.stringify(device)}\n` : "");
  return `# Written by \`moor init\`. moor.sample.yaml and docs/config.md describe all settings.
interval: 30s
# Publish only addresses that can be reached from the internet.
public: require
# Limits the writes when the connection is unstable.
changesPerHour: 30
${state}sources:
  firewall:
    url: ${JSON.stringify(firewall.url)}
${printTrust("firewall", firewall.trust)}    keyFile: secrets/firewall-key.txt
targets:
  records:
    url: ${JSON.stringify(records.url)}
    api: ${records.api}
${printTrust("records", records.trust)}    token: { file: secrets/records-token }
names:
  - name: ${JSON.stringify(name)}
    zone: ${JSON.stringify(zone)}
${family("ipv4", ipv4)}${family("ipv6", ipv6)}${control ? printControl(control.listen) : ""}`;
}

const printControl = (
  listen: string,
): string => `# Only on this machine: the page, /status, /metrics, /health, and POST /check with the token.
control: { listen: ${JSON.stringify(listen)}, token: { file: secrets/control-token } }
`;

/** Written to a temporary folder first, so that a round can be tried before anything is final. */
export async function writeDraft(folder: string, files: readonly SetupFile[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  const draft = await mkdtemp(join(folder, ".moor-init-"));
  await chmod(draft, 0o700);
  for (const { path, text } of files) {
    const file = join(draft, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, text, { mode: 0o600 });
  }
  return draft;
}

/**
 * Puts each file in its place; the config last, so that it never refers to a missing secret. In a folder of another user, what root
 * writes is that user's, so that a service of that user can read it.
 */
export async function adoptDraft(draft: string, folder: string, files: readonly SetupFile[]): Promise<void> {
  for (const { path } of files) {
    const file = join(folder, path);
    const made = await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    if (made !== undefined) await giveToOwnerOf(folder, made);
    await giveToOwnerOf(folder, join(draft, path));
    await rename(join(draft, path), file);
  }
}

/** Those that would be overwritten. */
export const inTheWay = (folder: string, files: readonly SetupFile[]): readonly string[] =>
  files.map(({ path }) => join(folder, path)).filter((file) => existsSync(file));

export const shownPath = (cwd: string, path: string): string => relative(cwd, path) || ".";

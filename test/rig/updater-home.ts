import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A folder with a config for `moor update`, and the state that it leaves there. */
export type UpdaterHome = {
  readonly config: string;
  readonly stateFile: string;
  /** Type to address, from the state file on disk. */
  stored(): Readonly<Record<string, string>>;
};

export type UpdaterSettings = {
  readonly firewall: string;
  readonly records: string;
  readonly caFile: string;
  readonly keyFile: string;
  readonly tokenFile: string;
  readonly zone: string;
  readonly name: string;
  readonly device: string;
};

export function makeUpdaterHome(folder: string, settings: UpdaterSettings): UpdaterHome {
  mkdirSync(folder, { recursive: true });
  const config = join(folder, "moor.yaml");
  const stateFile = join(folder, "moor-state.json");
  const { records, tokenFile, caFile } = settings;
  // A write that timed out may have been done, and is sent again: on a slow machine there would be two.
  const target = `api: v1, url: "${records}", token: { file: "${tokenFile}" }, ca: "${caFile}", timeout: 60s`;
  writeFileSync(
    config,
    `interval: 1s
sources:
  wall: { url: "${settings.firewall}", keyFile: "${settings.keyFile}", ca: "${caFile}" }
targets:
  dns: { ${target} }
names:
  - { name: ${settings.name}, zone: ${settings.zone}, ipv4: ${settings.device}, ipv6: ${settings.device} }
`,
  );
  return { config, stateFile, stored: () => storedIn(stateFile) };
}

/** Type to address, from the state file on disk. */
export function storedIn(path: string): Readonly<Record<string, string>> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return {};
  }
  const { entries } = JSON.parse(text) as { entries: Record<string, { address: string }> };
  return Object.fromEntries(
    Object.entries(entries).map(([key, { address }]) => [key.split(" ").at(-1) ?? "", address]),
  );
}

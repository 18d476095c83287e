import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

/**
 * `npm install` leaves a platform's package out of the lock file when the configured registry does not have it, and
 * `npm ci` then refuses that lock file everywhere. This script adds the missing entries, with the platform from the
 * package's name; they are optional, so a machine with another platform never fetches them. Run it after `npm install`:
 * npx node scripts/complete-lock.ts
 *
 * The entries do not say which Node a package needs: all run on the Node that `npm ci` installs, and npm would warn if
 * it runs on another.
 *
 * Missing integrity hashes are looked up in the registry, so that `npm ci` accepts only this content everywhere.
 *
 * It exits with 1 if a hash is missing for a platform that moor supports: `npm ci` would skip the package there, and
 * then fail.
 */
type Entry = {
  version?: string;
  integrity?: string;
  dev?: boolean;
  optional?: boolean;
  cpu?: string[];
  os?: string[];
  libc?: string[];
  engines?: unknown;
  optionalDependencies?: Record<string, string>;
};

const systems = ["android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "aix", "win32"];
const processors = ["arm64", "x64", "arm", "ia32", "riscv64", "s390x", "ppc64", "loong64", "wasm32", "mips64el"];

const file = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(file, "utf8")) as { packages: Record<string, Entry> };
const added: string[] = [];

for (const [place, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(optionalDependencies)) {
    if (`${place}/node_modules/${name}` in lock.packages || `node_modules/${name}` in lock.packages) continue;
    lock.packages[`node_modules/${name}`] = entryFor(name, range, dev ?? false);
    added.push(name);
  }
}

for (const entry of Object.values(lock.packages)) delete entry.engines;

for (const [place, entry] of Object.entries(lock.packages)) {
  if (place === "" || "link" in entry || entry.integrity !== undefined) continue;
  const integrity = integrityOf(`${nameAt(place)}@${entry.version}`);
  if (integrity !== undefined) entry.integrity = integrity;
}

lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(added.length === 0 ? "the lock file is complete" : `added ${added.join(", ")}`);

const lacking = Object.entries(lock.packages).filter(([, entry]) => isOurs(entry) && entry.integrity === undefined);
for (const [place, { version }] of lacking) {
  console.error(`the registry has no ${nameAt(place)}@${version}: take a version that it has for all platforms`);
  process.exitCode = 1;
}

function nameAt(place: string): string {
  return place.replace(/.*node_modules\//, "");
}

/** Undefined when the configured registry does not have it. */
function integrityOf(wanted: string): string | undefined {
  try {
    const said = execFileSync("npm", ["view", wanted, "dist.integrity"], { encoding: "utf8", stdio: "pipe" }).trim();
    return /^sha512-\S+$/.test(said) ? said : undefined;
  } catch {
    return undefined;
  }
}

function isOurs({ os, cpu, libc = ["glibc"] }: Entry): boolean {
  return (
    os?.includes("linux") === true &&
    libc.includes("glibc") &&
    (cpu?.some((one) => one === "x64" || one === "arm64") ?? true)
  );
}

function entryFor(name: string, range: string, dev: boolean): Entry {
  const words = name.replace("ppc64le", "ppc64").split(/[^a-z0-9]+/);
  const os = systems.filter((system) => words.includes(system));
  const cpu = processors.filter((processor) => words.includes(processor));
  if (os.length + cpu.length === 0) throw new Error(`no platform in the name of ${name}: install it by hand`);
  const libc = words.includes("musl") ? ["musl"] : words.includes("gnu") ? ["glibc"] : [];
  return {
    version: range.replace(/^[^0-9]+/, ""),
    ...(cpu.length > 0 && { cpu }),
    ...(dev && { dev }),
    ...(libc.length > 0 && { libc }),
    optional: true,
    ...(os.length > 0 && { os }),
  };
}

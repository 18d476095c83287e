import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { arch, hostname, release, type } from "node:os";
import { version } from "../../process/shipped-files.ts";

/** The OPNsense release that the responses imitate: clients refuse releases that seem too old. */
const likeRelease = "26.7.2";

const machine = (): string => ({ x64: "amd64", arm64: "aarch64" })[arch() as "x64" | "arm64"] ?? arch();
const operatingSystem = (): string => `${type()} ${release()}`;

/**
 * Nearly every client tests the connection with this. It says that there is nothing to update. As in OPNsense, the
 * check is at the top level and inside `product`: some clients read the version here, some there.
 */
export function firmwareStatus(now: Date) {
  const series = likeRelease.split(".").slice(0, 2).join(".");
  const systemFields = { product_id: "moor", product_version: likeRelease, product_abi: series };
  const check = {
    ...systemFields,
    os_version: operatingSystem(),
    last_check: asDatePrints(now),
    needs_reboot: "0",
    upgrade_needs_reboot: "0",
    new_packages: [],
    reinstall_packages: [],
    remove_packages: [],
    downgrade_packages: [],
    upgrade_packages: [],
    upgrade_sets: [],
  };
  return {
    ...check,
    product: {
      ...systemFields,
      product_name: "moor",
      product_nickname: "moor",
      product_series: series,
      product_arch: machine(),
      product_moor: version,
      product_latest: likeRelease,
      product_check: check,
    },
    status_msg: "moor is updated by the system it runs on.",
    status: "none",
  };
}

/** Some clients test the connection with this, others look for plugins: there are none. */
export function firmwareInfo(now: Date) {
  const { product_id, product_version, product } = firmwareStatus(now);
  return { product_id, product_version, package: [], plugin: [], changelog: [], product };
}

/** `Sun Nov 15 20:27:15 UTC 2026`. */
function asDatePrints(at: Date): string {
  const [, day, date, month, year, time] = /^(\w+), (\d+) (\w+) (\d+) ([\d:]+)/.exec(at.toUTCString()) ?? [];
  return `${day} ${month} ${date} ${time} UTC ${year}`;
}

/** Monitoring asks this first. Releases before 25.1 had `System`, which clients of that time expect. */
export const systemStatus = () => ({
  metadata: { system: { status: "OK", message: "No problems were detected.", title: "System" } },
  subsystems: [],
  System: { status: "OK" },
});

export const systemInformation = () => ({
  name: hostname(),
  versions: [`moor ${version}-${machine()}`, operatingSystem(), `OpenSSL ${process.versions.openssl}`],
  updates: "moor is updated by the system it runs on.",
});

/**
 * An address that identifies this machine if it has no network card: from systemd's machine id, which may be shown only
 * hashed (machine-id(5)), or from the host name. It is locally administered, so no vendor's card has it.
 */
export function machineAddress(): string {
  const id = readMachineId() || hostname();
  const bytes = createHash("sha256").update(`moor firewall ${id}`).digest().subarray(0, 6);
  bytes[0] = ((bytes[0] ?? 0) & 0xfc) | 0x02;
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(":");
}

function readMachineId(): string {
  try {
    return readFileSync("/etc/machine-id", "utf8").trim();
  } catch {
    return "";
  }
}

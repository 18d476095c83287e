import { type ExecFileException, execFile } from "node:child_process";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import { type KernelAddress, type KernelRow, parseKernelRows } from "./kernel-row.ts";

export type ReadKernelOptions = {
  readonly signal?: AbortSignal;
  /** Where `ip` may be; a service manager's PATH often lacks the two sbin folders. */
  readonly commands?: readonly string[];
  /** Milliseconds for one `ip`. */
  readonly limit?: number;
};

const usualCommands = ["ip", "/usr/sbin/ip", "/sbin/ip"];

/**
 * Every network device of this machine, as it is now. Without a usable `ip` Node's own list is taken: it has only devices
 * that are up and have an address. A failed read throws; it is never an empty list.
 */
export async function readKernel(options: ReadKernelOptions = {}): Promise<readonly KernelRow[]> {
  for (const command of options.commands ?? usualCommands) {
    const printed = await runIp(command, options);
    if (printed !== undefined) return parsePrinted(command, printed);
  }
  return rowsFromNode(networkInterfaces());
}

function parsePrinted(command: string, printed: string): readonly KernelRow[] {
  try {
    return parseKernelRows(printed);
  } catch (error) {
    throw new Error(`what \`${command}\` printed cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** What it printed; undefined when there is no such program, or one too old or too small to print JSON. */
function runIp(command: string, { signal, limit = 5_000 }: ReadKernelOptions): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const limits = {
    timeout: limit,
    maxBuffer: 32 * 1024 * 1024,
    killSignal: "SIGKILL",
    ...(signal && { signal }),
  } as const;
  execFile(command, ["-json", "-details", "addr"], limits, (error, stdout, stderr) => {
    if (error === null) resolve(stdout);
    else if (error.code === "ENOENT" || printsNoJson(stderr)) resolve(undefined);
    else
      reject(
        new Error(`\`${command} -json -details addr\` failed: ${whyFailed(error, stderr, limit)}`, { cause: error }),
      );
  });
  return promise;
}

/** BusyBox, and iproute2 before 4.13. */
const printsNoJson = (stderr: string): boolean => /busybox|unrecognized option|is unknown, try/i.test(stderr);

function whyFailed(error: ExecFileException, stderr: string, limit: number): string {
  if (error.name === "AbortError") return "stopped";
  if (error.signal === "SIGKILL" && typeof error.code !== "string") return `no answer within ${limit} ms`;
  return stderr.trim() || error.message;
}

/** Node tells less than `ip`: what it does not tell stays out. It lists only devices that are up and running. */
export function rowsFromNode(list: NodeJS.Dict<NetworkInterfaceInfo[]>): readonly KernelRow[] {
  return Object.entries(list).map(([ifname, addresses = []]) => ({
    ifname,
    flags: addresses.some(({ internal }) => internal) ? ["UP", "LOOPBACK"] : ["UP"],
    ...(addresses[0] && { address: addresses[0].mac }),
    addr_info: addresses.map(addressFromNode),
  }));
}

function addressFromNode({ family, address, cidr }: NetworkInterfaceInfo): KernelAddress {
  const bits = cidr?.split("/")[1];
  return {
    family: family === "IPv4" ? "inet" : "inet6",
    local: address,
    ...(bits !== undefined && { prefixlen: Number(bits) }),
  };
}

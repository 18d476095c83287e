import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

/** `cpu` is the CPU time of the server per query, in microseconds; other programs on the machine affect it less. */
export type DnsLoad = {
  readonly perSecond: number;
  readonly lost: number;
  readonly cpu: number;
  /** The CPU time of dnsperf per query. */
  readonly clientCpu: number;
};

export const noLoad: DnsLoad = { perSecond: Number.NaN, lost: 0, cpu: Number.NaN, clientCpu: Number.NaN };

export type DnsServer = { readonly name: string; readonly port: number; readonly pid?: number | undefined };

export type DnsperfOptions = {
  readonly seconds: number;
  readonly clients?: number;
  readonly threads?: number;
  readonly dnssecOk?: boolean;
};

/** This many clients, with two hundred queries in flight in total. */
export async function dnsperf(
  { port, pid }: DnsServer,
  file: string,
  { seconds, clients = 4, threads = 1, dnssecOk = false }: DnsperfOptions,
): Promise<DnsLoad> {
  const words = [
    "-s",
    "127.0.0.1",
    "-p",
    port,
    "-d",
    file,
    "-l",
    seconds,
    "-c",
    clients,
    "-T",
    threads,
    ...(dnssecOk ? ["-D"] : []),
  ];
  const script = `TIMEFORMAT='cpu %U %S'; time dnsperf ${[...words, "-q", 200, "-t", 1].join(" ")}`;
  const before = cpuTime(pid);
  const { stdout, stderr } = await promisify(execFile)("bash", ["--norc", "-c", script]);
  const spent = cpuTime(pid) - before;
  const figure = (label: string) => Number(new RegExp(`${label}:\\s+([\\d.]+)`).exec(stdout)?.[1] ?? Number.NaN);
  const perSecond = figure("Queries per second");
  if (Number.isNaN(perSecond)) throw new Error(`dnsperf printed no result:\n${stdout}`);
  const [, user, system] = /cpu ([\d.]+) ([\d.]+)/.exec(stderr) ?? [];
  const completed = figure("Queries completed");
  const clientCpu = (1e6 * (Number(user) + Number(system))) / completed;
  return { perSecond, lost: figure("Queries lost"), cpu: spent / completed, clientCpu };
}

/**
 * Microseconds of user and system time so far (proc(5), fields 14 and 15, in hundredths of a second), of a process and
 * those that it started.
 */
function cpuTime(pid: number | undefined): number {
  if (pid === undefined) return Number.NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  return children.reduce(
    (sum, child) => sum + cpuTime(Number(child)),
    (Number(fields[11]) + Number(fields[12])) * 10_000,
  );
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

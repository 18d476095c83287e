import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";

/** `cpu` is the CPU time of the server per query, in microseconds; other programs on the machine affect it less. */
export type DnsLoad = {
  readonly perSecond: number;
  readonly lost: number;
  readonly cpu: number;
  /** The CPU time of dnsperf per query. */
  readonly clientCpu: number;
};

export type DnsServer = {
  readonly name: string;
  readonly port: number;
  readonly pid?: number | undefined;
  /** Queries sent to it per second; otherwise as many as are answered. */
  readonly rate?: number;
};

export type DnsperfOptions = {
  readonly seconds: number;
  readonly clients?: number;
  readonly threads?: number;
  readonly dnssecOk?: boolean;
};

/** The loads of each server. Each is measured in turn, so that noise affects all. */
export async function inTurns(
  servers: readonly DnsServer[],
  file: string,
  { rounds, ...options }: DnsperfOptions & { readonly rounds: number },
): Promise<readonly (readonly DnsLoad[])[]> {
  // In the first seconds with a new kind of question, V8 still compiles what it needs.
  for (const server of servers) await dnsperf(server, file, { ...options, seconds: 2 });
  const loads = servers.map((): DnsLoad[] => []);
  for (let i = 0; i < rounds; i++)
    for (const [j, server] of servers.entries()) loads[j]?.push(await dnsperf(server, file, options));
  return loads;
}

/** This many clients, with two hundred queries in flight in total. */
export async function dnsperf(
  { port, pid, rate }: DnsServer,
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
    ...(rate ? ["-Q", rate] : []),
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

/** Microseconds of processor time so far, of all threads of a process and those processes that it started. */
export function cpuTime(pid: number | undefined): number {
  if (pid === undefined) return Number.NaN;
  const threads = readdirSync(`/proc/${pid}/task`).map((id) => `/proc/${pid}/task/${id}`);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  return (
    sum(threads.map((thread) => Number(readFileSync(`${thread}/schedstat`, "utf8").split(" ")[0]) / 1_000)) +
    sum(children.map((child) => cpuTime(Number(child))))
  );
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Of some figure of each load. */
export const medianOf = (loads: readonly DnsLoad[], what: Exclude<keyof DnsLoad, "lost">): number =>
  median(loads.map((load) => load[what]));

export const lostIn = (loads: readonly DnsLoad[]): string => `${sum(loads.map(({ lost }) => lost))}`;

export const microseconds = (value: number): string => (Number.isNaN(value) ? "" : `${value.toFixed(1)} µs`);

/** The median of the ratios of each turn. */
export const ratioOf = (a: readonly DnsLoad[], b: readonly DnsLoad[], what: "perSecond" | "cpu"): number =>
  median(a.map((load, i) => load[what] / (b[i]?.[what] ?? Number.NaN)));

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Why a server does not answer. `asleep`: datagrams wait in a socket although all of its threads sleep, so one of them
 * has missed its wake-up. `no-processor`: they wait to be read, or for each other, by threads that want to run.
 * `nothing-waits`: everything was read, so the server itself keeps queries back, or has dropped them.
 */
export type Stall = {
  readonly kind: "asleep" | "no-processor" | "nothing-waits";
  readonly samples: readonly Sample[];
};

type Sample = {
  /** Bytes that wait in each of its sockets, and datagrams that were dropped there. */
  readonly sockets: readonly { readonly waiting: number; readonly dropped: number }[];
  /** Of each thread: its state, and the milliseconds that it has run and has waited for a processor so far. */
  readonly threads: readonly { readonly state: string; readonly ran: number; readonly waited: number }[];
};

/** Three seconds: a thread that runs at all reads what waits long before. */
const samples = 7;
const between = 500;

/** Looks at the kernel's figures for a while: nothing in the server has to work for that. */
export async function stallOf(pid: number, port: number): Promise<Stall> {
  const all: Sample[] = [];
  for (let i = 0; i < samples; i++) {
    if (i > 0) await sleep(between);
    all.push({ sockets: socketsOf(pid, port), threads: threadsOf(pid) });
  }
  const waits = all.every(({ sockets }) => sockets.some(({ waiting }) => waiting > 0));
  const sleeps = all.every(({ threads }) => threads.every(({ state }) => state === "S"));
  return { kind: waits && sleeps ? "asleep" : wantsToRun(all) ? "no-processor" : "nothing-waits", samples: all };
}

/** Its threads have together waited for a processor longer than they have run. */
function wantsToRun(all: readonly Sample[]): boolean {
  const sum = (sample: Sample | undefined, of: "ran" | "waited") =>
    sample?.threads.reduce((total, thread) => total + thread[of], 0) ?? 0;
  const during = (of: "ran" | "waited") => sum(all.at(-1), of) - sum(all[0], of);
  return during("waited") > during("ran") && during("waited") > between;
}

/** proc(5): the fifth field of `net/udp` is `tx_queue:rx_queue`, the last the drops. */
function socketsOf(pid: number, port: number): Sample["sockets"] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = readFileSync(`/proc/${pid}/net/udp`, "utf8").split("\n").slice(1);
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = ""]) => local.endsWith(suffix))
    .map((fields) => ({
      waiting: Number.parseInt(fields[4]?.split(":")[1] ?? "", 16),
      dropped: Number(fields.at(-1)),
    }));
}

function threadsOf(pid: number): Sample["threads"] {
  return readdirSync(`/proc/${pid}/task`).map((id) => {
    const of = (file: string) => readFileSync(`/proc/${pid}/task/${id}/${file}`, "utf8");
    const [ran = 0, waited = 0] = of("schedstat")
      .split(" ")
      .map((each) => Number(each) / 1e6);
    return { state: of("stat").split(") ")[1]?.[0] ?? "", ran, waited };
  });
}

import { Agent, request } from "undici";
import { builtProgram } from "../rig/bundle.ts";
import { environment, node } from "../rig/namespace.ts";
import { realPause } from "../rig/real-pause.ts";
import { type StartedProcess, startProcess } from "../rig/started-process.ts";

/** A write that was sent. Without a status there was no answer: it may have happened or not. */
export type Sent = { readonly owner: string; readonly value: string; status?: number; body?: string };

/** One process of the record service, over plain HTTP. */
export type Service = { readonly process: StartedProcess; readonly url: string };

export const moor = [node, builtProgram()] as const;

/** `atTerminal`: with a pseudo-terminal. */
export async function startService(data: string, around: readonly string[] = [], atTerminal = false): Promise<Service> {
  const words = ["records", "--data", data, "--listen", "127.0.0.1:0", "--plain-http", "--rate-limit", "off"];
  const command = [...moor, ...words];
  const shown = atTerminal ? ["script", "--quiet", "--return", "--command", command.join(" "), "/dev/null"] : command;
  const [program = "", ...rest] = [...around, ...shown];
  const started = startProcess([program, ...rest], {
    env: environment,
    stdio: [atTerminal ? "pipe" : "ignore", "pipe", "pipe"],
  });
  await started.says(/listens on http:\/\/127\.0\.0\.1:\d+\r?\n/);
  return { process: started, url: /listens on (\S+)/.exec(started.out())?.[1] ?? "" };
}

export const runMoor = (...words: readonly string[]) => startProcess([...moor, ...words], { env: environment }).ended;

export type Storm = { readonly sent: readonly Sent[]; readonly stop: () => Promise<void> };

/**
 * Clients that write without pause, each to its own names: they create five sets, then replace them again and again.
 * Every answer is recorded.
 */
export function startStorm({ url }: Service, token: string, zone: string, round: number, clients = 8): Storm {
  const agent = new Agent({ connections: clients, bodyTimeout: 5_000, headersTimeout: 5_000 });
  const sent: Sent[] = [];
  let going = true;
  const client = async (number: number) => {
    for (let i = 0; going; i += 1) {
      const write: Sent = {
        owner: `r${round}c${number}n${i % 5}`,
        value: `10.${round % 256}.${(i >> 8) % 256}.${i % 256}`,
      };
      sent.push(write);
      try {
        const answer = await request(`${url}/v1/zones/${zone}/rrsets/${write.owner}/A/records`, {
          ...{ method: "PUT", dispatcher: agent, body: JSON.stringify({ ttl: 60, records: [{ value: write.value }] }) },
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        });
        write.body = await answer.body.text();
        write.status = answer.statusCode;
      } catch {
        // Unknown. The service may be dead: the next round will tell.
        if (going) await realPause(5, "the service may be dead");
      }
    }
  };
  const running = Array.from({ length: clients }, (_, number) => client(number));
  return {
    sent,
    stop: async () => {
      going = false;
      await Promise.all(running);
      await agent.destroy();
    },
  };
}

export type Imports = { readonly answered: () => number; readonly stop: () => Promise<void> };

/** The number of records in each imported file; large enough to be written in several turns of the event loop. */
export const importedRecords = 1_500;

/** The owner of the i-th record. */
export const importedOwner = (round: number, i: number): string => `r${round}import${i}`;

/**
 * Creates a large zone, and then replaces it by imports without pause: every value of the n-th file begins with
 * `10.n.`.
 */
export function startImports({ url }: Service, token: string, round: number): Imports {
  let going = true;
  let answered = -1;
  const name = `imports-${round}.example`;
  const file = (n: number) =>
    `@ 300 SOA ns1.example.net. hostmaster.example.net. 1 7200 900 1209600 300\n@ 300 NS ns1.example.net.\n${Array.from(
      { length: importedRecords },
      (_, i) => `${importedOwner(round, i)} 60 A 10.${n % 256}.${i >> 8}.${i & 255}\n`,
    ).join("")}`;
  const run = async () => {
    for (let n = 0; going; n += 1) {
      const [path, body] =
        n === 0
          ? ["", { name, mode: "primary", zonefile: file(n) }]
          : [`/${name}/actions/import_zonefile`, { zonefile: file(n) }];
      const answer = await request(`${url}/v1/zones${path}`, {
        ...{ method: "POST", body: JSON.stringify(body) },
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      }).catch(() => undefined);
      // Without an answer the service is dead.
      if (answer === undefined) return;
      const text = await answer.body.text();
      if (answer.statusCode !== 201) throw new Error(`${answer.statusCode} ${text}`);
      if (!(await hasEnded(url, token, JSON.parse(text).action))) return;
      answered = n;
    }
  };
  const running = run();
  return {
    answered: () => answered,
    stop: async () => {
      going = false;
      await running;
    },
  };
}

type Action = { readonly id: number; readonly status: string };

/** On a busy machine, an import is answered before it is done, with a running action. False if the service is dead. */
async function hasEnded(url: string, token: string, { id, status }: Action): Promise<boolean> {
  if (status !== "running") return true;
  const headers = { authorization: `Bearer ${token}` };
  const answer = await request(`${url}/v1/actions/${id}`, { headers }).catch(() => undefined);
  if (answer === undefined) return false;
  const { action } = (await answer.body.json()) as { readonly action: Action };
  if (action.status === "running") await realPause(20, "the import is running");
  return await hasEnded(url, token, action);
}

/**
 * For each name: the last answered value, and the values sent after it without an answer. The store must have one of
 * them.
 */
export function allowed(sent: readonly Sent[]): Map<string, ReadonlySet<string | undefined>> {
  const names = new Map<string, Set<string | undefined>>();
  for (const { owner, value, status } of sent) {
    const done = status !== undefined && status < 300;
    const may = done ? new Set<string | undefined>() : (names.get(owner) ?? new Set([undefined]));
    if (done || status === undefined) may.add(value);
    names.set(owner, may);
  }
  return names;
}

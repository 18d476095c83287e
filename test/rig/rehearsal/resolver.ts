import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { typeNamed } from "../../../src/core/dnssec/signed-name.ts";
import { within } from "../../../src/process/within.ts";
import { type Ask, createAsk, type SetQuestion } from "./ask-all.ts";
import { tellUnbound, unboundConfig } from "./unbound.ts";
import { type ValidationVerdict, verdictOn } from "./verdict.ts";

/** A validating resolver that is installed on this machine; it trusts only the parent's key. */
export type Resolver = {
  readonly name: ResolverName;
  readonly ask: (question: SetQuestion) => Promise<ValidationVerdict>;
  /** Whether it can be queried continuously. */
  readonly isQuick: boolean;
  /** Empties its cache, which follows the real clock. */
  readonly forget: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type ResolverName = "unbound" | "delv";

export type ResolverPlace = {
  /** Where temporary files go. */
  readonly folder: string;
  readonly port: number;
  readonly parent: { readonly name: string; readonly dnskey: string };
  readonly zone: string;
  readonly path: string;
  readonly signal: AbortSignal;
};

/** The first of the wanted ones that is installed; undefined if none is. */
export async function startResolver(
  wanted: readonly ResolverName[],
  place: ResolverPlace,
): Promise<Resolver | undefined> {
  for (const name of wanted) {
    const program = findProgram(name, place.path);
    if (program !== undefined) return await (name === "unbound" ? startUnbound : useDelv)(program, place);
  }
  return undefined;
}

/** Daemons are often not in a user's PATH. */
const findProgram = (name: string, path: string): string | undefined =>
  [...path.split(delimiter), "/usr/sbin", "/usr/local/sbin"]
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));

/** It ends a hang: a busy machine may take long. */
const startLimit = 120_000;

async function startUnbound(program: string, place: ResolverPlace): Promise<Resolver> {
  const { folder, port: server, parent, zone, signal } = place;
  const port = await freePort();
  const config = join(folder, "unbound.conf");
  await writeFile(
    config,
    unboundConfig({
      folder,
      port,
      anchors: [`${parent.name}. 3600 IN DNSKEY ${parent.dnskey}`],
      stubs: [parent.name, zone].map((name) => ({ name, servers: [server] })),
      more: [
        'target-fetch-policy: "0 0 0 0 0"',
        ...["cache-max-ttl: 0", "cache-max-negative-ttl: 0", "harden-algo-downgrade: yes"],
      ],
    }),
  );
  const child = spawn(program, ["-d", "-p", "-c", config], { stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  const started = new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (more: string) => {
      output = `${output}${more}`.slice(-4_000);
      if (output.includes("start of service")) resolve();
    });
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`unbound ended: ${output.trim()}`)));
  });
  const close = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill();
    await ended;
  };
  try {
    await within(startLimit, started, "unbound did not start");
  } catch (error) {
    await close();
    throw error;
  }
  const tell = (command: string) => within(startLimit, tellUnbound(folder, command));
  const forget = () => tell(`flush_zone ${parent.name}.`);
  const forgetAll = async () => {
    await forget();
    await tell("flush_infra all");
  };
  const orNothing = (asking: Ask) => (question: SetQuestion) =>
    asking(question).catch((error) => {
      if (signal.aborted || child.exitCode !== null) throw error;
      return undefined;
    });
  const [ask, askUnchecked] = [orNothing(createAsk(port, signal)), orNothing(createAsk(port, signal, true))];
  return {
    name: "unbound",
    ask: (question) => verdictOn(question, { ask, askUnchecked, forget: forgetAll }),
    isQuick: true,
    forget,
    close,
  };
}

/** One process per question, without a cache. */
async function useDelv(program: string, { folder, port, parent, signal }: ResolverPlace): Promise<Resolver> {
  const anchors = join(folder, "delv.keys");
  const [flags, protocol, algorithm, key] = parent.dnskey.split(" ");
  await writeFile(
    anchors,
    `trust-anchors { "${parent.name}." static-key ${flags} ${protocol} ${algorithm} "${key}"; };\n`,
  );
  const words = ["@127.0.0.1", "-p", `${port}`, "-a", anchors, `+root=${parent.name}`];
  return {
    name: "delv",
    ask: ({ name, type }) =>
      new Promise((resolve, reject) => {
        execFile(program, [...words, `${name}.`, typeNamed(type)], { signal }, (error, out, err) => {
          if (signal.aborted) reject(error);
          else if (/fully validated/.test(out)) resolve("secure");
          else resolve(/unsigned answer/.test(`${out}${err}`) ? "insecure" : "bogus");
        });
      }),
    isQuick: false,
    forget: async () => undefined,
    close: async () => undefined,
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

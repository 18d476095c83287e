import type { IncomingHttpHeaders } from "node:http";
import type { TargetConfig } from "../config/config.ts";
import type { HttpClient } from "../http/client.ts";
import type { RecordTarget, TargetFault, WriteOutcome } from "./target.ts";

type OpenTarget = (config: TargetConfig, client: HttpClient) => Promise<RecordTarget>;

/** Every API that records are written through, loaded on use. */
const apis: Readonly<Record<string, OpenTarget>> = {
  v1: async (config, client) => (await import("./v1.ts")).createV1Target(config, client),
  rrsets: async (config, client) => (await import("./rrsets.ts")).createRRsetsTarget(config, client),
};

export const targetApis: readonly string[] = Object.keys(apis);

/** `note` is told the headers of every answer: they say how much of the quota is left. */
export async function openTarget(
  config: TargetConfig,
  note: (headers: IncomingHttpHeaders) => void = () => undefined,
): Promise<RecordTarget> {
  const open = apis[config.api];
  if (!open) throw new Error(`no target with the api ${config.api}`);
  const { createHttpClient } = await import("../http/client.ts");
  const client = await createHttpClient(config);
  const target = await open(config, {
    ...client,
    async send(request, signal) {
      const outcome = await client.send(request, signal);
      if (outcome.kind === "answer") note(outcome.headers);
      return outcome;
    },
  });
  return namingCommands(target, config);
}

/** Commands that it says to look further with can be typed as they are, and ask the same service. */
function namingCommands(target: RecordTarget, { program = "moor", flags }: TargetConfig): RecordTarget {
  const typed = (_: string, verb: string) => `\`${[program, verb, ...(flags === undefined ? [] : [flags])].join(" ")}`;
  const named = <T extends { readonly kind: string }>(outcome: T | TargetFault): T | TargetFault =>
    "todo" in outcome ? worded(outcome) : outcome;
  const worded = (fault: TargetFault) => ({ ...fault, todo: fault.todo.replaceAll(commands, typed) });
  const ended = (outcome: WriteOutcome): WriteOutcome =>
    outcome.kind === "done" ? outcome : { ...outcome, fault: worded(outcome.fault) };
  return {
    replace: async (order, signal) => ended(await target.replace(order, signal)),
    current: async (order, signal) => named(await target.current(order, signal)),
    zones: async (signal) => named(await target.zones(signal)),
    records: async (zone, signal) => named(await target.records(zone, signal)),
    record: async (id, signal) => named(await target.record(id, signal)),
    close: () => target.close(),
  };
}

const commands = /`moor (zones|list|show)\b/g;

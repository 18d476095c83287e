import { type Family, recordTypeOf } from "../../core/addresses/address.ts";
import { firstFew } from "../../core/first-few.ts";
import { absoluteName } from "../../core/names/name.ts";
import { later } from "../../providers/answers/service-answer.ts";
import type { Lookup } from "../../providers/answers/service-fault.ts";
import type { CurrentContent } from "../../providers/provider-calls.ts";
import { askAddress, authoritative, type NameServer } from "./confirm-dns.ts";
import type { RecordTarget, TargetFault } from "./target.ts";

export type DnsQuestion = {
  readonly zone: string;
  /** Absolute. */
  readonly name: string;
  readonly family: Family;
  /** If not empty, asked instead of the zone's own servers. */
  readonly servers: readonly string[];
};

/**
 * The read methods of a target whose API can only write. `cannotList` is returned for everything that DNS cannot
 * answer.
 */
export const readingByDns = (
  servers: readonly string[],
  cannotList: TargetFault,
): Pick<RecordTarget, "current" | "zones" | "records" | "record"> => ({
  current: ({ zone, name, family }, signal) =>
    askDns({ zone, name: absoluteName(name, zone), family, servers }, signal),
  zones: async () => cannotList,
  records: async () => cannotList,
  record: async () => cannotList,
});

/** What the zone's own nameservers return: for APIs that cannot read. If they differ, nothing is known yet. */
export async function askDns(question: DnsQuestion, signal: AbortSignal): Promise<Lookup<CurrentContent>> {
  const { zone, name, family } = question;
  const nameServers = question.servers.map((address): NameServer => [address]);
  const servers = nameServers.length > 0 ? nameServers : await authoritative(zone);
  if (servers.length === 0) return unsettled(`no nameserver of ${zone} was found`);
  const answers = await Promise.all(servers.map((addresses) => firstAnswer(question, addresses)));
  if (signal.aborted) return later("stopped before DNS answered");
  const serverAnswers = answers.filter((answer) => answer !== undefined);
  const [first] = serverAnswers;
  if (first === undefined) return { ...unsettled(`no nameserver of ${zone} answers`), unreached: true };
  if (serverAnswers.some((answer) => answer.join() !== first.join())) {
    return unsettled(
      `the nameservers of ${zone} differ: ${firstFew(serverAnswers.map((answer) => answer.join(" ") || "nothing"))}`,
    );
  }
  if (first.length > 0) return { kind: "found", value: { values: first, ttl: null } };
  return {
    kind: "missing",
    because: `there is no record ${name} ${recordTypeOf(family)} in DNS`,
    todo: "create it at the service, with any address",
  };
}

const unsettled = (because: string): TargetFault => later(because, "no action needed: moor retries");

/** One address that answers is enough. Empty if the record does not exist; undefined if none answers. */
async function firstAnswer(question: DnsQuestion, addresses: NameServer): Promise<readonly string[] | undefined> {
  for (const address of addresses) {
    const { found, code } = await askAddress(question, address);
    if (code === "ENODATA" || code === "ENOTFOUND") return [];
    if (found !== undefined) return found.toSorted();
  }
  return undefined;
}

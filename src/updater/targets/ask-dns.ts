import type { Resolver } from "node:dns/promises";
import { type Family, parseAddress, recordTypeOf } from "../../core/addresses/address.ts";
import { firstFew } from "../../core/first-few.ts";
import { absoluteName } from "../../core/names/name.ts";
import { later } from "../../providers/answers/service-answer.ts";
import type { Lookup } from "../../providers/answers/service-fault.ts";
import type { CurrentContent } from "../../providers/provider-calls.ts";
import { authoritative, type NameServer } from "./confirm-dns.ts";
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
  const { Resolver } = await import("node:dns/promises");
  const open = () => new Resolver({ timeout: 2_000, tries: 2 });
  const { zone, name, family } = question;
  const nameServers = question.servers.map((address): NameServer => [address]);
  const servers = nameServers.length > 0 ? nameServers : await authoritative(zone, open());
  if (servers.length === 0) return unsettled(`no nameserver of ${zone} was found`);
  const answers = await Promise.all(
    servers.map((addresses) =>
      firstAnswer(question, addresses, (address) => {
        const resolver = open();
        resolver.setServers([address]);
        return resolver;
      }),
    ),
  );
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
async function firstAnswer(
  { name, family }: DnsQuestion,
  addresses: NameServer,
  open: (address: string) => Resolver,
): Promise<readonly string[] | undefined> {
  for (const address of addresses) {
    try {
      const resolver = open(address);
      const texts = await (family === "ipv4" ? resolver.resolve4(name) : resolver.resolve6(name));
      return texts.map((text) => parseAddress(text)?.text ?? text).toSorted();
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code === "ENODATA" || code === "ENOTFOUND") return [];
    }
  }
  return undefined;
}

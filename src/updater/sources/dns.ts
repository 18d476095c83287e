import type { Resolver } from "node:dns/promises";
import { type Family, families, parseAddress } from "../../core/addresses/address.ts";
import { mapping, needed, usually } from "../../process/settings/mapping.ts";
import { choice, duration, integer, listOf, text } from "../../process/settings/setting.ts";
import { dnsServer, hostOfServer } from "../config/dns-server.ts";
import { neverPushes, onlyDevice, type SourceKind } from "./source.ts";
import { createHearing, type Witness } from "./witnesses.ts";

type Question = { readonly server: string; readonly name: string; readonly type: "address" | "TXT" };

export type DnsSource = {
  readonly questions?: readonly Question[];
  readonly agree: number;
  readonly every: number;
  readonly timeout: number;
};

/** Cisco, Google and Akamai. The last has no IPv6 address. */
const wellKnown: readonly Question[] = [
  ...["208.67.222.222", "[2620:119:35::35]"].map((server) => opendns(server)),
  ...["216.239.32.10", "[2001:4860:4802:32::a]"].map((server) => google(server)),
  { server: "193.108.88.1", name: "whoami.akamai.net", type: "address" },
];

function opendns(server: string): Question {
  return { server, name: "myip.opendns.com", type: "address" };
}

function google(server: string): Question {
  return { server, name: "o-o.myaddr.l.google.com", type: "TXT" };
}

const question = mapping(
  {
    server: needed(dnsServer),
    name: needed(text("A name for which the server returns the address of the client.", "myip.opendns.com")),
    type: usually(
      choice(["address", "TXT"], "The type of the record: `address` is A or AAAA, by the server's own address."),
      "address",
    ),
  },
  { title: "Question", schema: { examples: [{ server: "208.67.222.222", name: "myip.opendns.com" }] } },
);

/** Like `web`, with one small packet per question. */
export const dns = {
  ...mapping(
    {
      questions: listOf(
        question,
        "What to ask which DNS server. Over IPv4 it sees the IPv4 address, over IPv6 the other. Default: OpenDNS, Google and, for IPv4, Akamai.",
        "an entry of questions",
      ),
      agree: usually(integer({ from: 1, to: 10 }, "How many servers must report the same address.", 2), 2),
      every: usually(duration("How often to ask them.", "1m"), "5m"),
      timeout: usually(duration("How long one server may take.", "10s"), "5s"),
    },
    {
      title: "Source: dns",
      description: "DNS servers on the internet that answer with the address they see.",
      schema: { examples: [{ kind: "dns" }] },
    },
  ),
  only: onlyDevice,
  can: { push: false, prefix: false, lifetimes: false },
  async open({ questions = wellKnown, agree, every, timeout }: DnsSource, _, wanted) {
    const { Resolver } = await import("node:dns/promises");
    const create = (server: string) => {
      const resolver = new Resolver({ timeout: Math.ceil(timeout / tries), tries });
      resolver.setServers([server]);
      return resolver;
    };
    const of = (family: Family) =>
      questions
        .filter(({ server }) => parseAddress(hostOfServer(server))?.family === family)
        .map((each) => witnessOf(each, family, create));
    const witnesses = { ipv4: of("ipv4"), ipv6: of("ipv6") };
    const todo = "check the internet connection, or set other servers in `questions:`";
    return {
      every,
      read: createHearing({ witnesses, agree, wanted: families.filter((family) => wanted.includes(family)), todo }),
      follow: neverPushes,
      close: () => undefined,
    };
  },
} satisfies SourceKind<DnsSource>;

const tries = 2;

function witnessOf({ server, name, type }: Question, family: Family, create: (server: string) => Resolver): Witness {
  return {
    name: server,
    async ask(signal) {
      const resolver = create(server);
      const cancel = () => resolver.cancel();
      signal.addEventListener("abort", cancel, { once: true });
      try {
        if (signal.aborted) return { kind: "failed", because: "was not asked" };
        const found = await lookUp(resolver, name, type, family);
        // Google adds a line about the network that asked.
        const answers = found.filter((each) => !each.startsWith("edns0-client-subnet"));
        if (answers.length === 1 && answers[0] !== undefined) return { kind: "said", text: answers[0] };
        return { kind: "failed", because: `answered with ${answers.length} records` };
      } catch (error) {
        return { kind: "failed", because: `has no answer (${(error as NodeJS.ErrnoException).code ?? "unknown"})` };
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    },
  };
}

async function lookUp(resolver: Resolver, name: string, type: Question["type"], family: Family) {
  if (type === "TXT") return (await resolver.resolveTxt(name)).map((parts) => parts.join(""));
  return family === "ipv4" ? resolver.resolve4(name) : resolver.resolve6(name);
}

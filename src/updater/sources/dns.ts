import { addressFromBytes, type Family, parseAddress } from "../../core/addresses/address.ts";
import { parseName } from "../../core/names/name.ts";
import { mapping, needed, usually } from "../../lib/settings/mapping.ts";
import { choice, duration, integer, listOf, refined, text } from "../../lib/settings/setting.ts";
import { dnsServer, partsOfServer } from "../config/endpoint.ts";
import { createQuorumReader, type EchoAnswer, type EchoService, listedTwice, twiceFault } from "./address-quorum.ts";
import { neverPushes, onlyDevice, type SourceKind } from "./source.ts";

type Question = {
  readonly server: string;
  readonly name: string;
  readonly type: "address" | "TXT";
  readonly class: "IN" | "CH";
};

export type DnsSource = {
  readonly questions?: readonly Question[];
  readonly agree: number;
  readonly every: number;
  readonly timeout: number;
};

const questionsTo = (name: string, type: Question["type"], kind: Question["class"], ...servers: readonly string[]) =>
  servers.map((server): Question => ({ server, name, type, class: kind }));

/** Cisco, Google, Cloudflare and Akamai, whose server has no IPv6 address. */
const wellKnown: readonly Question[] = [
  ...questionsTo("myip.opendns.com", "address", "IN", "208.67.222.222", "[2620:119:35::35]"),
  ...questionsTo("o-o.myaddr.l.google.com", "TXT", "IN", "216.239.32.10", "[2001:4860:4802:32::a]"),
  ...questionsTo("whoami.cloudflare", "TXT", "CH", "1.1.1.1", "[2606:4700:4700::1111]"),
  ...questionsTo("whoami.akamai.net", "address", "IN", "193.108.88.1"),
];

const name = refined(
  text("A name for which the server returns the address of the client.", "myip.opendns.com"),
  (written, { fault }) => {
    const parsed = parseName(written);
    if (parsed.ok) return parsed.value;
    for (const { where: _, ...detail } of parsed.faults) fault(detail);
    return undefined;
  },
);

const question = mapping(
  {
    server: needed(dnsServer),
    name: needed(name),
    type: usually(
      choice(
        ["address", "TXT"],
        "The type of the record: `address` is A for a server with an IPv4 address, AAAA for one with an IPv6 address.",
      ),
      "address",
    ),
    class: usually(choice(["IN", "CH"], "The class of the record."), "IN"),
  },
  { title: "Question", schema: { examples: [{ server: "208.67.222.222", name: "myip.opendns.com" }] } },
);

const questions = (description: string) =>
  refined(listOf(question, description, "an entry of questions"), (all, { fault }) => {
    const twice = listedTwice(all.map(({ server }) => partsOfServer(server)));
    return twice === undefined ? all : fault(twiceFault(twice));
  });

/** Like `web`, but with one small packet per query. */
export const dns = {
  ...mapping(
    {
      questions: questions(
        "The DNS servers, and the name to look up at each. A server with an IPv4 address sees the IPv4 address, one with an IPv6 address the IPv6 address. Default: OpenDNS, Google, Cloudflare and, for IPv4, Akamai.",
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
    const of = (family: Family) =>
      questions
        .filter(({ server }) => parseAddress(partsOfServer(server).host)?.family === family)
        .map((each) => serviceOf(each, family, timeout));
    const services = { ipv4: of("ipv4"), ipv6: of("ipv6") };
    const todo = "check the internet connection, or set other servers in `questions:`";
    return {
      every,
      read: createQuorumReader({ services, agree, wanted, todo }),
      follow: neverPushes,
      close: () => undefined,
    };
  },
} satisfies SourceKind<DnsSource>;

const txt = 16;
const addressTypes: Readonly<Record<Family, number>> = { ipv4: 1, ipv6: 28 };

/** A packet may get lost. */
const tries = 2;

function serviceOf({ server, name, type, class: kind }: Question, family: Family, timeout: number): EchoService {
  const { host, port } = partsOfServer(server);
  const peer = { host, port: Number(port), key: undefined };
  const wanted = type === "TXT" ? txt : addressTypes[family];
  return {
    name: server,
    async ask(signal) {
      const { askUdp } = await import("../../lib/dns/ask.ts");
      const { classes, opcodes } = await import("../../lib/dns/codes.ts");
      const question = { name, type: wanted, class: kind === "CH" ? classes.ch : classes.in };
      const limits = { signal, limit: Math.ceil(timeout / tries), now: Date.now };
      const ask = () => askUdp(peer, { opcode: opcodes.query, question, recursionDesired: true }, limits);
      try {
        const { rcode, answers } = await ask().catch((error: unknown) => {
          if (signal.aborted) throw error;
          return ask();
        });
        if (rcode !== 0) return { kind: "failed", because: `answered with the error ${rcodeWords[rcode] ?? rcode}` };
        const recordData = answers.filter((record) => record.type === wanted).map(({ data }) => data);
        return testimonyIn(
          recordData.map((data) => (type === "TXT" ? textIn(data) : (addressFromBytes(data)?.text ?? ""))),
        );
      } catch (error) {
        return { kind: "failed", because: `does not answer (${(error as Error).message})` };
      }
    },
  };
}

const rcodeWords: Readonly<Record<number, string>> = { 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED" };

/** Google adds a record about the network of the client. */
function testimonyIn(recordTexts: readonly string[]): EchoAnswer {
  const texts = recordTexts.filter((each) => !each.startsWith("edns0-client-subnet"));
  const [only] = texts;
  if (only === undefined) return { kind: "failed", because: "has no such record" };
  return texts.length === 1
    ? { kind: "answered", text: only }
    : { kind: "failed", because: `answered with ${texts.length} records` };
}

/** Character-strings, each after a byte with its length (RFC 1035 section 3.3.14). */
function textIn(rdata: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < rdata.length; at += 1 + (rdata[at] ?? 0)) {
    parts.push(Buffer.from(rdata.subarray(at + 1, at + 1 + (rdata[at] ?? 0))).toString("utf8"));
  }
  return parts.join("");
}

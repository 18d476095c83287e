import { type Family, parseAddress } from "../../core/addresses/address.ts";
import type { HttpClient, HttpOutcome } from "../../lib/http-client/client.ts";
import type { Endpoint } from "../../lib/http-client/endpoint.ts";
import { parseRetryAfter } from "../../lib/http-client/retry-after.ts";
import { mapping, usually } from "../../lib/settings/mapping.ts";
import { duration, integer, listOf, refined } from "../../lib/settings/setting.ts";
import { webAddress } from "../config/endpoint.ts";
import { createQuorumReader, type EchoAnswer, type EchoService, listedTwice, twiceFault } from "./address-quorum.ts";
import { neverPushes, onlyDevice, type SourceKind } from "./source.ts";

export type WebSource = {
  readonly services?: readonly URL[];
  readonly agree: number;
  readonly every: number;
  readonly timeout?: number;
};

/** Each has another operator and is reachable over IPv4 and IPv6, except for the last. */
const wellKnown = [
  "https://icanhazip.com",
  "https://api64.ipify.org",
  "https://ident.me",
  "https://ifconfig.co/ip",
  "https://diagnostic.opendns.com/myip",
  "https://checkip.amazonaws.com",
];

const services = refined(
  listOf(
    webAddress("The URL of a service that answers with the caller's address.", "https://icanhazip.com", {
      mayHaveQuery: true,
      whyNotPlain: "could be answered by anyone on the network path",
    }),
    `Services that answer with the caller's address, as plain text. Default: ${wellKnown.join(", ")}.`,
  ),
  (urls, { fault }) => {
    const twice = listedTwice(urls.map(({ hostname, port }) => ({ host: hostname.replaceAll(/[[\]]/g, ""), port })));
    return twice === undefined ? urls : fault(twiceFault(twice));
  },
);

/** For machines behind a router that moor cannot read. */
export const web = {
  ...mapping(
    {
      services,
      agree: usually(integer({ from: 1, to: 10 }, "How many services must report the same address.", 2), 2),
      every: usually(duration("How often to ask them.", "10m"), "5m"),
      timeout: duration("How long one service may take.", "10s", { default: "15s" }),
    },
    {
      title: "Source: web",
      description: "Services on the internet that answer with the address they see.",
      schema: { examples: [{ kind: "web" }] },
      check({ services, agree = 2 }, { fault }) {
        const count = services?.length ?? wellKnown.length;
        if (agree <= count) return;
        const message = `agree is ${agree}, more than the number of services (${count})`;
        fault({ code: "too-few", message, todo: "list more services, or set a lower `agree:`" }, "agree");
      },
    },
  ),
  only: onlyDevice,
  can: { push: false, prefix: false, lifetimes: false },
  async open({ services: listed, agree, every, timeout }: WebSource, connect, wanted) {
    const urls = listed ?? wellKnown.map((url) => new URL(url));
    const clients: HttpClient[] = [];
    const service = async (url: URL, family: Family): Promise<EchoService> => {
      const endpoint: Endpoint = { url: new URL(url.origin), trust: { kind: "system" }, family };
      const client = await connect({ ...endpoint, ...(timeout && { timeout }) });
      clients.push(client);
      return politeService(url, client);
    };
    const all = (family: Family) => {
      const those = wanted.includes(family) ? urls.filter((url) => canSee(url, family)) : [];
      return Promise.all(those.map((url) => service(url, family)));
    };
    const services = { ipv4: await all("ipv4"), ipv6: await all("ipv6") };
    const todo = "check the internet connection, or list other services in `services:`";
    return {
      every,
      read: createQuorumReader({ services, agree, wanted, todo }),
      follow: neverPushes,
      close() {
        for (const client of clients) client.close();
      },
    };
  },
} satisfies SourceKind<WebSource>;

/** A host given as an address can be asked only over its family. */
function canSee({ hostname }: URL, family: Family): boolean {
  const literal = parseAddress(hostname.replaceAll(/[[\]]/g, ""));
  return literal === undefined || literal.family === family;
}

/** Waits for the time that the service gave in a Retry-After. */
function politeService(url: URL, client: HttpClient): EchoService {
  let notBefore = 0;
  return {
    name: url.host,
    async ask(signal) {
      if (Date.now() < notBefore) return { kind: "failed", because: "asked moor to wait (Retry-After)" };
      const headers = { accept: "text/plain" };
      const outcome = await client.send({ method: "GET", path: url.pathname + url.search, headers }, signal);
      const pause = outcome.kind === "answer" && parseRetryAfter(outcome.headers["retry-after"], Date.now());
      if (pause) notBefore = Date.now() + pause;
      return testimonyIn(outcome);
    },
  };
}

/** The answer is the address, or has a line `ip=192.0.2.1` among others. */
function testimonyIn(outcome: HttpOutcome): EchoAnswer {
  if (outcome.kind === "failed") return { kind: "failed", because: `failed: ${outcome.because}` };
  if (outcome.status !== 200) return { kind: "failed", because: `answered ${outcome.status}` };
  const text = outcome.body.trim();
  if (text === "") return { kind: "failed", because: "answered with an empty body" };
  return { kind: "answered", text: /^\s*ip=(.*)$/m.exec(text)?.[1]?.trim() ?? text };
}

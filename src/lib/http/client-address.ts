import type { IncomingHttpHeaders } from "node:http";
import { type Address, parseAddress, parseIpv4 } from "../../core/addresses/address.ts";
import { isInNetwork, type Network } from "../../core/addresses/network.ts";
import { BoundedMap } from "../limits/bounded-map.ts";

/** Which proxies are trusted to name the client, and in which header they do so. */
export type TrustedProxies = {
  readonly networks: readonly Network[];
  /** Only one of the two: a proxy passes on the other as its client sent it. */
  readonly header: ProxyHeader;
};

export type ProxyHeader = (typeof proxyHeaders)[number];
export const proxyHeaders = ["x-forwarded-for", "forwarded"] as const;

const longestHeader = 2_000;
const answersKept = 1_000;

export type ProxyTrust = ReturnType<typeof trustProxies>;

/**
 * Each proxy appends the address of its client. So, from the right, the first address that is not a trusted proxy is
 * the caller; everything further left is only a claim of that caller. If a hop is not an address, the one to its right
 * counts.
 */
export function trustProxies({ networks, header }: TrustedProxies) {
  const isTrusted = (peer: string): boolean => {
    const address = readNode(peer);
    return address !== undefined && networks.some((network) => isInNetwork(address, network));
  };
  const trusted = keep(isTrusted);
  const clientIn = keep((claimed: string) => {
    let client: string | undefined;
    for (const hop of hopsOf(claimed, header).toReversed()) {
      const address = readNode(hop);
      if (address === undefined) break;
      client = address.text;
      if (!isTrusted(client)) break;
    }
    return client;
  });
  return {
    isTrusted: trusted,
    /** The caller's address: the peer's own, unless that is a trusted proxy. */
    clientOf: (peer: string, headers: IncomingHttpHeaders): string => {
      const claimed = headers[header];
      if (typeof claimed !== "string" || !trusted(peer)) return peer;
      return clientIn(claimed.slice(-longestHeader)) ?? peer;
    },
    /** The scheme that the caller used, if a trusted proxy names it. */
    schemeOf: (peer: string, headers: IncomingHttpHeaders): "http" | "https" | undefined =>
      trusted(peer) ? schemeIn(headers, header) : undefined,
  };
}

function hopsOf(claimed: string, header: ProxyHeader): readonly string[] {
  const elements = claimed.split(",");
  return header === "x-forwarded-for" ? elements : elements.map((element) => parameterIn(element, "for") ?? "");
}

/** RFC 7239 section 4: `for=192.0.2.43;proto=https`, values quoted or not. */
function parameterIn(element: string, name: string): string | undefined {
  const pair = element
    .split(";")
    .map((each) => each.trim())
    .find((each) => each.toLowerCase().startsWith(`${name}=`));
  return pair?.slice(name.length + 1).replace(/^"(.*)"$/, "$1");
}

function schemeIn(headers: IncomingHttpHeaders, header: ProxyHeader): "http" | "https" | undefined {
  const claimed = headers[header === "forwarded" ? "forwarded" : "x-forwarded-proto"];
  const last = typeof claimed === "string" ? claimed.split(",").at(-1)?.trim() : undefined;
  const scheme = (header === "forwarded" ? last && parameterIn(last, "proto") : last)?.toLowerCase();
  return scheme === "http" || scheme === "https" ? scheme : undefined;
}

/** An address as proxies write it: with or without port, IPv6 in brackets or bare, IPv4 perhaps inside IPv6. */
function readNode(text: string): Address | undefined {
  const trimmed = text.trim();
  const [, bracketed] = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(trimmed) ?? [];
  const [, before] = /^([^:]+):\d{1,5}$/.exec(trimmed) ?? [];
  const bare = bracketed ?? before ?? trimmed;
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(bare) ?? [];
  return mapped === undefined ? parseAddress(bare) : parseIpv4(mapped);
}

/** Caches results: the same few callers return. */
function keep<T>(answer: (text: string) => T): (text: string) => T {
  const cachedAnswers = new BoundedMap<string, T>(answersKept);
  return (text) => {
    const cachedAnswer = cachedAnswers.get(text);
    if (cachedAnswer !== undefined) return cachedAnswer;
    const freshAnswer = answer(text);
    cachedAnswers.set(text, freshAnswer);
    return freshAnswer;
  };
}

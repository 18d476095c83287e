import type { WireContent, WirePublication, WireSetState } from "../../../src/contract/front.ts";
import { counted } from "../../shared/counted.ts";

/** What the head of a zone's pages says: the worst first. */
export function publicationInWords({ service, counts, trouble }: WirePublication): string {
  if (trouble) return `not reaching ${service}`;
  if (counts.drifted > 0) return `${counted(counts.drifted, "record set")} changed at ${service}`;
  if (counts.refused > 0) return `${counted(counts.refused, "record set")} refused by ${service}`;
  if (counts.waiting > 0) return `${counted(counts.waiting, "record set")} on the way to ${service}`;
  return `published at ${service}`;
}

/** What is said about one set, next to it. */
export function stateInWords({ state, because }: Pick<WireSetState, "state" | "because">, service: string): string {
  switch (state) {
    case "published":
      return `published at ${service}`;
    case "waiting":
      return because === null ? `on the way to ${service}` : `on the way to ${service}: ${because}`;
    case "refused":
      return because === null ? `refused by ${service}` : `refused by ${service}: ${because}`;
    case "drifted":
      return `somebody changed it at ${service}`;
    default:
      return state satisfies never;
  }
}

export const contentInWords = (content: WireContent | null): string =>
  content === null ? "nothing" : `${content.values.join(", ")}${content.ttl === null ? "" : ` (TTL ${content.ttl})`}`;

/** The kinds of providers by the names that people know; `url` and `token` say what else is needed. */
export const providerKinds = [
  { kind: "hetzner", name: "Hetzner", token: "An API token with read and write access to the zones" },
  { kind: "cloudflare", name: "Cloudflare", token: "An API token with the permission Zone / DNS / Edit" },
  { kind: "desec", name: "deSEC", token: "A token of deSEC" },
  { kind: "powerdns", name: "PowerDNS (API)", token: "The API key", url: "https://ns1.example.net:8081" },
  {
    kind: "dns-update",
    name: "BIND, Knot or another server (DNS UPDATE)",
    token: "A TSIG key, as in a key file of BIND",
    url: "dns://ns1.example.net:53",
  },
  { kind: "moor", name: "another moor", token: "A token for the zones", url: "https://records.example.net:8053" },
  { kind: "hetzner-v1", name: "Hetzner’s first API, or a service like it", token: "A token", url: "https://" },
] as const satisfies readonly ProviderKind[];

export type ProviderKind = {
  readonly kind: string;
  readonly name: string;
  readonly token: string;
  /** An example, if a URL is needed. */
  readonly url?: string;
};

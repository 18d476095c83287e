import type { WireContent, WirePublication, WireSetState } from "../../../src/contract/front.ts";
import { type ProviderKind, providerRow, providerRows } from "../../../src/contract/provider-kinds.ts";
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
export const offeredProviders: readonly OfferedProvider[] = (Object.keys(providerRows) as ProviderKind[]).map(offered);

/** The first of the list. */
export const usualProvider = offered("hetzner");

function offered(kind: ProviderKind): OfferedProvider {
  const { title: name, token, example: url } = providerRow(kind);
  return { kind, name, token, ...(url !== undefined && { url }) };
}

export type OfferedProvider = {
  readonly kind: string;
  readonly name: string;
  readonly token: string;
  /** An example, if a URL is needed. */
  readonly url?: string;
};

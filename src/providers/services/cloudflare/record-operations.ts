import { absoluteName } from "../../../core/names/name.ts";
import type { ProviderSetChange } from "../../provider-calls.ts";
import { recordDiff } from "../../record-diff.ts";
import { contentOf } from "./record-content.ts";

/** TTL 1 means automatic; a proxied record allows no other TTL. */
export const automatic = 1;
/** Seconds: https://developers.cloudflare.com/dns/manage-dns-records/reference/ttl */
export const servedAutomatically = 300;

/** One record of a set as it was read. */
export type RecordRef = {
  readonly id: string;
  readonly value: string;
  readonly ttl: number;
  readonly proxied: boolean;
};

type Change = ProviderSetChange<readonly RecordRef[]>;

/** They are carried out in this order. */
export type Operations = {
  readonly deletes: readonly { readonly id: string }[];
  readonly patches: readonly ({ readonly id: string } & object)[];
  readonly posts: readonly object[];
};

/** What turns the records of a set into the wanted ones. */
export function operationsFor({ set, content, before }: Change): Operations {
  const current = typeof before === "object" ? before.raw : [];
  const { kept, changed, removed, added } = recordDiff(set, current, content?.values ?? []);
  const ttl = content?.ttl === null ? automatic : content?.ttl;
  const proxied = isProxied(before, content);
  const isOtherTtl = (record: RecordRef) => ttl !== undefined && record.ttl !== ttl && !record.proxied;
  return {
    deletes: removed.map(({ id }) => ({ id })),
    patches: [
      ...kept.filter(isOtherTtl).map(({ id }) => ({ id, ttl })),
      ...changed.map(({ record: { id }, value }) => ({ id, ...contentOf(set.type, value), ...(ttl && { ttl }) })),
    ],
    posts: added.map((value) => ({
      type: set.type,
      name: absoluteName(set.name, set.zone),
      ...contentOf(set.type, value),
      ttl: proxied ? automatic : (ttl ?? current[0]?.ttl ?? automatic),
      ...(["A", "AAAA", "CNAME"].includes(set.type) && { proxied }),
    })),
  };
}

/** The set that exists is proxied, or a new one is to be. */
const isProxied = (before: Change["before"], content: Change["content"]): boolean =>
  (typeof before === "object" ? before : content)?.proxied === true;

/** A proxied record keeps the automatic TTL, whatever is ordered. */
export const isTtlIgnored = ({ content, before }: Change): boolean =>
  isProxied(before, content) && typeof content?.ttl === "number" && content.ttl !== servedAutomatically;

export const sizeOf = (change: Change): number => {
  const { deletes, patches, posts } = operationsFor(change);
  return deletes.length + patches.length + posts.length;
};

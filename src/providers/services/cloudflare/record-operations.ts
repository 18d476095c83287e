import { absoluteName } from "../../../core/names/name.ts";
import type { SetChange } from "../../provider-calls.ts";
import { sameValues } from "../../provider-set.ts";
import { contentOf } from "./record-content.ts";

/** TTL 1 means automatic; a proxied record allows no other TTL. */
export const automatic = 1;

/** One record of a set as it was read. */
export type RecordRef = {
  readonly id: string;
  readonly value: string;
  readonly ttl: number;
  readonly proxied: boolean;
};

/** They are carried out in this order. */
export type Operations = {
  readonly deletes: readonly { readonly id: string }[];
  readonly patches: readonly ({ readonly id: string } & object)[];
  readonly posts: readonly object[];
};

/**
 * What turns the records of a set into the wanted ones. Those with a wanted value stay, the others get the missing values, so that comments,
 * tags and the proxy setting survive; what is left over is deleted or created.
 */
export function operationsFor({ set, content, before }: SetChange<readonly RecordRef[]>): Operations {
  const held = typeof before === "object" ? before.rest : [];
  if (!content) return { deletes: held.map(({ id }) => ({ id })), patches: [], posts: [] };
  const isSame = (one: string, other: string) => sameValues(set, [one], [other]);
  const kept = held.filter((record, at) => {
    const isWanted = content.values.some((value) => isSame(value, record.value));
    return isWanted && held.findIndex(({ value }) => isSame(value, record.value)) === at;
  });
  const free = held.filter((record) => !kept.includes(record));
  const added = content.values.filter((value) => !kept.some((record) => isSame(record.value, value)));
  const ttl = content.ttl === null ? automatic : content.ttl;
  const withTtl = ttl === undefined ? {} : { ttl };
  const isProxied = held.some(({ proxied }) => proxied);
  return {
    deletes: free.slice(added.length).map(({ id }) => ({ id })),
    patches: [
      ...kept
        .filter((record) => ttl !== undefined && record.ttl !== ttl && !record.proxied)
        .map(({ id }) => ({ id, ttl })),
      ...free.slice(0, added.length).map(({ id }, at) => ({ id, ...contentOf(set.type, added[at] ?? ""), ...withTtl })),
    ],
    posts: added.slice(free.length).map((value) => ({
      type: set.type,
      name: absoluteName(set.name, set.zone),
      ...contentOf(set.type, value),
      ttl: ttl ?? held[0]?.ttl ?? automatic,
      ...(["A", "AAAA", "CNAME"].includes(set.type) && { proxied: isProxied }),
    })),
  };
}

export const sizeOf = (change: SetChange<readonly RecordRef[]>): number => {
  const { deletes, patches, posts } = operationsFor(change);
  return deletes.length + patches.length + posts.length;
};

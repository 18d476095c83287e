import type { RrsetsPagination } from "../../../contract/rrsets.ts";
import type { Fault } from "../../../core/result.ts";
import { badInput } from "../../../core/result.ts";
import type { Order } from "../../store/port.ts";

export type QueryFields = Readonly<Record<string, unknown>>;
export type Paging = { readonly page: number; readonly perPage: number };

const usual = 25;

/** `per_page` is capped at the maximum, and page 0 means page 1; anything but a number is a fault. */
export function pagingAt(query: QueryFields, most: number, faults: Fault[]): Paging {
  return {
    page: query.page === "0" ? 1 : (numberAt(query, "page", faults) ?? 1),
    perPage: Math.min(numberAt(query, "per_page", faults) ?? usual, most),
  };
}

export function numberAt(query: QueryFields, key: string, faults: Fault[]): number | undefined {
  const text = query[key];
  if (text === undefined || text === "") return undefined;
  const number = typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (number >= 1) return number;
  faults.push(badInput(key, "must be a number from 1"));
  return undefined;
}

/** A parameter may occur once or several times; comma-separated lists are not split. */
export function textsAt(query: QueryFields, key: string): readonly string[] {
  const value = query[key];
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  return texts.filter((text): text is string => typeof text === "string" && text !== "");
}

export function oneTextAt(query: QueryFields, key: string): string | undefined {
  return textsAt(query, key).at(-1);
}

/** `field`, `field:asc`, `field:desc`. */
export function orderAt<By extends string>(
  query: QueryFields,
  fields: readonly By[],
  faults: Fault[],
): readonly Order<By>[] {
  return textsAt(query, "sort").flatMap((text) => {
    const [name, direction = "asc", ...rest] = text.split(":");
    const by = fields.find((field) => field === name);
    if (by !== undefined && rest.length === 0 && (direction === "asc" || direction === "desc")) {
      return [{ by, descending: direction === "desc" }];
    }
    faults.push(badInput("sort", `must be one of ${fields.join(", ")}, optionally with :asc or :desc`));
    return [];
  });
}

export function paginationToWire({ page, perPage }: Paging, total: number): RrsetsPagination {
  const last = Math.max(1, Math.ceil(total / perPage));
  return {
    page,
    per_page: perPage,
    previous_page: page > 1 ? Math.min(page - 1, last) : null,
    next_page: page < last ? page + 1 : null,
    last_page: last,
    total_entries: total,
  };
}

/** The links repeat only page and per_page of the query, as in the original. */
export function linkHeader(address: string, { per_page, ...pages }: RrsetsPagination): string {
  const named = [
    ["prev", pages.previous_page],
    ["next", pages.next_page],
    ["last", pages.last_page],
  ] as const;
  return named
    .filter(([, page]) => page !== null)
    .map(([rel, page]) => `<${address}?page=${page}&per_page=${per_page}>; rel="${rel}"`)
    .join(", ");
}

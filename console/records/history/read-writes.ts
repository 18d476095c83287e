import type { WritePage } from "../../../src/contract/console.ts";
import { asAscii } from "../../../src/core/names/unicode.ts";
import type { Request } from "../../shared/live/request.ts";

/** As in the page's URL; empty: not filtered. */
export type HistoryFilter = Readonly<Record<(typeof filterKeys)[number], string>>;
export const filterKeys = ["name", "type", "who", "until"] as const;

export const filterIn = (query: URLSearchParams): HistoryFilter => ({
  name: query.get("name") ?? "",
  type: query.get("type") ?? "",
  who: query.get("who") ?? "",
  until: query.get("until") ?? "",
});

export const isFiltered = (filter: HistoryFilter): boolean => filterKeys.some((key) => filter[key] !== "");

export function readWrites(
  request: Request,
  zone: string,
  { name, type, who, until }: HistoryFilter,
  before: number | null,
): Promise<WritePage> {
  const { owner, isWhole } = ownerOf(name, zone);
  const query = new URLSearchParams({ type, who: who.trim(), name: owner, until: endOfDay(until) });
  if (isWhole) query.set("whole", "");
  if (before !== null) query.set("before", String(before));
  return request("GET", `/console/zones/${encodeURIComponent(zone)}/writes?${query}`);
}

/**
 * Names in the history are relative to the zone. A name that ends with the zone's is a whole name; any other may be a
 * part of one.
 */
function ownerOf(typed: string, zone: string): { readonly owner: string; readonly isWhole: boolean } {
  const name = asAscii(typed.trim().toLowerCase()).replace(/\.$/, "");
  if (name === zone) return { owner: "@", isWhole: true };
  return name.endsWith(`.${zone}`)
    ? { owner: name.slice(0, -zone.length - 1), isWhole: true }
    : { owner: name, isWhole: false };
}

/** The end of a date such as `2026-11-17` in the reader's time zone. */
function endOfDay(date: string): string {
  const end = new Date(`${date}T23:59:59.999`);
  return Number.isNaN(end.getTime()) ? "" : end.toISOString();
}

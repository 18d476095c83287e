import type { ChangedSet, ChangeEvent } from "../../src/contract/change-events.ts";
import type { Rrset, RrsetsPagination, RrsetsZone, WireAction } from "../../src/contract/rrsets.ts";
import { type Method, type Request, RequestProblem } from "../shared/live/request.ts";
import { nameHolds, searchedZone } from "./sets/shown-name.ts";

/** The calls of the record-set API that the console makes. */

export const zonePath = (zone: string): string => `/v1/zones/${encodeURIComponent(zone)}`;
export const setPath = (zone: string, name: string, type: string): string =>
  `${zonePath(zone)}/rrsets/${encodeURIComponent(name)}/${type}`;

type WithAction = { readonly action?: Pick<WireAction, "id" | "status" | "error"> };

/** Milliseconds between two looks at an action that is running. */
const lookEvery = 1_000;

/** A write to a whole zone. If the zone is large, the service continues after its answer; this waits for the end. */
export async function writeZone<T>(request: Request, method: Method, path: string, body?: unknown): Promise<T> {
  const answer = await request<T & WithAction>(method, path, body);
  let { action } = answer;
  while (action?.status === "running") {
    await new Promise((resolve) => setTimeout(resolve, lookEvery));
    ({ action } = await request<WithAction>("GET", `/v1/actions/${action.id}`));
  }
  if (action?.status === "error") throw new RequestProblem(422, action.error?.message ?? "The change failed.");
  return answer;
}

export type ZonePage = {
  readonly zones: readonly RrsetsZone[];
  readonly meta: { readonly pagination: RrsetsPagination };
};
type SetPage = { readonly rrsets: readonly Rrset[]; readonly meta: { readonly pagination: LastPage } };
type LastPage = Pick<RrsetsPagination, "last_page">;
export type HistoryPage = {
  readonly history: readonly ChangeEvent[];
  readonly meta: { readonly next_before: number | null; readonly rest_of_write: number | null };
};

const zonesPerPage = 50;
/** What is shown first of a zone. */
const fewSets = 100;
const atOnce = 6;

function readZones(request: Request, search: string, page: number): Promise<ZonePage> {
  const query = new URLSearchParams({ sort: "name", page: String(page), per_page: String(zonesPerPage) });
  if (search !== "") query.set("search", search);
  return request("GET", `/v1/zones?${query}`);
}

/**
 * Zones that contain the text only in their Unicode name. The ASCII form of a label says nothing about the form of its
 * parts, so the service cannot search for it, and all names with non-ASCII letters are searched here.
 */
async function readZonesShownAs(request: Request, text: string): Promise<readonly RrsetsZone[]> {
  const pages = await everyPage((page) => readZones(request, "xn--", page), 20);
  return pages.flatMap(({ zones }) => zones.filter(({ name }) => !name.includes(text) && nameHolds(name, text)));
}

/** The few zones that match only by their Unicode name come first. */
export async function findZones(request: Request, search: string, page: number): Promise<ZonePage> {
  const text = searchedZone(search);
  if (text === "" || page > 1) return readPageOrLast(request, text, page);
  const [found, more] = await Promise.all([readZones(request, text, page), readZonesShownAs(request, text)]);
  return { ...found, zones: [...more, ...found.zones] };
}

/** A link or bookmark may ask for a page that no longer exists, because zones were deleted. */
async function readPageOrLast(request: Request, text: string, page: number): Promise<ZonePage> {
  const found = await readZones(request, text, page);
  const { last_page } = found.meta.pagination;
  return page > last_page ? readZones(request, text, Math.max(1, last_page)) : found;
}

export const readZone = async (request: Request, zone: string): Promise<RrsetsZone> =>
  (await request<{ zone: RrsetsZone }>("GET", zonePath(zone))).zone;

export const readFewSets = async (request: Request, zone: string): Promise<readonly Rrset[]> =>
  (await request<SetPage>("GET", `${zonePath(zone)}/rrsets?page=1&per_page=${fewSets}`)).rrsets;

/** A set that moves down because another was added in the meantime may be on two pages. */
export async function readEverySet(request: Request, zone: string): Promise<readonly Rrset[]> {
  const path = `/console/zones/${encodeURIComponent(zone)}/rrsets`;
  const pages = await everyPage<SetPage>((page) => request("GET", `${path}?page=${page}`));
  return [...new Map(pages.flatMap(({ rrsets }) => rrsets.map((set) => [set.id, set]))).values()];
}

/** Undefined if there is none. */
export async function readSet(
  request: Request,
  zone: string,
  { name, type }: Pick<Rrset, "name" | "type">,
): Promise<Rrset | undefined> {
  try {
    return (await request<{ rrset: Rrset }>("GET", setPath(zone, name, type))).rrset;
  } catch (error) {
    if (error instanceof RequestProblem && error.status === 404) return undefined;
    throw error;
  }
}

/** All sets of one name. */
export const readSetsAt = async (request: Request, zone: string, name: string): Promise<readonly Rrset[]> =>
  (await request<SetPage>("GET", `${zonePath(zone)}/rrsets?name=${encodeURIComponent(name)}`)).rrsets;

export function readHistory(request: Request, zone: string, before: number | null): Promise<HistoryPage> {
  const query = before === null ? "" : `&before=${before}`;
  return request("GET", `${zonePath(zone)}/history?per_page=100${query}`);
}

/** The first page says how many there are; the others are fetched a few at a time. */
async function everyPage<T extends { readonly meta: { readonly pagination: LastPage } }>(
  read: (page: number) => Promise<T>,
  most = 1_000,
): Promise<readonly T[]> {
  const first = await read(1);
  const last = Math.min(most, first.meta.pagination.last_page);
  const pages: T[] = [first];
  let next = 2;
  const worker = async () => {
    while (next <= last) {
      const page = next++;
      pages[page - 1] = await read(page);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return pages;
}

/** The set in an event, in the shape of a list entry. */
export function setFromEvent({ zone, name, type, after }: ChangeEvent): Rrset | undefined {
  if (name === null || type === null || after === null || !("records" in after)) return undefined;
  const { ttl, labels, protection, records }: ChangedSet = after;
  return { id: `${name}/${type}`, name, type, ttl, labels, protection, records, zone: zone.id };
}

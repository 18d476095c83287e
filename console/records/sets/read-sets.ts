import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ChangeEvent } from "../../../src/contract/change-events.ts";
import { setsPerConsolePage } from "../../../src/contract/console.ts";
import type { RrsetsZone } from "../../../src/contract/rrsets.ts";
import type { Request } from "../../shared/live/request.ts";
import { useSession } from "../../shared/session/session.tsx";
import { readEverySet, readHistory, readZone, setFromEvent } from "../api.ts";
import { putSets, type ZoneSets } from "./put-sets.ts";

/** Beyond this many pages of history it is quicker to read the whole zone. */
const mostPages = 5;

export function useEverySet(zone: RrsetsZone) {
  const { request } = useSession();
  return useQuery({ ...everySet(request, useQueryClient(), zone), staleTime: 60_000 });
}

/** Reads the sets again and returns what `useEverySet` has from then on: the same object if nothing has changed. */
export function useSetsNow(zone: RrsetsZone): () => Promise<ZoneSets | undefined> {
  const { request } = useSession();
  const queries = useQueryClient();
  return async () => {
    const read = everySet(request, queries, zone);
    // A read that has already begun may be retried for as long as the service is down.
    await queries.cancelQueries({ queryKey: read.queryKey });
    await queries.fetchQuery({ ...read, staleTime: 0, retry: false });
    return queries.getQueryData<ZoneSets>(read.queryKey);
  };
}

function everySet(request: Request, queries: QueryClient, zone: RrsetsZone) {
  const queryKey = ["sets", zone.name];
  return { queryKey, queryFn: () => readSets(request, zone, queries.getQueryData<ZoneSets>(queryKey)) };
}

/** All sets of a zone. If they were read before, only the changes since then are fetched. `zone` may be out of date. */
async function readSets(request: Request, zone: RrsetsZone, before: ZoneSets | undefined): Promise<ZoneSets> {
  if (before === undefined) return readWhole(request, zone.name, zone.serial);
  const caughtUp = await catchUp(request, zone.name, before);
  return caughtUp ?? readWhole(request, zone.name, (await readZone(request, zone.name)).serial);
}

/**
 * A set that is added or deleted meanwhile shifts all that follow, and one may be missed between two pages: then all
 * are read again.
 */
async function readWhole(request: Request, zone: string, asOf: number, tries = 3): Promise<ZoneSets> {
  const sets = await readEverySet(request, zone);
  if (sets.length < setsPerConsolePage || tries === 1) return { sets, asOf };
  const { history } = await readHistory(request, zone, null);
  const since = history.filter(({ serial }) => serial > asOf);
  const newest = since[0]?.serial;
  const maySlip = since.length === history.length || since.some(({ kind }) => kind === "create" || kind === "delete");
  return newest !== undefined && maySlip ? readWhole(request, zone, newest, tries - 1) : { sets, asOf };
}

/** Undefined if there are too many changes, or the history does not go back far enough. */
async function catchUp(request: Request, zone: string, before: ZoneSets): Promise<ZoneSets | undefined> {
  const changes: ChangeEvent[] = [];
  let next: number | null = null;
  for (let page = 0; page < mostPages; page++) {
    const { history, meta }: Awaited<ReturnType<typeof readHistory>> = await readHistory(request, zone, next);
    const firstRead = history.findIndex(({ serial }) => serial <= before.asOf);
    changes.push(...(firstRead < 0 ? history : history.slice(0, firstRead)));
    if (firstRead >= 0) {
      const asOf = changes[0]?.serial ?? history[firstRead]?.serial;
      return isSameZone(history, before) && asOf !== undefined && asOf >= before.asOf
        ? { ...withChanges(before, changes.toReversed()), asOf }
        : undefined;
    }
    if (meta.next_before === null) return undefined;
    next = meta.next_before;
  }
  return undefined;
}

/** A zone may be deleted and created again with the same name. */
const isSameZone = (history: readonly ChangeEvent[], { sets }: ZoneSets): boolean =>
  history[0]?.zone.id === sets[0]?.zone;

/** `changes` are in the order in which they were made. */
export const withChanges = (sets: ZoneSets, changes: readonly ChangeEvent[]): ZoneSets =>
  putSets(
    sets,
    changes
      .filter(({ kind }) => kind !== "settings")
      .map((change) => ({ id: `${change.name}/${change.type}`, set: setFromEvent(change) })),
    changes.at(-1)?.serial,
  );

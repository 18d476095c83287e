import { type QueryClient, type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import type { ChangeEvent } from "../../../src/contract/change-events.ts";
import { type LiveState, useLive } from "../../shared/live/live.ts";
import type { ZoneSets } from "./put-sets.ts";
import { withChanges } from "./read-sets.ts";

/**
 * Milliseconds. A large import causes thousands of events: after the first, those within this time are applied
 * together.
 */
const gathering = 200;

/** Keeps everything on the page up to date with the service. */
export function useLiveRecords(): LiveState | undefined {
  const queries = useQueryClient();
  const gathered = useRef<ChangeEvent[]>(undefined);
  const takeAndGather = (events: readonly ChangeEvent[]) => {
    gathered.current = [];
    take(queries, events);
    setTimeout(() => {
      const { current: later = [] } = gathered;
      gathered.current = undefined;
      if (later.length > 0) takeAndGather(later);
    }, gathering);
  };
  const heard = (event: ChangeEvent | undefined) => {
    if (event?.zone === undefined) return;
    if (gathered.current === undefined) takeAndGather([event]);
    else gathered.current.push(event);
  };
  return useLive({
    path: "/v1/events",
    names: ["message", "change", "cut"],
    onEvent: (data, name) => (name === "cut" ? readAgain(queries) : heard(data as ChangeEvent)),
    onOpen: () => readAgain(queries),
  });
}

/** Data that is not shown now is dropped: the next event would make it look current. */
function readAgain(queries: QueryClient): void {
  queries.removeQueries({ queryKey: ["sets"], type: "inactive" });
  invalidate(queries, []);
}

function take(queries: QueryClient, events: readonly ChangeEvent[]): void {
  for (const [zone, changes] of Map.groupBy(events, (event) => event.zone.name)) {
    putInto(queries, zone, changes);
    for (const key of ["zone", "history"]) invalidate(queries, [key, zone]);
    void queries.invalidateQueries({ queryKey: ["first-sets", zone], refetchType: "none" });
  }
  for (const key of ["zones", "overview"]) invalidate(queries, [key]);
}

/**
 * Invalidating does not repeat the first read of a query while it runs, and its result may be older than the change: it
 * is repeated afterwards.
 */
function invalidate(queries: QueryClient, queryKey: QueryKey): void {
  const begun = queries.getQueryCache().findAll({ queryKey, fetchStatus: "fetching" });
  for (const { queryKey: exactly, state, promise } of begun) {
    // Once, however many changes have arrived by then.
    const repeat = () => void queries.invalidateQueries({ queryKey: exactly }, { cancelRefetch: false });
    if (state.data === undefined) after(promise, repeat);
  }
  void queries.invalidateQueries({ queryKey });
}

/** Applied a second time after a read that is still running, whose result may be older than the changes. */
function putInto(queries: QueryClient, zone: string, changes: readonly ChangeEvent[]): void {
  const queryKey = ["sets", zone];
  const put = () => void queries.setQueryData<ZoneSets>(queryKey, (sets) => sets && withChanges(sets, changes));
  put();
  const [begun] = queries.getQueryCache().findAll({ queryKey, fetchStatus: "fetching" });
  after(begun?.promise, put);
}

function after(read: Promise<unknown> | undefined, then: () => void): void {
  void read?.then(then, () => undefined);
}

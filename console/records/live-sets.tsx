import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import type { ChangeEvent } from "../../src/contract/change-events.ts";
import type { Rrset } from "../../src/contract/rrsets.ts";
import { type LiveState, useLive } from "../shared/live.ts";
import { setFromEvent } from "./api.ts";
import { putSets } from "./put-sets.ts";

/** Milliseconds. A large import is thousands of events in a moment: behind the first, all that come so soon are taken together. */
const gathering = 200;

/** Keeps everything on the page as the service has it. */
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
  return useLive(
    "/v1/events",
    ["message", "change"],
    (data) => heard(data as ChangeEvent),
    () => void queries.invalidateQueries(),
  );
}

function take(queries: QueryClient, events: readonly ChangeEvent[]): void {
  for (const [zone, changes] of Map.groupBy(events, (event) => event.zone.name)) {
    const ofSets = changes.filter(({ kind }) => kind !== "settings");
    if (ofSets.length > 0)
      queries.setQueryData<readonly Rrset[]>(["sets", zone], (sets) => sets && withChanges(sets, ofSets));
    for (const key of ["zone", "history"]) void queries.invalidateQueries({ queryKey: [key, zone] });
    void queries.invalidateQueries({ queryKey: ["first-sets", zone], refetchType: "none" });
  }
  void queries.invalidateQueries({ queryKey: ["zones"] });
}

const withChanges = (sets: readonly Rrset[], events: readonly ChangeEvent[]): readonly Rrset[] =>
  putSets(
    sets,
    events.map((event) => ({ id: `${event.name}/${event.type}`, set: setFromEvent(event) })),
    events.at(-1)?.serial,
  );

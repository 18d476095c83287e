import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import type { ChangeEvent } from "../../src/contract/change-events.ts";
import type { Rrset } from "../../src/contract/rrsets.ts";
import { type LiveState, useLive } from "../shared/live.ts";
import { setFromEvent } from "./api.ts";

/** Keeps everything on the page as the service has it. */
export function useLiveRecords(): LiveState {
  const queries = useQueryClient();
  return useLive(
    "/v1/events",
    ["message", "change"],
    (data) => take(queries, data as ChangeEvent),
    () => void queries.invalidateQueries(),
  );
}

/** The one set that changed is put in its place; a zone of 10,000 sets is not read again for it. */
function take(queries: QueryClient, event: ChangeEvent | undefined): void {
  if (event?.zone === undefined) return;
  const zone = event.zone.name;
  if (event.kind !== "settings") {
    queries.setQueryData<readonly Rrset[]>(["sets", zone], (sets) => sets && withChange(sets, event));
    if (event.type === "SOA" && event.kind !== "replace") void queries.invalidateQueries({ queryKey: ["zones"] });
  }
  for (const key of ["zone", "history"]) void queries.invalidateQueries({ queryKey: [key, zone] });
  void queries.invalidateQueries({ queryKey: ["first-sets", zone], refetchType: "none" });
  void queries.invalidateQueries({ queryKey: ["zones"], refetchType: "active" });
}

function withChange(sets: readonly Rrset[], event: ChangeEvent): readonly Rrset[] {
  return withOneChange(sets, event).map((set) => (set.type === "SOA" ? withSerial(set, event.serial) : set));
}

/** Every write raises it, and only the first change of a write says so. */
const withSerial = (soa: Rrset, serial: number): Rrset => ({
  ...soa,
  records: soa.records.map((record) => ({
    ...record,
    value: record.value.split(" ").with(2, String(serial)).join(" "),
  })),
});

function withOneChange(sets: readonly Rrset[], event: ChangeEvent): readonly Rrset[] {
  const id = `${event.name}/${event.type}`;
  const after = setFromEvent(event);
  const at = sets.findIndex((set) => set.id === id);
  if (at < 0) return after === undefined ? sets : [...sets, after];
  return after === undefined ? sets.toSpliced(at, 1) : sets.with(at, after);
}

import { Button, Group, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useDeferredValue, useMemo, useState } from "react";
import type { Rrset, RrsetsZone } from "../../../src/contract/rrsets.ts";
import { isRecordType, recordTypes } from "../../../src/core/rdata/table.ts";
import { counted } from "../../shared/counted.ts";
import { lazyPart } from "../../shared/live/lazy-part.tsx";
import { Problem } from "../../shared/live/problem.tsx";
import { ServiceGoneNote } from "../../shared/live/service-gone.tsx";
import { useLongWait } from "../../shared/live/waiting.tsx";
import { useSearchPart } from "../../shared/search-part.ts";
import { useSession } from "../../shared/session/session.tsx";
import { readSetPage } from "../api.ts";
import { filterSets, type SortBy, sortSets } from "./order-sets.ts";
import { useEverySet } from "./read-sets.ts";
import { SetRows } from "./set-rows.tsx";

const SetForm = lazyPart(() => import("./set-form.tsx"));

/** The first page is shown immediately; the rest of a large zone follows. */
function useSets(zone: RrsetsZone) {
  const { request } = useSession();
  const all = useEverySet(zone);
  const first = useQuery({
    queryKey: ["first-sets", zone.name],
    queryFn: async () => (await readSetPage(request, zone.name, 1)).rrsets,
    staleTime: 0,
  });
  return {
    sets: all.data?.sets ?? first.data,
    whole: all.data !== undefined,
    error: all.error,
    retry: () => void all.refetch(),
  };
}

export function SetTable({ zone }: { readonly zone: RrsetsZone }) {
  const { sets, whole, error, retry } = useSets(zone);
  const { query, set, open } = useSearchPart();
  const [text, setText] = useState(query.get("filter") ?? "");
  const wanted = useDeferredValue(text);
  const type = query.get("type") ?? "";
  const by = (query.get("sort") ?? "name") as SortBy;
  const descending = query.has("descending");
  const rows = useMemo(
    () => sortSets(filterSets(sets ?? [], wanted, type), by, descending),
    [sets, wanted, type, by, descending],
  );
  const isSlow = useLongWait(!whole && error === null);
  const edited = query.get("edit");
  const adding = query.get("add");
  const showAll = () => {
    setText("");
    set({ filter: null, type: null });
  };
  const sortBy = (next: SortBy) =>
    set({ sort: next === "name" ? null : next, descending: next === by && !descending ? "" : null });

  return (
    <>
      <Group gap="xs" mb="xs">
        <TextInput
          type="search"
          aria-label="Filter records"
          placeholder="Filter by name, value or comment"
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            set({ filter: event.currentTarget.value || null });
          }}
          style={{ flex: "1 1 14rem" }}
        />
        <Select
          aria-label="Type"
          placeholder="All types"
          data={typesIn(sets ?? [])}
          value={type || null}
          onChange={(value) => set({ type: value })}
          clearable
          clearButtonProps={{ "aria-label": "All types" }}
          w="8.5rem"
        />
        <Button onClick={() => open({ add: "A" })} disabled={zone.mode === "secondary"}>
          Add record
        </Button>
      </Group>
      <Problem error={error} retry={retry} />
      {isSlow && <ServiceGoneNote />}
      <p className="quiet" role="status" style={{ margin: "0 0 0.25rem", fontSize: "0.8125rem" }}>
        {summary(rows.length, sets?.length, whole, error !== null)}
        {!whole && (edited !== null || adding !== null) && " The form opens when all records are loaded."}
      </p>
      {sets && whole && rows.length === 0 ? (
        <NoMatch text={wanted.trim()} type={type} onClear={showAll} />
      ) : (
        sets && <SetRows rows={rows} zone={zone} by={by} descending={descending} onSort={sortBy} />
      )}
      {sets && whole && (edited !== null || adding !== null) && (
        <Suspense>
          <SetForm
            key={edited ?? "new"}
            zone={zone}
            sets={sets}
            asked={edited}
            edited={edited === null ? undefined : sets.find(({ id }) => id === edited)}
            type={isRecordType(adding ?? "") ? (adding ?? "A") : "A"}
            onClose={() => set({ edit: null, add: null })}
          />
        </Suspense>
      )}
    </>
  );
}

function NoMatch(props: { readonly text: string; readonly type: string; readonly onClear: () => void }) {
  const { text, type } = props;
  return (
    <p className="quiet">
      No records match{text && ` “${text}”`}
      {text && type && " and"}
      {type && ` type ${type}`}.{" "}
      <button type="button" className="as-link" onClick={props.onClear}>
        Show all records
      </button>
    </p>
  );
}

const typesIn = (sets: readonly Rrset[]): string[] => {
  const present = new Set(sets.map(({ type }) => type));
  return [
    ...recordTypes.filter((type) => present.has(type)),
    ...[...present].filter((type) => type.startsWith("TYPE")),
  ];
};

function summary(shown: number, all: number | undefined, whole: boolean, failed: boolean): string {
  if (all === undefined) return failed ? "The record sets could not be loaded." : "Loading…";
  const count = counted(all, "record set");
  if (!whole) return `The first ${count}; ${failed ? "the rest could not be loaded." : "loading the rest…"}`;
  return shown === all ? count : `${shown.toLocaleString("en-GB")} of ${count}`;
}

import { Group, Skeleton } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useDeferredValue, useEffect, useMemo, useState } from "react";
import type { Rrset, RrsetsZone } from "../../../src/contract/rrsets.ts";
import { isRecordType } from "../../../src/core/rdata/table.ts";
import { counted } from "../../shared/counted.ts";
import { lazyPart } from "../../shared/live/lazy-part.tsx";
import { Problem } from "../../shared/live/problem.tsx";
import { ServiceGoneNote } from "../../shared/live/service-gone.tsx";
import { TypeAhead } from "../../shared/live/type-ahead.tsx";
import { useLongWait } from "../../shared/live/waiting.tsx";
import { useSearchPart } from "../../shared/search-part.ts";
import { useSession } from "../../shared/session/session.tsx";
import { readFewSets, readSet } from "../api.ts";
import { FileButtons } from "./file-buttons.tsx";
import { filterSets, type SortBy, sortSets } from "./order-sets.ts";
import { useEverySet } from "./read-sets.ts";
import { SetRows } from "./rows/set-rows.tsx";
import { SetToolbar } from "./set-toolbar.tsx";

const loadForm = () => import("./form/set-form.tsx");
const SetForm = lazyPart(loadForm);
const SelectionBar = lazyPart(() => import("./many/selection-bar.tsx"));

/** The first page is shown immediately; the rest of a large zone follows. */
function useSets(zone: RrsetsZone) {
  const { request } = useSession();
  const all = useEverySet(zone);
  const first = useQuery({
    queryKey: ["first-sets", zone.name],
    queryFn: () => readFewSets(request, zone.name),
    staleTime: 0,
  });
  return {
    sets: all.data?.sets ?? first.data,
    whole: all.data !== undefined,
    error: all.error,
    retry: () => void all.refetch(),
  };
}

/**
 * The sets that a form needs. Its own is read alone if it is not among those that are loaded: the form need not wait
 * for the others.
 */
function useFormSets(zone: RrsetsZone, id: string | null, loaded: readonly Rrset[] | undefined, whole: boolean) {
  const { request } = useSession();
  const [, name = "", type = ""] = /^(.*)\/(.*)$/.exec(id ?? "") ?? [];
  const isMissing = id !== null && loaded?.every((set) => set.id !== id) !== false;
  const own = useQuery({
    queryKey: ["form-set", zone.name, id],
    queryFn: async () => ({ set: await readSet(request, zone.name, { name, type }) }),
    enabled: isMissing && !whole,
    staleTime: 0,
    gcTime: 0,
  });
  if (whole || id === null || !isMissing) return loaded ?? [];
  if (own.data === undefined) return undefined;
  return own.data.set ? [...(loaded ?? []), own.data.set] : (loaded ?? []);
}

export function SetTable({ zone }: { readonly zone: RrsetsZone }) {
  const { sets, whole, error, retry } = useSets(zone);
  const { query, set, open } = useSearchPart();
  const [text, setText] = useState(query.get("filter") ?? "");
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const wanted = useDeferredValue(text);
  const type = query.get("type") ?? "";
  const by = (query.get("sort") ?? "name") as SortBy;
  const descending = query.has("descending");
  const sorted = useMemo(() => sortSets(sets ?? [], by, descending), [sets, by, descending]);
  const rows = useMemo(() => filterSets(sorted, wanted, type), [sorted, wanted, type]);
  const narrow = useMediaQuery("(max-width: 40rem)", false, { getInitialValueInEffect: false });
  const isSlow = useLongWait(!whole && error === null);
  const setFilter = (next: string) => {
    setText(next);
    set({ filter: next || null });
  };
  const showAll = () => {
    setText("");
    set({ filter: null, type: null });
  };
  const sortBy = (next: SortBy) =>
    set({ sort: next === "name" ? null : next, descending: next === by && !descending ? "" : null });
  return (
    <>
      <SetToolbar
        zone={zone}
        sets={sets ?? []}
        text={text}
        onText={setFilter}
        type={type}
        onType={(next) => set({ type: next })}
        onAdd={() => open({ add: "A" })}
        isNarrow={narrow}
      />
      <Problem error={error} retry={retry} />
      {isSlow && <ServiceGoneNote />}
      <AboveSets {...{ zone, sets, rows, whole, selected, narrow }} failed={error !== null} onSelect={setSelected} />
      {sets === undefined && error === null && !isSlow && <Skeleton h={240} mt="xs" aria-hidden />}
      {sets && whole && rows.length === 0 ? (
        <NoMatch text={wanted.trim()} type={type} onClear={showAll} />
      ) : (
        sets && (
          <SetRows {...{ rows, sets, zone, by, descending, selected, narrow }} onSort={sortBy} onSelect={setSelected} />
        )
      )}
      <OpenForm zone={zone} sets={sets} whole={whole} />
    </>
  );
}

/** How many sets are shown, and what can be done with the selected ones. */
function AboveSets(props: {
  readonly zone: RrsetsZone;
  readonly sets: readonly Rrset[] | undefined;
  readonly rows: readonly Rrset[];
  readonly whole: boolean;
  readonly failed: boolean;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (selected: ReadonlySet<string>) => void;
  readonly narrow: boolean;
}) {
  const { zone, sets, rows, whole, selected, narrow } = props;
  const chosen = useMemo(
    () => (selected.size === 0 ? [] : (sets ?? []).filter(({ id }) => selected.has(id))),
    [sets, selected],
  );
  return (
    <Group justify="space-between" gap="xs" className="above-sets">
      {(narrow || chosen.length === 0) && (
        <p className="quiet" role="status" style={{ margin: 0, fontSize: "0.8125rem" }}>
          {summary(rows.length, sets?.length, whole, props.failed)}
        </p>
      )}
      {chosen.length > 0 && whole && (
        <Suspense>
          <SelectionBar
            zone={zone}
            chosen={chosen}
            hidden={chosen.length - rows.filter(({ id }) => selected.has(id)).length}
            onClear={() => props.onSelect(new Set())}
          />
        </Suspense>
      )}
      {narrow && <FileButtons zone={zone} size="compact-sm" />}
    </Group>
  );
}

/** The form of the set in the URL, if there is one. */
function OpenForm(props: {
  readonly zone: RrsetsZone;
  readonly sets: readonly Rrset[] | undefined;
  readonly whole: boolean;
}) {
  const { zone, sets, whole } = props;
  const { query, set } = useSearchPart();
  const [edited, adding, like] = [query.get("edit"), query.get("add"), query.get("like")];
  const isOpen = edited !== null || adding !== null;
  const formSets = useFormSets(zone, isOpen ? (edited ?? like) : null, sets, whole);
  const find = (id: string | null) => (id === null ? undefined : formSets?.find((each) => each.id === id));
  useEffect(() => void loadForm(), []);
  if (!isOpen) return null;
  if (formSets === undefined) return <TypeAhead />;
  return (
    <Suspense fallback={<TypeAhead />}>
      <SetForm
        key={edited ?? "new"}
        zone={zone}
        sets={formSets}
        asked={edited}
        edited={find(edited)}
        like={find(like)}
        type={isRecordType(adding ?? "") ? (adding ?? "A") : "A"}
        onClose={() => set({ edit: null, add: null, like: null })}
      />
    </Suspense>
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

function summary(shown: number, all: number | undefined, whole: boolean, failed: boolean): string {
  if (all === undefined) return failed ? "The record sets could not be loaded." : "Loading…";
  const count = counted(all, "record set");
  if (!whole) return `The first ${count}; ${failed ? "the rest could not be loaded." : "loading the rest…"}`;
  return shown === all ? count : `${shown.toLocaleString("en-GB")} of ${count}`;
}

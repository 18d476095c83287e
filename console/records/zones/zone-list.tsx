import { Button, Group, TextInput, Title } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Suspense, useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import type { RrsetsZone } from "../../../src/contract/rrsets.ts";
import { counted } from "../../shared/counted.ts";
import { withKey } from "../../shared/keys/key-use.ts";
import { ListTable, Pages, readPage } from "../../shared/list-table.tsx";
import { lazyPart } from "../../shared/live/lazy-part.tsx";
import { Loading } from "../../shared/live/loading.tsx";
import { ServiceGoneNote } from "../../shared/live/service-gone.tsx";
import { TypeAhead } from "../../shared/live/type-ahead.tsx";
import { useLongWait } from "../../shared/live/waiting.tsx";
import { NameText } from "../../shared/name-text.tsx";
import { useSearchPart } from "../../shared/search-part.ts";
import { useSession } from "../../shared/session/session.tsx";
import { durationInWords } from "../../shared/time/words-of-time.ts";
import { findZones, type ZonePage } from "../api.ts";
import { dnssecBadge } from "./dnssec-badge.ts";
import { FirstSteps } from "./first-steps.tsx";
import { zoneAddress } from "./zone-address.ts";

const NewZone = lazyPart(() => import("./new-zone.tsx"));

/** All zones, or the first steps if there are none. */
export function ZoneList() {
  const { request } = useSession();
  const { query, set, open } = useSearchPart();
  const [search, page] = [query.get("search") ?? "", readPage(query)];
  const zones = useQuery({
    queryKey: ["zones", search, page],
    queryFn: () => findZones(request, search, page),
    placeholderData: keepPreviousData,
  });
  const adding = query.has("new");
  const turnTo = (next: number) => open({ page: next === 1 ? null : String(next) });
  const found = zones.data;
  const isSlow = useLongWait(zones.isPlaceholderData);
  const none = found?.meta.pagination.total_entries === 0 && !zones.isPlaceholderData;

  return (
    <>
      {none && search === "" ? (
        <FirstSteps />
      ) : (
        <>
          <Group justify="space-between" mb="sm">
            <Title order={1}>Zones</Title>
            <Group gap="xs">
              <SearchBox value={search} onChange={(text) => set({ search: text || null, page: null })} />
              <Button onClick={() => open({ new: "" })} {...withKey("n")}>
                New zone
              </Button>
            </Group>
          </Group>
          <Loading of={zones} height={200} />
          {found && <ZoneTable zones={found.zones} />}
          {isSlow && <ServiceGoneNote />}
          {found && (
            <p className="quiet" role="status" style={{ fontSize: "0.8125rem" }}>
              {zones.isPlaceholderData ? "Searching…" : summary(found, search)}
            </p>
          )}
          {found && (
            <Pages last={found.meta.pagination.last_page} page={found.meta.pagination.page} onChange={turnTo} />
          )}
        </>
      )}
      {adding && (
        <Suspense fallback={<TypeAhead />}>
          <NewZone onClose={() => set({ new: null })} />
        </Suspense>
      )}
    </>
  );
}

function SearchBox({ value, onChange }: { readonly value: string; readonly onChange: (text: string) => void }) {
  const [text, setText] = useState(value);
  const reported = useRef(value);
  const report = useDebouncedCallback((typed: string) => {
    reported.current = typed;
    onChange(typed);
  }, 200);
  // A link has changed or cleared the search.
  useEffect(() => {
    if (value === reported.current) return;
    reported.current = value;
    setText(value);
  }, [value]);
  return (
    <TextInput
      type="search"
      aria-label="Search zones"
      {...withKey("/")}
      placeholder="Search zones"
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        report(event.currentTarget.value.trim());
      }}
    />
  );
}

function summary({ zones, meta }: ZonePage, search: string): string {
  if (search === "") return counted(meta.pagination.total_entries, "zone");
  return zones.length === 0 ? `No zone name contains “${search}”.` : "";
}

function ZoneTable({ zones }: { readonly zones: readonly RrsetsZone[] }) {
  if (zones.length === 0) return null;
  return (
    <ListTable heads={["Name", { text: "Records", className: "number" }, "Default TTL", "Serial", "Notes"]}>
      {zones.map((zone) => (
        <tr key={zone.id}>
          <td className="breaks">
            <Link href={zoneAddress(zone.name)}>
              <NameText name={zone.name} />
            </Link>
            <Badge of={zone} />
          </td>
          <td data-label="Records" className="number">
            {zone.record_count.toLocaleString("en-GB")}
          </td>
          <td data-label="Default TTL">{durationInWords(zone.ttl * 1_000)}</td>
          <td data-label="Serial" className="mono nowrap">
            {zone.serial}
          </td>
          <td data-label="Notes">{notesOf(zone) || "—"}</td>
        </tr>
      ))}
    </ListTable>
  );
}

function Badge({ of }: { readonly of: RrsetsZone }) {
  const badge = dnssecBadge(of);
  return (
    badge && (
      <Link href={zoneAddress(of.name, "dnssec")} className={`badge ${badge.tone}`}>
        {badge.text}
      </Link>
    )
  );
}

const notesOf = ({ mode, protection, labels }: RrsetsZone): string =>
  [
    mode === "secondary" && "secondary",
    protection.delete && "protected",
    ...Object.entries(labels).map((pair) => pair.join("=")),
  ]
    .filter(Boolean)
    .join(", ");

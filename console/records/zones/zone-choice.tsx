import { MultiSelect } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { useSession } from "../../shared/session/session.tsx";
import { findZones } from "../api.ts";
import { nameHolds, searchedZone } from "../sets/shown-name.ts";

/** A choice among all zones: the first few, and those whose names contain the typed text. */
export function ZoneChoice(props: {
  readonly label: string;
  readonly placeholder: string;
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}) {
  const { request } = useSession();
  const [typed, setTyped] = useState("");
  const text = searchedZone(typed);
  const [asked] = useDebouncedValue(text, 200);
  const zones = useQuery({
    queryKey: ["zones", "choice", asked],
    queryFn: () => findZones(request, asked, 1),
    placeholderData: keepPreviousData,
  });
  const found = new Set(zones.data?.zones.map(({ name }) => name).filter((name) => nameHolds(name, text)));
  const isLooking = asked !== text || zones.isPlaceholderData || zones.isPending;
  return (
    <MultiSelect
      label={props.label}
      placeholder={props.chosen.length === 0 ? props.placeholder : ""}
      data={[...found.union(new Set(props.chosen))].map((zone) => ({ value: zone, label: nameToUnicode(zone) }))}
      filter={({ options }) => options.filter((option) => "value" in option && found.has(option.value))}
      value={[...props.chosen]}
      onChange={props.onChange}
      searchValue={typed}
      onSearchChange={setTyped}
      searchable
      error={zones.error && `The zones could not be loaded. ${zones.error.message}`}
      nothingFoundMessage={isLooking ? "searching…" : zones.error ? "unknown" : "no matching zone"}
    />
  );
}

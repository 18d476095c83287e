import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { RrsetsZone } from "../../../src/contract/rrsets.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { MultiChoice } from "../../shared/choice/multi-choice.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { findZones } from "../api.ts";
import { nameHolds, searchedZone } from "../sets/shown-name.ts";

/** A choice among all zones: the first few, and those whose names contain the typed text. */
export function ZoneChoice(props: {
  readonly label: string;
  readonly description?: string;
  readonly placeholder: string;
  /** Which zones can be chosen; all if it is missing. */
  readonly mayChoose?: (zone: RrsetsZone) => boolean;
  readonly error?: string | false;
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}) {
  const { request } = useSession();
  const [typed, setTyped] = useState("");
  const text = searchedZone(typed);
  const [searchText] = useDebouncedValue(text, 200);
  const zones = useQuery({
    queryKey: ["zones", "choice", searchText],
    queryFn: () => findZones(request, searchText, 1),
    placeholderData: keepPreviousData,
  });
  const fit = zones.data?.zones.filter(props.mayChoose ?? (() => true)) ?? [];
  const found = fit.map(({ name }) => name).filter((name) => nameHolds(name, text));
  return (
    <MultiChoice
      label={props.label}
      {...(props.description && { description: props.description })}
      whenEmpty={props.placeholder}
      noun="zone"
      options={found}
      shownAs={nameToUnicode}
      chosen={props.chosen}
      onChange={props.onChange}
      onTyped={setTyped}
      isLooking={searchText !== text || zones.isPlaceholderData || zones.isPending}
      error={zones.error ? `The zones could not be loaded. ${zones.error.message}` : props.error}
    />
  );
}

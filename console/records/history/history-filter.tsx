import { Autocomplete, Button, Group, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { TokenPage } from "../../../src/contract/console.ts";
import { useSession } from "../../shared/session/session.tsx";
import { TypeField } from "../sets/form/type-field.tsx";
import { type HistoryFilter, isFiltered } from "./read-writes.ts";

/** Which changes are listed. */
export function HistoryFilterBar(props: {
  readonly filter: HistoryFilter;
  readonly onChange: (changes: Partial<HistoryFilter>) => void;
}) {
  const { filter, onChange } = props;
  const { session, request } = useSession();
  const { data } = useQuery({
    queryKey: ["tokens"],
    queryFn: () => request<TokenPage>("GET", "/console/tokens?all"),
  });
  const people = [`${session.name} (console)`, ...(data?.tokens.map(({ id, name }) => `token ${id} (${name})`) ?? [])];
  return (
    <Group gap="xs" role="search" aria-label="History">
      <TextInput
        type="search"
        aria-label="Name"
        placeholder="Name"
        value={filter.name}
        onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
        style={{ flex: "1 1 9rem" }}
      />
      <TypeField
        aria-label="Type"
        type={filter.type}
        onChoose={(type) => onChange({ type })}
        onClear={() => onChange({ type: "" })}
        w="8.5rem"
      />
      <Autocomplete
        aria-label="Who"
        placeholder="Person or token"
        data={people}
        value={filter.who}
        onChange={(who) => onChange({ who })}
        style={{ flex: "1 1 11rem" }}
      />
      <TextInput
        type="date"
        aria-label="Up to this day"
        title="Up to this day"
        leftSection="until"
        leftSectionWidth="3rem"
        value={filter.until}
        onChange={({ currentTarget }) => onChange({ until: currentTarget.value })}
        w="11.5rem"
      />
      {isFiltered(filter) && (
        <Button variant="default" onClick={() => onChange({ name: "", type: "", who: "", until: "" })}>
          Show all
        </Button>
      )}
    </Group>
  );
}

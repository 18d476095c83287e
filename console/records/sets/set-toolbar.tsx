import { Button, Group, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Rrset, RrsetsZone } from "../../../src/contract/rrsets.ts";
import { typeName } from "../../../src/core/rdata/table.ts";
import { onlyWhereItOpens } from "../../shared/choice/closed-list.ts";
import { withKey } from "../../shared/keys/key-use.ts";
import { FileButtons } from "./file-buttons.tsx";
import { typesByUse } from "./types-by-use.ts";

/** Finds records, adds them, and moves them in and out as a file. */
export function SetToolbar(props: {
  readonly zone: RrsetsZone;
  readonly sets: readonly Rrset[];
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly type: string;
  readonly onType: (type: string | null) => void;
  readonly onAdd: () => void;
  /** The screen has no room for the buttons about files. */
  readonly isNarrow: boolean;
}) {
  const { zone, text, type } = props;
  const [isOpen, setOpen] = useState(false);
  const isSecondary = zone.mode === "secondary";
  return (
    <Group gap="xs" mb="xs">
      <TextInput
        type="search"
        aria-label="Filter records"
        {...withKey("/")}
        placeholder="Filter by name, value or comment"
        value={text}
        onChange={(event) => props.onText(event.currentTarget.value)}
        style={{ flex: "1 1 17rem" }}
      />
      <Select
        aria-label="Type"
        placeholder="All types"
        data={typesByUse(props.sets.map((set) => set.type)).map((each) => ({ value: each, label: typeName(each) }))}
        value={type || null}
        onChange={props.onType}
        onDropdownOpen={() => setOpen(true)}
        onDropdownClose={() => setOpen(false)}
        {...(!isOpen && { filter: onlyWhereItOpens([type]) })}
        clearable
        clearButtonProps={{ "aria-label": "All types" }}
        w="7.5rem"
      />
      <Button onClick={props.onAdd} disabled={isSecondary} {...withKey("n")}>
        Add record
      </Button>
      {!props.isNarrow && <FileButtons zone={zone} />}
    </Group>
  );
}

import { type ComboboxParsedItem, type OptionsFilter, Select } from "@mantine/core";
import { useState } from "react";
import type { RecordType } from "../../../../src/core/rdata/table.ts";
import { purposeOf, typesByUse } from "../types-by-use.ts";
import { OptionLine } from "./option-line.tsx";

/** Typing replaces the current type; Enter and Tab choose the first match, by type or by purpose. */
export function TypeField({
  type,
  onChoose,
}: {
  readonly type: RecordType;
  readonly onChoose: (type: RecordType) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const [search, setSearch] = useState<string>(type);
  const types = typesByUse().filter((each) => each !== "SOA" || type === "SOA");
  const choose = (next: RecordType | undefined) => {
    if (next === undefined) return;
    onChoose(next);
    setSearch(next);
    setOpen(false);
  };
  return (
    <Select
      label="Type"
      data={types}
      value={type}
      onChange={(next) => choose(types.find((each) => each === next))}
      allowDeselect={false}
      searchable
      searchValue={search}
      onSearchChange={setSearch}
      dropdownOpened={isOpen}
      onDropdownOpen={() => setOpen(true)}
      onDropdownClose={() => setOpen(false)}
      // The list selects its first entry a moment after it opens, which is too late for fast typists.
      onKeyDown={(event) => {
        const typed = event.currentTarget.value;
        const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey;
        if (isLetter && typed === type) event.currentTarget.select();
        if ((event.key !== "Enter" && event.key !== "Tab") || typed === type) return;
        if (event.key === "Enter") event.preventDefault();
        choose(typesFor(typed, types)[0]);
      }}
      selectFirstOptionOnChange
      filter={byTyped}
      renderOption={({ option }) => <OptionLine value={option.value} means={purposeOf(option.value)} />}
      maxDropdownHeight={340}
      comboboxProps={{ width: "19rem", position: "bottom-start" }}
      w="7.5rem"
    />
  );
}

/** Types that begin with the text come first: `a` is A, not the first type that contains an A. */
function typesFor(typed: string, types: readonly RecordType[]): readonly RecordType[] {
  const place = (each: RecordType) => each.indexOf(typed.trim().toUpperCase());
  const named = types.filter((each) => place(each) >= 0);
  if (named.length > 0) return named.toSorted((a, b) => Math.sign(place(a)) - Math.sign(place(b)));
  return types.filter((each) => purposeOf(each).toLowerCase().includes(typed.trim().toLowerCase()));
}

const byTyped: OptionsFilter = ({ options, search }) => {
  const named = new Map(options.flatMap((option) => ("value" in option ? [[option.value, option]] : [])));
  return typesFor(search, [...named.keys()] as RecordType[]).flatMap((type): ComboboxParsedItem[] => {
    const option = named.get(type);
    return option ? [option] : [];
  });
};

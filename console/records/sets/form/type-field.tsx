import { type ComboboxParsedItem, type OptionsFilter, Select, type SelectProps } from "@mantine/core";
import { useState } from "react";
import { type RecordType, typeName } from "../../../../src/core/rdata/table.ts";
import { onlyWhereItOpens } from "../../../shared/choice/closed-list.ts";
import { purposeOf, typesFor, typesToAdd } from "../types-by-use.ts";
import { OptionLine } from "./option-line.tsx";

/**
 * Typing replaces the current type; Enter, Tab and leaving the field choose the first match, by type or by purpose.
 * Text without a match stays in the field, and `FormDialog` does not send the form.
 */
export function TypeField(props: Props) {
  const { type, onChoose, onClear, ...shown } = props;
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const { types, typed, setTyped, choose, settle, isUnknown } = useTypedType(props, close);
  const clear = () => {
    setTyped(undefined);
    onClear?.();
  };
  return (
    <Select
      {...shown}
      data={types.map((each) => ({ value: each, label: typeName(each) }))}
      value={type || null}
      onChange={(next) => choose(types.find((each) => each === next))}
      allowDeselect={false}
      searchable
      searchValue={typed ?? typeName(type)}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      dropdownOpened={isOpen}
      onDropdownOpen={() => setOpen(true)}
      onDropdownClose={close}
      onBlur={settle}
      // The list selects its first entry a moment after it opens, which is too late for fast typists.
      onKeyDown={(event) => {
        const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey;
        if (isLetter && typed === undefined) event.currentTarget.select();
        if (event.key !== "Enter" || typed === undefined) return;
        event.preventDefault();
        settle();
      }}
      selectFirstOptionOnChange
      filter={isOpen ? byTyped : onlyWhereItOpens([type])}
      error={isUnknown && "no such type"}
      data-leftover={isUnknown ? "" : undefined}
      renderOption={({ option }) => <OptionLine value={typeName(option.value)} means={purposeOf(option.value)} />}
      maxDropdownHeight={340}
      comboboxProps={{ width: "19rem", position: "bottom-start" }}
      {...(onClear && {
        placeholder: "All types",
        clearable: true,
        onClear: clear,
        clearButtonProps: { "aria-label": "All types" },
      })}
    />
  );
}

type Props = Pick<SelectProps, "label" | "aria-label" | "w"> & {
  readonly type: string;
  readonly onChoose: (type: RecordType) => void;
  /** For a filter, which may be empty. */
  readonly onClear?: () => void;
};

/** The text in the field while somebody types, and the type that it becomes. */
function useTypedType({ type, onChoose, onClear }: Props, close: () => void) {
  const [typed, setTyped] = useState<string>();
  const types = typesToAdd.filter((each) => each !== "SOA" || type === "SOA" || onClear);
  const choose = (next: RecordType | undefined) => {
    if (next === undefined) return;
    setTyped(undefined);
    close();
    if (next !== type) onChoose(next);
  };
  const settle = () => {
    if (typed === undefined) return;
    if (typed.trim() !== "") return choose(typesFor(typed, types)[0]);
    setTyped(undefined);
    if (type !== "") onClear?.();
  };
  const isUnknown = typed !== undefined && typed.trim() !== "" && typesFor(typed, types).length === 0;
  return { types, typed, setTyped, choose, settle, isUnknown };
}

const byTyped: OptionsFilter = ({ options, search }) => {
  const named = new Map(options.flatMap((option) => ("value" in option ? [[option.value, option]] : [])));
  return typesFor(search, [...named.keys()] as RecordType[]).flatMap((type): ComboboxParsedItem[] => {
    const option = named.get(type);
    return option ? [option] : [];
  });
};

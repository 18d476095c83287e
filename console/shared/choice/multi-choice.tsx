import { MultiSelect, type OptionsFilter } from "@mantine/core";
import { type KeyboardEvent, useEffect, useState } from "react";
import { onlyWhereItOpens } from "./closed-list.ts";
import { type Option, settle } from "./settle.ts";

/**
 * A choice of several. Mantine drops typed text when the field is left; here it becomes a choice, or it stays in the
 * field and `FormDialog` does not send the form.
 */
export function MultiChoice(props: Props) {
  const { chosen, isLooking = false } = props;
  const { typed, put, isDone, setDone } = useTypedChoice(props);
  const [isOpen, setOpen] = useState(false);
  const isLeft = isDone && typed.trim() !== "";
  return (
    <MultiSelect
      label={props.label}
      description={props.description}
      placeholder={chosen.length === 0 ? props.whenEmpty : ""}
      data={[...new Set([...props.options, ...chosen])].map((value) => optionOf(value, props))}
      value={[...chosen]}
      onChange={(next) => {
        props.onChange(next);
        if (next.length <= chosen.length) return;
        put("");
        // It would cover the next fields on a phone.
        setOpen(false);
      }}
      searchable
      searchValue={typed}
      // Not onSearchChange: that is also called when the field is left, with an empty text.
      onInput={({ currentTarget }) => {
        setDone(false);
        put(currentTarget.value);
      }}
      dropdownOpened={isOpen}
      onDropdownOpen={() => setOpen(true)}
      onDropdownClose={() => setOpen(false)}
      onBlur={() => setDone(true)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || typed.trim() === "") return;
        event.preventDefault();
        if (isHighlighted(event)) return;
        setDone(true);
        setOpen(false);
      }}
      {...(!isOpen && { filter: onlyWhereItOpens(chosen) })}
      {...(isOpen && props.onTyped && { filter: onlyAmong(props.options) })}
      error={isLeft ? (isLooking ? "searching…" : leftOver(typed, props.noun)) : props.error}
      nothingFoundMessage={isLooking ? "searching…" : props.error ? "unknown" : `no matching ${props.noun}`}
      data-leftover={typed.trim() === "" ? undefined : ""}
    />
  );
}

type Props = {
  readonly label: string;
  readonly description?: string;
  /** What nothing chosen means. */
  readonly whenEmpty: string;
  /** What is chosen, in one word, for messages. */
  readonly noun: string;
  /** Those that match the typed text, if `onTyped` is given. */
  readonly options: readonly string[];
  /** How a choice is shown, if not as it is. */
  readonly shownAs?: (value: string) => string;
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly onTyped?: (typed: string) => void;
  /** The options for the typed text are still being loaded. */
  readonly isLooking?: boolean;
  readonly error?: string | false | undefined;
};

const optionOf = (value: string, { shownAs = String }: Props): Option => ({ value, label: shownAs(value) });

/** The typed text, which becomes a choice when the field is left. */
function useTypedChoice(props: Props) {
  const [typed, setTyped] = useState("");
  const [isDone, setDone] = useState(false);
  const put = (text: string) => {
    setTyped(text);
    props.onTyped?.(text);
  };
  const { chosen: named, left } = settle(
    typed,
    props.options.map((value) => optionOf(value, props)),
  );
  // Also when the options arrive after the field was left.
  useEffect(() => {
    if (!isDone || props.isLooking || named.length === 0) return;
    props.onChange([...new Set([...props.chosen, ...named])]);
    put(left);
  });
  return { typed, put, isDone, setDone };
}

/** Whether an option was reached with the arrow keys: then Enter chooses that one. */
const isHighlighted = ({ currentTarget }: KeyboardEvent): boolean =>
  document
    .getElementById(currentTarget.getAttribute("aria-controls") ?? "")
    ?.querySelector("[data-combobox-selected]") != null;

const onlyAmong =
  (found: readonly string[]): OptionsFilter =>
  ({ options }) =>
    options.filter((option) => "value" in option && found.includes(String(option.value)));

const leftOver = (typed: string, noun: string): string =>
  `“${typed.trim()}” is not a ${noun}; choose one from the list, or delete the text`;

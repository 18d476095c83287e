import { Autocomplete, Select, Textarea, TextInput } from "@mantine/core";
import { type ClipboardEvent, useRef } from "react";
import { nameToUnicode } from "../../../../src/core/names/unicode.ts";
import type { FieldWords } from "../value-fields.ts";
import { type Choice, svcParameters } from "./field-choices.ts";
import { OptionLine } from "./option-line.tsx";

/** The description goes below the input, so that inputs next to each other stay aligned. */
export const belowField: ("label" | "input" | "description" | "error")[] = ["label", "input", "description", "error"];

type Props = {
  readonly field: FieldWords;
  readonly kind: "text" | "target" | "parameters" | "plain";
  readonly choices: readonly Choice[] | undefined;
  readonly zone: string;
  readonly isFocused: boolean;
  /** The service sets it, such as the serial of an SOA record. */
  readonly isCounted: boolean;
  readonly value: string;
  readonly error: string | undefined;
  readonly onPaste: (event: ClipboardEvent<HTMLInputElement>) => void;
  readonly onChange: (text: string) => void;
};

/** One field of a record's value. */
export function ValueField(props: Props) {
  const { label, example } = props.field;
  const shared = {
    label,
    placeholder: example,
    value: props.value,
    error: props.error,
    spellCheck: false,
    autoCapitalize: "none",
    classNames: { input: "mono" },
    "data-autofocus": props.isFocused || undefined,
    ...(props.isCounted && { readOnly: true, description: "set by the service", inputWrapperOrder: belowField }),
  };
  if (props.choices) return <Choices {...shared} choices={props.choices} onChange={props.onChange} />;
  if (props.kind === "parameters") return <Parameters {...shared} onChange={props.onChange} />;
  if (props.kind === "text")
    return (
      <Textarea
        {...shared}
        autosize
        minRows={2}
        maxRows={8}
        style={{ flex: "3 1 16rem" }}
        onChange={(event) => props.onChange(event.currentTarget.value.replaceAll(/\s*\n\s*/g, " "))}
      />
    );
  const short = /^\d+$/.test(example);
  return (
    <TextInput
      {...shared}
      {...(props.kind === "target" && restOfName(props.value, props.zone))}
      onPaste={props.onPaste}
      inputMode={short ? "numeric" : undefined}
      style={short ? { width: "6rem" } : { flex: "2 1 12rem" }}
      onChange={(event) => props.onChange(event.currentTarget.value)}
    />
  );
}

type Shared = {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (text: string) => void;
};

/** Usual values to choose from; any other can be typed. */
const Choices = ({ choices, ...shared }: Shared & { readonly choices: readonly Choice[] }) => (
  <Autocomplete
    {...shared}
    data={choices.map(({ value }) => value)}
    filter={({ options, search }) => {
      const typed = search.trim().toLowerCase();
      const found = choices.filter(
        ({ value, means }) => value === typed || `${value} ${means}`.toLowerCase().includes(typed),
      );
      const isChosen = choices.some(({ value }) => value === typed);
      return isChosen
        ? options
        : options.filter((each) => "value" in each && found.some(({ value }) => value === each.value));
    }}
    renderOption={({ option }) => (
      <OptionLine
        value={String(option.value)}
        means={choices.find(({ value }) => value === option.value)?.means ?? ""}
      />
    )}
    openOnFocus={false}
    comboboxProps={{ width: "19rem", position: "bottom-start" }}
    style={{ flex: "1 1 7rem" }}
  />
);

/** Parameters as text, and a list that appends the keys. */
function Parameters({ onChange, ...shared }: Shared) {
  const field = useRef<HTMLInputElement>(null);
  const has = new Set(shared.value.split(/\s+/).map((param) => param.replace(/=.*/, "")));
  const append = (key: string | null) => {
    if (key === null) return;
    onChange(`${shared.value.trimEnd()} ${key}`.trimStart());
    field.current?.focus();
  };
  return (
    <>
      <TextInput
        {...shared}
        ref={field}
        style={{ flex: "2 1 12rem" }}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <Select
        label="Add a parameter"
        placeholder="choose a key"
        data={svcParameters.map(({ value }) => value).filter((key) => !has.has(key.replace("=", "")))}
        value={null}
        onChange={append}
        renderOption={({ option }) => (
          <OptionLine
            value={option.value}
            means={svcParameters.find(({ value }) => value === option.value)?.means ?? ""}
          />
        )}
        comboboxProps={{ width: "19rem", position: "bottom-end" }}
        w="9.5rem"
      />
    </>
  );
}

/** What is appended to a name without a final dot, shown in grey after it. */
function restOfName(typed: string, zone: string) {
  const text = typed.trim();
  if (text === "" || text.endsWith(".")) return {};
  const rest = text === "@" ? `= ${nameToUnicode(zone)}` : `.${nameToUnicode(zone)}`;
  return {
    rightSection: (
      <span className="mono quiet rest-of-name" title={rest} aria-hidden>
        {rest}
      </span>
    ),
    // On a phone, most of the field is for what is typed.
    rightSectionWidth: `min(${Math.min(11, 0.5 * rest.length + 1)}rem, 35%)`,
    rightSectionProps: { style: { justifyContent: "flex-end", pointerEvents: "none" as const } },
  };
}

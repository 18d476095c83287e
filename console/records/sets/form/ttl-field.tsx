import { Autocomplete } from "@mantine/core";
import { ttlInWords, typedTtl } from "../ttl.ts";
import { OptionLine } from "./option-line.tsx";
import { belowField } from "./value-field.tsx";

const presets = ["1m", "5m", "1h", "12h", "1d"];

/** Takes seconds or a time such as `1h`, and offers the usual ones. */
export function TtlField(props: {
  readonly value: string;
  /** What an empty field means. */
  readonly whenEmpty: string;
  readonly error: string | undefined;
  readonly onChange: (ttl: string) => void;
  readonly isFirst?: boolean;
}) {
  const seconds = typedTtl(props.value);
  const inWords = seconds === null ? "the zone’s default" : ttlInWords(seconds ?? 0);
  return (
    <Autocomplete
      label="TTL"
      inputWrapperOrder={belowField}
      description={props.value.trim() === "" ? props.whenEmpty : (inWords ?? "how long resolvers cache it")}
      placeholder="300, 1h or 1d"
      data={presets}
      filter={({ options, search }) =>
        options.filter((option) => "value" in option && String(option.value).startsWith(search.trim()))
      }
      renderOption={({ option }) => (
        <OptionLine value={String(option.value)} means={ttlInWords(typedTtl(String(option.value)) ?? 0) ?? ""} />
      )}
      openOnFocus={false}
      value={props.value}
      onChange={props.onChange}
      error={props.error}
      autoCapitalize="none"
      spellCheck={false}
      data-autofocus={props.isFirst || undefined}
      w="11rem"
    />
  );
}

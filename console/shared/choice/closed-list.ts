import type { OptionsFilter } from "@mantine/core";

/**
 * Of a list that is closed, only the option at which the arrow keys open it. Mantine renders a closed list too: all of
 * its options, with every key that is typed in the form.
 */
export const onlyWhereItOpens =
  (chosen: readonly string[]): OptionsFilter =>
  ({ options }) => {
    const shown = options.find((each) => "value" in each && chosen.includes(String(each.value))) ?? options[0];
    return shown === undefined ? [] : [shown];
  };

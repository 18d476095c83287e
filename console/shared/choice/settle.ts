export type Option = { readonly value: string; readonly label: string };

/** What typed text chooses, and what is left of it. */
export type Settled = { readonly chosen: readonly string[]; readonly left: string };

/**
 * The text chooses the option that it names, or the only one that contains it; several names may be separated by commas
 * or spaces. The rest is never dropped: it was typed for a reason.
 */
export function settle(typed: string, options: readonly Option[]): Settled {
  const text = typed.trim();
  if (text === "") return { chosen: [], left: "" };
  const whole = namedBy(text, options) ?? onlyWith(text, options);
  if (whole !== undefined) return { chosen: [whole.value], left: "" };
  const parts = text.split(/[\s,]+/).filter((part) => part !== "");
  const named = parts.map((part) => ({ part, value: namedBy(part, options)?.value }));
  return {
    chosen: [...new Set(named.flatMap(({ value }) => value ?? []))],
    left: named.flatMap(({ part, value }) => (value === undefined ? [part] : [])).join(", "),
  };
}

const normal = (text: string): string => text.toLowerCase().normalize("NFC").replace(/\.$/, "");

const namedBy = (text: string, options: readonly Option[]): Option | undefined =>
  options.find(({ value, label }) => normal(value) === normal(text) || normal(label) === normal(text));

function onlyWith(text: string, options: readonly Option[]): Option | undefined {
  const found = options.filter((each) => [each.value, each.label].some((name) => normal(name).includes(normal(text))));
  return found.length === 1 ? found[0] : undefined;
}

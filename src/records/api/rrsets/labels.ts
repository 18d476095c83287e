import { badInput, type Fault, fail, ok, type Result } from "../../../core/result.ts";

export type Labels = Readonly<Record<string, string>>;

/**
 * Matches a label with this key, and one of these values if given. With `not` and no values: there is no label with
 * this key. With `not` and values: there is one, but it has none of these values.
 */
type LabelTest = { readonly key: string; readonly values: readonly string[] | undefined; readonly not: boolean };

const reservedPrefix = "hetzner.cloud/";
const mostLabels = 64;

/** A key is a name, optionally after a DNS name and `/`; a value may be empty. */
export function readLabels(value: unknown, where = "labels"): Result<Labels> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return fail(badInput(where, "must be an object with string values"));
  }
  const entries = Object.entries(value);
  if (entries.length > mostLabels) return fail(badInput(where, `may have at most ${mostLabels} entries`));
  const faults: Fault[] = [];
  for (const [key, text] of entries) {
    if (!isKey(key)) faults.push(badKey(`${where}.${key.slice(0, 80)}`));
    else if (key.startsWith(reservedPrefix)) faults.push(badInput(`${where}.${key}`, "has a reserved prefix"));
    else if (typeof text !== "string") faults.push(badValue(`${where}.${key}`, "send it as a string, in quotes"));
    else if (!isValue(text)) faults.push(badValue(`${where}.${key}`, signs));
  }
  return faults.length > 0 ? fail(...faults) : ok(Object.fromEntries(entries) as Labels);
}

const signs = "use at most 63 letters, digits, '-', '_' and '.', with a letter or a digit at both ends";
const badValue = (where: string, todo: string): Fault => ({ ...badInput(where, "is not a label value"), todo });
const badKey = (where: string): Fault => ({
  ...badInput(where, "is not a label key"),
  todo: `${signs}; a prefix, if any, is a DNS name in lower case, followed by '/'`,
});

/**
 * `k`, `!k`, `k=v`, `k==v`, `k!=v`, `k in (a,b)`, `k notin (a,b)`; a comma means "and". `!=` and `notin` exclude
 * objects without the key, as the vendor's own integration test expects, although its documentation reads the other
 * way.
 */
export function readSelector(text: string): Result<readonly LabelTest[]> {
  const parts = text.length > longest ? undefined : text.match(/(?:[^,(]|\([^)]*\))+/g);
  const tests = parts?.map((part) => readTest(part.trim())) ?? [];
  const good = tests.filter((test) => test !== undefined);
  if (parts === undefined || parts === null || good.length < tests.length || parts.join(",") !== text) {
    return fail(badInput("label_selector", "is not a label selector"));
  }
  return ok(good);
}

export const areTrueOf = (tests: readonly LabelTest[], labels: Labels): boolean =>
  tests.every(({ key, values, not }) => {
    const has = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (values === undefined) return (has !== undefined) !== not;
    return has !== undefined && values.includes(has) !== not;
  });

const longest = 2_000;
const name = "[A-Za-z0-9](?:[-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?";
const dnsName = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?(?:\\.[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)*";
const labelKey = `(?:${dnsName}/)?${name}`;
const value = `(?:${name})?`;

const wholeKey = new RegExp(`^${labelKey}$`);
const wholeValue = new RegExp(`^${value}$`);
const isKey = (text: string): boolean =>
  text.length <= 253 + 1 + 63 && (text.split("/")[0]?.length ?? 0) <= 253 && wholeKey.test(text);
const isValue = (text: string): boolean => wholeValue.test(text);

const present = new RegExp(`^(?<not>!?)\\s*(?<key>${labelKey})$`);
const equal = new RegExp(`^(?<key>${labelKey})\\s*(?<not>!?)==?\\s*(?<value>${value})$`);
const among = new RegExp(`^(?<key>${labelKey})\\s+(?<not>not)?in\\s*\\((?<values>[^()]*)\\)$`);

function readTest(text: string): LabelTest | undefined {
  const groups = (present.exec(text) ?? equal.exec(text) ?? among.exec(text))?.groups;
  if (groups?.key === undefined) return undefined;
  const { key, not, value: one, values: several } = groups;
  const values =
    several === undefined ? (one === undefined ? undefined : [one]) : several.split(",").map((each) => each.trim());
  return values?.every(isValue) === false ? undefined : { key, values, not: Boolean(not) };
}

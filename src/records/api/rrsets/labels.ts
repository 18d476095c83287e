import { isLabelValue, type Labels, labelKey, labelValue } from "../../../core/labels.ts";
import { badInput, fail, ok, type Result } from "../../../core/result.ts";

/**
 * Matches a label with this key, and one of these values if given. With `not` and no values: there is no label with
 * this key. With `not` and values: there is one, but it has none of these values.
 */
type LabelTest = { readonly key: string; readonly values: readonly string[] | undefined; readonly not: boolean };

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
const present = new RegExp(`^(?<not>!?)\\s*(?<key>${labelKey})$`);
const equal = new RegExp(`^(?<key>${labelKey})\\s*(?<not>!?)==?\\s*(?<value>${labelValue})$`);
const among = new RegExp(`^(?<key>${labelKey})\\s+(?<not>not)?in\\s*\\((?<values>[^()]*)\\)$`);

function readTest(text: string): LabelTest | undefined {
  const groups = (present.exec(text) ?? equal.exec(text) ?? among.exec(text))?.groups;
  if (groups?.key === undefined) return undefined;
  const { key, not, value: one, values: several } = groups;
  const values =
    several === undefined ? (one === undefined ? undefined : [one]) : several.split(",").map((each) => each.trim());
  return values?.every(isLabelValue) === false ? undefined : { key, values, not: Boolean(not) };
}

import { badInput, type Fault, fail, ok, type Result } from "./result.ts";

export type Labels = Readonly<Record<string, string>>;

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
    else if (!isLabelValue(text)) faults.push(badValue(`${where}.${key}`, signs));
  }
  return faults.length > 0 ? fail(...faults) : ok(Object.fromEntries(entries) as Labels);
}

const signs = "use at most 63 letters, digits, '-', '_' and '.', with a letter or a digit at both ends";
const badValue = (where: string, todo: string): Fault => ({ ...badInput(where, "is not a label value"), todo });
const badKey = (where: string): Fault => ({
  ...badInput(where, "is not a label key"),
  todo: `${signs}; a prefix, if any, is a DNS name in lower case, followed by '/'`,
});

const name = "[A-Za-z0-9](?:[-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?";
const dnsName = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?(?:\\.[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)*";

/** Patterns of a key and of a value, for selectors. */
export const labelKey = `(?:${dnsName}/)?${name}`;
export const labelValue = `(?:${name})?`;

const wholeKey = new RegExp(`^${labelKey}$`);
const wholeValue = new RegExp(`^${labelValue}$`);
const isKey = (text: string): boolean =>
  text.length <= 253 + 1 + 63 && (text.split("/")[0]?.length ?? 0) <= 253 && wholeKey.test(text);
export const isLabelValue = (text: string): boolean => wholeValue.test(text);

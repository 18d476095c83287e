import { isObject, jsonOf } from "../../../core/is-object.ts";
import { fill, type Values } from "./template.ts";

/** A description of an answer. All of its conditions must hold. Texts may contain placeholders. */
export type Match = {
  /** Default: any status from 200 to 299. */
  readonly status?: readonly number[];
  /** A whole line of the answer. */
  readonly line?: string;
  /** A part of the answer: whole words. */
  readonly text?: string;
  /** Values by their path in a JSON answer: `result.0.status`. `*` is any value. */
  readonly json?: ReadonlyMap<string, string>;
};

export type SeenAnswer = { readonly status: number; readonly body: string };

/** No regular expressions: the answer comes from outside, and must not decide how long it takes to read it. */
export function matches(match: Match, { status, body }: SeenAnswer, values: Values, statuses = isSuccess): boolean {
  const { line, text, json } = match;
  if (!(match.status ? match.status.includes(status) : statuses(status))) return false;
  // The page of a proxy has a status too.
  if (line === undefined && text === undefined && json === undefined) return !/^\s*</.test(body);
  if (line !== undefined && !body.split(/\r?\n/).some((each) => each.trim() === fill(line, values))) return false;
  if (text !== undefined && !hasWords(body, fill(text, values))) return false;
  if (json === undefined) return true;
  const content = jsonOf(body);
  return [...json].every(([path, wanted]) => {
    const member = at(content, fill(path, values));
    return member !== undefined && member !== null && (wanted === "*" || asText(member) === fill(wanted, values));
  });
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** `OK` is not in `TOKEN`, and 192.0.2.1 is not in 192.0.2.10. */
function hasWords(body: string, words: string): boolean {
  if (words === "") return false;
  for (let from = body.indexOf(words); from >= 0; from = body.indexOf(words, from + 1)) {
    const [before = " ", after = " "] = [body[from - 1], body[from + words.length]];
    const next = body[from + words.length + 1] ?? " ";
    const goesOn = isPart(after) || (/[.:]/.test(after) && isPart(next));
    if (!(isPart(before) && isPart(words[0] ?? "")) && !(goesOn && isPart(words.at(-1) ?? ""))) return true;
  }
  return false;
}

const isPart = (sign: string): boolean => /[\p{L}\p{N}_]/u.test(sign);

const asText = (value: unknown): string =>
  typeof value === "string"
    ? value
    : typeof value === "object"
      ? JSON.stringify(value)
      : `${value as number | boolean}`;

function at(content: unknown, path: string): unknown {
  let member: unknown = content;
  for (const key of path.split(".")) {
    if (Array.isArray(member)) member = member[Number(key)];
    else member = isObject(member) && Object.hasOwn(member, key) ? member[key] : undefined;
  }
  return member;
}

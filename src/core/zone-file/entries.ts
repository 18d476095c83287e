import { readToken, type TextToken } from "../rdata/fields/tokens.ts";
import type { Fault } from "../result.ts";
import { onOneLine } from "../visible-text.ts";
import { isMark } from "./marks.ts";

/**
 * A record or a directive of a zone file (RFC 1035 section 5.1), over as many lines as its parentheses span; or a
 * comment with a mark, which has no tokens.
 */
export type ZoneFileEntry = {
  /** The number of its first line. */
  readonly line: number;
  /** It starts with a blank, so it has the owner of the record before. */
  readonly indented: boolean;
  readonly tokens: readonly TextToken[];
  /** The text after the semicolon on its last line. */
  readonly comment: string;
  /** Why it could not be split into tokens; `tokens` is then incomplete. */
  readonly fault: Fault | undefined;
};

export const atLine = (line: number): string => `line ${line}`;

/** `$TTL`, `$ORIGIN` and others that start with `$`; without `name`, any of them. */
export const isDirective = (token: TextToken | undefined, name?: "$ORIGIN" | "$TTL"): boolean =>
  token !== undefined &&
  !token.quoted &&
  token.raw.startsWith("$") &&
  (name === undefined || token.raw.toUpperCase() === name);

/** A million records have some 60 million characters. Requests are limited to less by their size. */
export const maximumLength = 128 * 1024 * 1024;

/** The data with the most tokens is a TXT record of 65,535 empty strings. */
const maximumTokens = 70_000;

/** Yields once per line: an entry when it is complete, otherwise undefined. Takes linear time. */
export function* readEntries(text: string): Generator<ZoneFileEntry | undefined> {
  let open: OpenEntry | undefined;
  let line = 0;
  // A byte order mark is not part of the text.
  for (let start = text.startsWith("\ufeff") ? 1 : 0; start < text.length; ) {
    const end = lineEnd(text, start);
    const content = text.slice(start, text[end - 1] === "\r" && end > start ? end - 1 : end);
    start = end + 1;
    line += 1;
    if (open === undefined && content === "") {
      yield;
      continue;
    }
    open ??= newEntry(line, content);
    readLine(open, content, line);
    const isWhole: boolean = open.depth === 0;
    const isSaying = open.tokens.length > 0 || open.fault !== undefined || isMark(open.comment);
    yield isWhole && isSaying ? open : undefined;
    if (isWhole) open = undefined;
  }
  if (open !== undefined) yield { ...open, fault: open.fault ?? openParenthesis(open.openedAt) };
}

type OpenEntry = {
  readonly line: number;
  readonly indented: boolean;
  readonly tokens: TextToken[];
  comment: string;
  fault: Fault | undefined;
  depth: number;
  /** The line of the parenthesis that is still open. */
  openedAt: number;
};

const newEntry = (line: number, content: string): OpenEntry => ({
  line,
  indented: /^[ \t]/.test(content),
  tokens: [],
  comment: "",
  fault: undefined,
  depth: 0,
  openedAt: line,
});

function lineEnd(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end < 0 ? text.length : end;
}

const delimiters = " \t;()";

function readLine(entry: OpenEntry, content: string, line: number): void {
  entry.comment = "";
  if (unprintable.test(content)) entry.fault ??= badCharacter(line);
  for (let at = 0; at < content.length; ) {
    const character = content.charAt(at);
    if (character === ";") {
      entry.comment = onOneLine(content.slice(at + 1));
      return;
    }
    if (character === "(" || character === ")") countParenthesis(entry, character, line);
    if (delimiters.includes(character)) {
      at += 1;
      continue;
    }
    const end = readPart(entry, content, at);
    if (end === undefined) {
      entry.fault ??= badQuotes(line);
      return;
    }
    at = end;
  }
}

/** The token that starts here; where it ends, or undefined when its quotes are wrong. */
function readPart(entry: OpenEntry, content: string, at: number): number | undefined {
  plain.lastIndex = at;
  // Most have neither quotes nor escapes.
  const read = plain.test(content)
    ? { token: { raw: content.slice(at, plain.lastIndex), quoted: false }, end: plain.lastIndex }
    : readToken(content, at, delimiters);
  if (read === undefined) return undefined;
  // No record has this many tokens, so the rest of the line is skipped.
  if (entry.tokens.length === maximumTokens) {
    entry.fault ??= entryTooLong(entry.line);
    return content.length;
  }
  entry.tokens.push(read.token);
  return read.end;
}

function countParenthesis(entry: OpenEntry, character: "(" | ")", line: number): void {
  if (character === "(") {
    if (entry.depth === 0) entry.openedAt = line;
    entry.depth += 1;
  } else if (entry.depth > 0) {
    entry.depth -= 1;
  } else {
    entry.fault ??= extraParenthesis(line);
  }
}

const plain = /[^ \t;()"\\]+(?=[ \t;()]|$)/y;
const unprintable = /[\0\r]/;

const badCharacter = (line: number): Fault => ({
  code: "bad-character",
  where: atLine(line),
  message: "the line contains a NUL or a carriage return",
  todo: "save the file as plain text; write such a byte as \\000 or \\013",
});

const badQuotes = (line: number): Fault => ({
  code: "bad-quotes",
  where: atLine(line),
  message: "a quote is not closed on its line, or is in the middle of a word",
  todo: 'write each string as "...", with \\" for a quote inside it',
});

const entryTooLong = (line: number): Fault => ({
  code: "entry-too-long",
  where: atLine(line),
  message: `the record that starts here has more than ${maximumTokens} parts`,
  todo: "check for a parenthesis that should be closed earlier",
});

const openParenthesis = (line: number): Fault => ({
  code: "bad-parentheses",
  where: atLine(line),
  message: "the parenthesis that opens here is never closed, so nothing after it could be read",
  todo: "close it with )",
});

const extraParenthesis = (line: number): Fault => ({
  code: "bad-parentheses",
  where: atLine(line),
  message: "there is a closing parenthesis without an opening one",
  todo: "remove the ), or add a ( before it",
});

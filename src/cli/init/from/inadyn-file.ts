/** A setting, or a section with settings: `period = 300`, `hostname = { a, b }`, `provider no-ip.com:1 { … }`. */
export type InadynItem =
  | { readonly kind: "setting"; readonly key: string; readonly values: readonly string[]; readonly line: number }
  | {
      readonly kind: "section";
      readonly key: string;
      readonly title: string;
      readonly items: readonly InadynItem[];
      readonly line: number;
    };

export type InadynFault = { readonly line: number; readonly message: string };

type Token = { readonly text: string; readonly isText: boolean; readonly line: number };

/**
 * Reads the format of inadyn 2, up to the first fault: what follows it cannot be trusted. The fault quotes nothing,
 * because it might be part of a password.
 */
export function readInadynFile(text: string): readonly InadynItem[] | InadynFault {
  const tokens = tokensIn(text);
  if ("message" in tokens) return tokens;
  const reader = { tokens, at: 0 };
  const items = readItems(reader, false);
  return items;
}

/** Comments start with `#` or `//`, or are between `/*` and `*` + `/`. A word ends at a space, a quote or a sign. */
const lexemes = new RegExp(
  [
    String.raw`(?<space>\s+)`,
    String.raw`(?<comment>#[^\n]*|//[^\n]*|/\*[\s\S]*?\*/)`,
    String.raw`"(?<double>(?:[^"\\]|\\[\s\S])*)"`,
    String.raw`'(?<single>(?:[^'\\]|\\[\s\S])*)'`,
    String.raw`(?<sign>\+=|[={}(),])`,
    String.raw`(?<word>(?:\\[\s\S]|[^\s"'={}(),\\#])+)`,
  ].join("|"),
  "y",
);

function tokensIn(text: string): readonly Token[] | InadynFault {
  const tokens: Token[] = [];
  let line = 1;
  lexemes.lastIndex = 0;
  for (let at = 0; at < text.length; at = lexemes.lastIndex) {
    lexemes.lastIndex = at;
    const lexeme = lexemes.exec(text);
    if (lexeme === null) return { line, message: "a quote or a comment is never closed" };
    const { double, single, sign, word } = lexeme.groups ?? {};
    const value = double ?? single ?? word;
    if (value !== undefined) tokens.push({ text: value.replaceAll(/\\([\s\S])/g, "$1"), isText: true, line });
    if (sign !== undefined) tokens.push({ text: sign, isText: false, line });
    line += lexeme[0].split("\n").length - 1;
  }
  return tokens;
}

type Reader = { readonly tokens: readonly Token[]; at: number };

function readItems(reader: Reader, isInside: boolean): readonly InadynItem[] | InadynFault {
  const items: InadynItem[] = [];
  for (;;) {
    const key = reader.tokens[reader.at];
    if (key === undefined) return isInside ? fault(reader, "a section is never closed") : items;
    if (isInside && isSign(key, "}")) {
      reader.at += 1;
      return items;
    }
    if (!key.isText) return fault(reader, `a setting is expected, not ${key.text}`);
    reader.at += 1;
    const item = readItem(reader, key);
    if ("message" in item) return item;
    items.push(item);
  }
}

function readItem(reader: Reader, { text: key, line }: Token): InadynItem | InadynFault {
  const next = reader.tokens[reader.at];
  if (isSign(next, "(")) {
    const [path, end] = [reader.tokens[reader.at + 1], reader.tokens[reader.at + 2]];
    if (!path?.isText || !isSign(end, ")")) return fault(reader, 'an include is not followed by ("FILE")');
    reader.at += 3;
    return { kind: "setting", key, values: [path.text], line };
  }
  if (isSign(next, "=") || isSign(next, "+=")) {
    reader.at += 1;
    const values = readValues(reader);
    return values ? { kind: "setting", key, values, line } : fault(reader, "a setting has no value");
  }
  const title = next?.isText ? next.text : "";
  if (next?.isText) reader.at += 1;
  if (!isSign(reader.tokens[reader.at], "{"))
    return { line, message: "a word is followed neither by = nor by {; quote a value that has spaces" };
  reader.at += 1;
  const items = readItems(reader, true);
  return "message" in items ? items : { kind: "section", key, title, items, line };
}

/** One value, or a list between braces. */
function readValues(reader: Reader): readonly string[] | undefined {
  const first = reader.tokens[reader.at];
  if (first?.isText) {
    reader.at += 1;
    return [first.text];
  }
  if (!isSign(first, "{")) return undefined;
  const end = reader.tokens.findIndex((token, at) => at > reader.at && isSign(token, "}"));
  const inner = reader.tokens.slice(reader.at + 1, end < 0 ? undefined : end);
  if (end < 0 || inner.some((token) => !token.isText && token.text !== ",")) return undefined;
  reader.at = end + 1;
  return inner.filter(({ isText }) => isText).map(({ text }) => text);
}

const isSign = (token: Token | undefined, sign: string): boolean =>
  token !== undefined && !token.isText && token.text === sign;

const fault = ({ tokens, at }: Reader, message: string): InadynFault => ({
  line: (tokens[at] ?? tokens.at(-1))?.line ?? 1,
  message,
});

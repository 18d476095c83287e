/**
 * A line of a ddclient.conf after continuation lines are joined: settings, and the hosts they are for. Without hosts,
 * they are for all that follow.
 */
export type DdclientLine = {
  readonly line: number;
  readonly settings: readonly DdclientSetting[];
  readonly hosts: readonly string[];
  /** The old form: `host login password`. */
  readonly login?: string | undefined;
  readonly password?: string | undefined;
};

export type DdclientSetting = {
  readonly key: string;
  readonly value: string;
  readonly line: number;
  /** What was not as ddclient documents it. */
  readonly doubt?: string;
};

/** The settings of one host, its own and those for all. */
export type HostSettings = ReadonlyMap<string, DdclientSetting>;

/** Reads the format that ddclient documents: `[setting=value, …] [host[,host…] [login [password]]]`. */
export function readDdclientFile(text: string): readonly DdclientLine[] {
  const read: DdclientLine[] = [];
  let [joined, first, passwords] = ["", 0, [] as readonly DdclientSetting[]];
  for (const [at, physical] of text.split(/\r?\n/).entries()) {
    const { rest, password } = takePassword(physical, at + 1);
    if (password) passwords = [...passwords, password];
    if (joined === "") first = at + 1;
    const plain = rest.replace(/#.*/, "");
    // The number of each line goes with it, so that every setting knows its own.
    joined += `${mark(at + 1)}${plain.replace(continued, "")}`;
    if (continued.test(plain)) continue;
    const line = readLine(joined, first, passwords);
    if (line.settings.length > 0 || line.hosts.length > 0) read.push(line);
    [joined, passwords] = ["", []];
  }
  return read;
}

/** Also with blanks after the backslash: ddclient's sample for Cloudflare has comments there. */
const continued = /\\\s*$/;

const mark = (line: number) => `\uE000${line}\uE001`;
const marks = /\uE000\d+\uE001/g;

/**
 * Passwords may contain nearly everything: between single quotes all but a quote, otherwise all up to the next space.
 * ddclient takes the quotes of `"…"` and a comma at the end as part of the password, though its own samples separate
 * settings by commas.
 */
function takePassword(physical: string, line: number): { readonly rest: string; readonly password?: DdclientSetting } {
  const [, head = "", key = "", value = "", tail = ""] =
    /^([^#]*?(?:^|[\s,]))([\w-]*password[\w-]*)\s*=\s*('.*'|[^'\s]\S*)(.*)$/.exec(physical) ?? [];
  if (key === "") return { rest: physical };
  const rest = `${head}${key}=${taken}${tail}`;
  const quoted = /^'(.*)'$/.exec(value)?.[1];
  if (quoted !== undefined) return { rest, password: { key, value: quoted, line } };
  const bare = value.replace(/,$/, "");
  const inner = /^"(.*)"$/.exec(bare)?.[1];
  const doubt =
    inner !== undefined ? "the quotes around the value are not part of it" : bare !== value ? comma : undefined;
  const end = bare === value ? rest : `${head}${key}=${taken},${tail}`;
  return { rest: end, password: { key, value: inner ?? bare, line, ...(doubt && { doubt }) } };
}

const comma = "the comma at the end of the value is not part of it";
/** Stands for a password in a line. */
const taken = "\uE002";

function readLine(joined: string, first: number, passwords: readonly DdclientSetting[]): DdclientLine {
  const left = [...passwords];
  const settings: DdclientSetting[] = [];
  let [line, rest] = [first, joined];
  for (;;) {
    const [skipped = ""] = /^(?:[,\s]|\uE000\d+\uE001)*/.exec(rest) ?? [];
    line = Number(skipped.match(marks)?.at(-1)?.slice(1, -1) ?? line);
    rest = rest.slice(skipped.length);
    const [whole, key = ""] = /^([a-z][0-9a-z_-]*)=/i.exec(rest) ?? [];
    if (whole === undefined) break;
    const { value, length, isOpen } = readValue(rest.slice(whole.length));
    rest = rest.slice(whole.length + length);
    const password = value === taken ? left.shift() : undefined;
    const doubt = isOpen ? { doubt: "its quote is never closed" } : {};
    settings.push(password ?? { key: key.toLowerCase(), value, line, ...doubt });
  }
  const words = rest
    .replaceAll(marks, "")
    .replaceAll(/\s*,\s*/g, ",")
    .trim()
    .split(/\s+/);
  const [hosts = "", login, password] = words;
  const named = settings.filter(({ key }) => key === "host").map(({ value }) => value);
  const all = [hosts, ...named].flatMap((each) => each.split(",")).filter((host) => host !== "");
  return { line, settings: settings.filter(({ key }) => key !== "host"), hosts: all, login, password };
}

/** Up to a space or a comma outside quotes; a backslash takes the next character as it is. */
function readValue(text: string): { readonly value: string; readonly length: number; readonly isOpen: boolean } {
  let [value, quote, at] = ["", "", 0];
  for (; at < text.length; at++) {
    const sign = text[at] ?? "";
    if (sign === "\uE000") break;
    if (sign === "\\") {
      at += 1;
      value += text[at] ?? "";
    } else if (quote !== "" && sign === quote) quote = "";
    else if (quote === "" && /['"]/.test(sign)) quote = sign;
    else if (quote === "" && /[\s,]/.test(sign)) break;
    else value += sign;
  }
  return { value, length: at, isOpen: quote !== "" };
}

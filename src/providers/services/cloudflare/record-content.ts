import { quote, tokenBytes, tokenize } from "../../../core/rdata/fields/tokens.ts";
import { isText } from "../../answers/json-api.ts";

/** The data of a record as Cloudflare shows and takes it: one text, and a number beside it for MX, or named fields. */
export type CloudflareContent = {
  readonly content?: string;
  readonly priority?: number;
  readonly data?: Readonly<Record<string, unknown>>;
};

const tlsa = ["usage", "selector", "matching_type", "certificate"];
const svcb = ["priority", "target", "value"];

/**
 * "DNS Records" in https://developers.cloudflare.com/api: the types whose data has fields, in the order of zone files.
 */
const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  CAA: ["flags", "tag", "value"],
  DS: ["key_tag", "algorithm", "digest_type", "digest"],
  HTTPS: svcb,
  SMIMEA: tlsa,
  SRV: ["priority", "weight", "port", "target"],
  SSHFP: ["algorithm", "type", "fingerprint"],
  SVCB: svcb,
  TLSA: tlsa,
};

const namesOfText = ["CNAME", "NS", "PTR"];

export const contentTypes: readonly string[] = [
  ...["A", "AAAA", "MX", "TXT"],
  ...namesOfText,
  ...Object.keys(fieldsOf),
].toSorted();

/** The value as in a zone file. */
export function valueIn(type: string, { content = "", priority, data }: CloudflareContent): string {
  const fields = fieldsOf[type];
  if (fields && data)
    return fields
      .map((field) => textOfField(type, field, data[field]))
      .join(" ")
      .trimEnd();
  if (type === "MX") return `${priority} ${dotted(content)}`;
  if (namesOfText.includes(type)) return dotted(content);
  return type === "TXT" && !content.startsWith('"') ? quotedText(content) : content;
}

/** The inverse. */
export function contentOf(type: string, value: string): CloudflareContent {
  const fields = fieldsOf[type];
  const tokens = tokenize(value, "value");
  if (!tokens.ok || (!fields && type !== "MX")) return { content: undotted(type, value) };
  const raw = tokens.value.map((token) => (token.quoted ? `"${token.raw}"` : token.raw));
  if (!fields) return { priority: Number(raw[0]), content: withoutDot(raw[1] ?? "") };
  const texts = fields.map((_, at) => (at === fields.length - 1 ? raw.slice(at).join(" ") : (raw[at] ?? "")));
  const named = fields.map((field, at) => [field, fieldOf(type, field, texts[at] ?? "")]);
  return { data: Object.fromEntries(named) };
}

const dotted = (name: string): string => (name.endsWith(".") ? name : `${name}.`);

const withoutDot = (name: string): string => (name === "." ? name : name.replace(/\.$/, ""));

const undotted = (type: string, value: string): string => (namesOfText.includes(type) ? withoutDot(value) : value);

/** Older records have no quotes. Strings have at most 255 bytes. */
function quotedText(content: string): string {
  const bytes = Buffer.from(content, "utf8").toString("latin1");
  return (bytes.match(/[^]{1,255}/g) ?? [""]).map(quote).join(" ");
}

function textOfField(type: string, field: string, value: unknown): string {
  const text = typeof value === "number" ? String(value) : isText(value) ? value : "";
  if (field === "target") return dotted(text);
  return type === "CAA" && field === "value" ? quote(text) : text;
}

function fieldOf(type: string, field: string, text: string): string | number {
  if (field === "target") return withoutDot(text);
  if (["value", "tag", "certificate", "fingerprint", "digest"].includes(field))
    return type === "CAA" && field === "value" ? unquoted(text) : text;
  return Number(text);
}

function unquoted(text: string): string {
  const tokens = tokenize(text, "value");
  const bytes = tokens.ok && tokens.value[0] ? tokenBytes(tokens.value[0], "value") : undefined;
  return bytes?.ok ? bytes.value : text;
}

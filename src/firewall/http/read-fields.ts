import type { IncomingMessage } from "node:http";

/** More than any table of this API ever asks with. */
const most = 64 * 1024;

/** The fields of a JSON or form body; of a GET, those of the query. What cannot be read is no field. */
export async function readFields(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const [, query = ""] = (request.url ?? "").split("?", 2);
  if (request.method === "GET" || request.method === "HEAD") return fromForm(query);
  const body = await readBody(request);
  if (!/json/i.test(request.headers["content-type"] ?? "")) return fromForm(body);
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** What is too long counts as empty: the rest of it is read by nobody. */
async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= most) chunks.push(chunk);
    else chunks.length = 0;
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** `sort[name]=asc` is a field in a field. */
function fromForm(text: string): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const sort: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const [, column] = /^sort\[([\w.-]{1,60})\]$/.exec(name) ?? [];
    if (column === undefined) fields[name] = value;
    else sort[column] = value;
  }
  return Object.keys(sort).length > 0 ? { ...fields, sort } : fields;
}

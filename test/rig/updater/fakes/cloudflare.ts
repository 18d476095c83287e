import type { Asked, Reply } from "../services.ts";
import { type KeptRecord, keepRecords } from "./kept-records.ts";

type Sent = {
  type?: string;
  name?: string;
  content?: string;
  priority?: number;
  data?: Record<string, string | number>;
  ttl?: number;
  proxied?: boolean;
  id?: string;
};

/** The fields of `data`, for types that have no other form. */
const fields: Readonly<Record<string, readonly string[]>> = {
  CAA: ["flags", "tag", "value"],
  SRV: ["priority", "weight", "port", "target"],
  TLSA: ["usage", "selector", "matching_type", "certificate"],
};
const hosts = ["CNAME", "NS", "PTR"];
const short = (host: string) => host.replace(/\.$/, "");

/** A value of a zone file, as the API shows it: names without a dot at the end. */
function shownContent(type: string, value: string): Sent {
  const words = value.split(" ");
  if (type === "MX") return { priority: Number(words[0]), content: short(words[1] ?? "") };
  if (hosts.includes(type)) return { content: short(value) };
  const names = fields[type];
  if (!names) return { content: value };
  const texts = words.map((word) => short(word.replaceAll('"', "")));
  const data = names.map((name, at) => [name, /^\d{1,5}$/.test(texts[at] ?? "") ? Number(texts[at]) : texts[at]]);
  const content = type === "SRV" ? texts.slice(1).join(" ") : value;
  return { content, data: Object.fromEntries(data), ...(type === "SRV" && { priority: Number(texts[0]) }) };
}

/** The inverse; undefined if the request lacks what the type needs. */
function sentValue(type: string, { content, priority, data }: Sent): string | undefined {
  const names = fields[type];
  if (names) {
    if (!data || names.some((name) => data[name] === undefined)) return undefined;
    const texts = names.map((name) =>
      typeof data[name] === "number" || name !== "value" ? data[name] : `"${data[name]}"`,
    );
    return texts.join(" ") + (type === "SRV" ? "." : "");
  }
  if (content === undefined || (type === "MX" && typeof priority !== "number")) return undefined;
  if (type === "MX") return `${priority} ${short(content)}.`;
  return hosts.includes(type) ? `${short(content)}.` : content;
}

/** Cloudflare's API version 4, in the shapes of its published OpenAPI description. */
export function fakeCloudflare(token: string) {
  const kept = keepRecords();
  const zone = {
    ...{ id: "023e105f4ecef8ad9ca31a8372d0c353", name: "example.org", status: "active", type: "full" },
    account: { id: "01a7362d577a6c3019a474fd6f485823", name: "Main" },
  };
  /** Other zones that the token sees; their records cannot be asked for. */
  const others: (typeof zone)[] = [];
  const absolute = (name: string) => (name === "@" ? zone.name : `${name}.${zone.name}`);
  const shown = ({ id, name, type, ttl, value, extra }: KeptRecord) => ({
    ...{ id, name: absolute(name), type, ...shownContent(type, value), ttl, proxiable: true, proxied: false },
    ...{ comment: null, tags: [], settings: {}, meta: {} },
    ...{ created_on: "2014-01-01T05:20:00.12345Z", modified_on: "2014-01-01T05:20:00.12345Z" },
    ...extra,
  });
  const ok = (result: unknown, info = {}): Reply => ({
    body: { success: true, errors: [], messages: [], result, ...info },
  });
  const paged = (items: readonly unknown[], query: URLSearchParams): Reply => {
    const [page, per] = [Number(query.get("page") ?? 1), Math.min(100, Number(query.get("per_page") ?? 20))];
    const result_info = {
      ...{ page, per_page: per, total_count: items.length, total_pages: Math.ceil(items.length / per) },
      count: items.slice((page - 1) * per, page * per).length,
    };
    return ok(items.slice((page - 1) * per, page * per), { result_info });
  };
  const error = (status: number, code: number, message: string): Reply => ({
    status,
    body: { success: false, errors: [{ code, message }], messages: [], result: null },
  });
  const isFault = (one: KeptRecord | Reply): one is Reply => "body" in one;

  const badTtl = (ttl: number | undefined) => ttl !== undefined && ttl !== 1 && !(ttl >= 60 && ttl <= 86_400);
  const create = (sent: Sent): KeptRecord | Reply => {
    const { type = "", name: whole = "", ttl = 1 } = sent;
    const name = whole === zone.name ? "@" : whole.replace(`.${zone.name}`, "");
    const value = sentValue(type, sent);
    if (value === undefined) return error(400, 9005, `Content for ${type} record is invalid.`);
    if (badTtl(ttl)) return error(400, 9021, "Invalid TTL. Must be between 60 and 86400 seconds, or 1 for Automatic.");
    const same = kept.of(name, type).some((each) => each.value === value);
    if (same) return error(400, 81_058, "An identical record already exists.");
    const exclusive = ["A", "AAAA", "CNAME"].filter((each) => type === "CNAME" || (each === "CNAME" && type !== "TXT"));
    if (exclusive.some((each) => kept.of(name, each).length > 0) && ["A", "AAAA", "CNAME"].includes(type))
      return error(400, 81_053, "An A, AAAA, or CNAME record with that host already exists.");
    const record = kept.add({ name, type, ttl: sent.proxied ? 1 : ttl, value });
    if (sent.proxied) record.extra = { proxied: true };
    return record;
  };
  const change = (id: string | undefined, sent: Sent): KeptRecord | Reply => {
    const record = kept.all.find((each) => each.id === id);
    if (!record) return error(404, 81_044, "Record does not exist.");
    if (badTtl(sent.ttl))
      return error(400, 9021, "Invalid TTL. Must be between 60 and 86400 seconds, or 1 for Automatic.");
    if (sent.content !== undefined || sent.data) {
      const value = sentValue(record.type, sent);
      if (value === undefined) return error(400, 9005, `Content for ${record.type} record is invalid.`);
      record.value = value;
    }
    if (sent.ttl !== undefined && record.extra.proxied !== true) record.ttl = sent.ttl;
    return record;
  };
  const remove = (id: string | undefined): KeptRecord | Reply => {
    const at = kept.all.findIndex((each) => each.id === id);
    const [record] = at < 0 ? [] : kept.all.splice(at, 1);
    return record ?? error(404, 81_044, "Record does not exist.");
  };
  /**
   * "Batch DNS Records": one transaction; deletes, patches, puts and posts in this order; 200 records in the Free plan.
   */
  const batch = ({
    deletes = [],
    patches = [],
    posts = [],
  }: Partial<Record<"deletes" | "patches" | "posts", Sent[]>>): Reply => {
    if (deletes.length + patches.length + posts.length > 200)
      return error(400, 9207, "Too many operations in the batch.");
    const before = kept.all.map((record) => ({ ...record }));
    const done: Record<string, unknown[]> = { deletes: [], patches: [], puts: [], posts: [] };
    for (const [key, sent, act] of [
      ["deletes", deletes, ({ id }: Sent) => remove(id)],
      ["patches", patches, ({ id, ...rest }: Sent) => change(id, rest)],
      ["posts", posts, create],
    ] as const)
      for (const one of sent) {
        const result = act(one);
        if (isFault(result)) {
          kept.all.splice(0, kept.all.length, ...before);
          return result;
        }
        done[key]?.push(shown(result));
      }
    return ok(done);
  };

  const reply = ({ method, path, headers, body }: Asked): Reply => {
    const { pathname, searchParams: query } = new URL(path, "http://x");
    if (headers.authorization !== `Bearer ${token}`) return error(403, 9109, "Invalid access token");
    if (pathname === "/zones")
      return paged(
        [...others, zone].filter(
          ({ name, account }) =>
            [null, name].includes(query.get("name")) && [null, account.id].includes(query.get("account.id")),
        ),
        query,
      );
    const [, zoneId, id] = /^\/zones\/([^/]+)\/dns_records(?:\/([^/]+))?$/.exec(pathname) ?? [];
    if (zoneId !== zone.id)
      return error(404, 7003, `Could not route to ${pathname}, perhaps your object identifier is invalid?`);
    if (method === "GET" && id === undefined) {
      const wanted = (key: "name" | "type") => (record: { name: string; type: string }) =>
        [null, record[key]].includes(query.get(key));
      return paged(kept.all.map(shown).filter(wanted("name")).filter(wanted("type")), query);
    }
    if (headers["content-type"] !== "application/json") return error(400, 6003, "Invalid request headers");
    const sent = body === "" ? {} : JSON.parse(body);
    if (method === "POST" && id === "batch") return batch(sent);
    const result = method === "POST" ? create(sent) : method === "DELETE" ? remove(id) : change(id, sent);
    return isFault(result) ? result : ok(method === "DELETE" ? { id } : shown(result));
  };
  return { ...kept, zone, others, reply };
}

import type { Asked, Reply } from "../services.ts";
import { type KeptRecord, keepRecords } from "./kept-records.ts";

/** Cloudflare's API version 4, in the shapes of its published OpenAPI description. */
export function fakeCloudflare(token: string) {
  const kept = keepRecords();
  const zone = { id: "023e105f4ecef8ad9ca31a8372d0c353", name: "example.org", status: "active", type: "full" };
  const absolute = (name: string) => (name === "@" ? zone.name : `${name}.${zone.name}`);
  const shown = ({ id, name, type, ttl, value, extra }: KeptRecord) => ({
    ...{
      id,
      name: absolute(name),
      type,
      content: value,
      ttl,
      proxiable: true,
      proxied: false,
      comment: null,
      tags: [],
    },
    ...{ settings: {}, meta: {}, created_on: "2014-01-01T05:20:00.12345Z", modified_on: "2014-01-01T05:20:00.12345Z" },
    ...extra,
  });
  const ok = (result: unknown, info = {}): Reply => ({
    body: { success: true, errors: [], messages: [], result, ...info },
  });
  const paged = (items: readonly unknown[], query: URLSearchParams): Reply => {
    const [page, per] = [Number(query.get("page") ?? 1), Number(query.get("per_page") ?? 20)];
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

  const reply = ({ method, path, headers, body }: Asked): Reply => {
    const { pathname, searchParams: query } = new URL(path, "http://x");
    if (headers.authorization !== `Bearer ${token}`) return error(403, 9109, "Invalid access token");
    if (pathname === "/zones")
      return paged(
        [zone].filter(({ name }) => [null, name].includes(query.get("name"))),
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
    const sent = JSON.parse(body) as { type: string; name: string; content: string; ttl?: number; proxied?: boolean };
    if (headers["content-type"] !== "application/json") return error(400, 6003, "Invalid request headers");
    if (method === "POST") {
      const name = sent.name === zone.name ? "@" : sent.name.replace(`.${zone.name}`, "");
      const same = kept.of(name, sent.type).some(({ value }) => value === sent.content);
      if (same) return error(400, 81_058, "An identical record already exists.");
      return ok(shown(kept.add({ name, type: sent.type, ttl: sent.ttl ?? 1, value: sent.content })));
    }
    const record = kept.all.find((each) => each.id === id);
    if (!record) return error(404, 81_044, "Record does not exist.");
    if (method !== "PATCH") return error(405, 10_405, "Method not allowed for this authentication scheme");
    record.value = sent.content ?? record.value;
    if (sent.ttl !== undefined && record.extra.proxied !== true) record.ttl = sent.ttl;
    return ok(shown(record));
  };
  return { ...kept, reply };
}

import type { Asked, Reply } from "../services.ts";
import { type KeptRecord, keepRecords } from "./kept-records.ts";

/** DigitalOcean's domain records, as its OpenAPI description shows them. */
export function fakeDigitalocean(token: string) {
  const kept = keepRecords();
  const shown = ({ id, name, type, ttl, value }: KeptRecord) => ({
    ...{ id: Number.parseInt(id, 16), type, name, data: value, ttl },
    ...{ priority: null, port: null, weight: null, flags: null, tag: null },
  });
  const error = (status: number, id: string, message: string): Reply => ({ status, body: { id, message } });
  const paged = (key: string, items: readonly unknown[], query: URLSearchParams): Reply => {
    const [page, per] = [Number(query.get("page") ?? 1), Number(query.get("per_page") ?? 20)];
    const pages = items.length > page * per ? { next: `https://api.digitalocean.com/v2/domains?page=${page + 1}` } : {};
    return {
      body: { [key]: items.slice((page - 1) * per, page * per), links: { pages }, meta: { total: items.length } },
    };
  };
  const reply = ({ method, path, headers, body }: Asked): Reply => {
    const { pathname, searchParams: query } = new URL(path, "http://x");
    if (headers.authorization !== `Bearer ${token}`) return error(401, "unauthorized", "Unable to authenticate you");
    if (pathname === "/domains") return paged("domains", [{ name: "example.org", ttl: 1800, zone_file: "" }], query);
    const [, zone, id] = /^\/domains\/([^/]+)\/records(?:\/(\d+))?$/.exec(pathname) ?? [];
    if (zone !== "example.org") return error(404, "not_found", "The resource you were accessing could not be found.");
    if (method === "GET") {
      // Names are absolute in requests and relative in answers.
      const whole = (name: string) => (name === "@" ? zone : `${name}.${zone}`);
      const found = kept.all.filter(
        ({ type, name }) => [null, type].includes(query.get("type")) && [null, whole(name)].includes(query.get("name")),
      );
      return paged("domain_records", found.map(shown), query);
    }
    const sent = JSON.parse(body) as { type?: string; name?: string; data?: string; ttl?: number };
    if (sent.type === undefined) return error(422, "unprocessable_entity", "Type can't be blank");
    if (method === "POST") {
      const made = kept.add({ name: sent.name ?? "", type: sent.type, ttl: sent.ttl ?? 1800, value: sent.data ?? "" });
      return { status: 201, body: { domain_record: shown(made) } };
    }
    const record = kept.all.find((each) => Number.parseInt(each.id, 16) === Number(id));
    if (!record) return error(404, "not_found", "The resource you were accessing could not be found.");
    Object.assign(record, { value: sent.data ?? record.value, ttl: sent.ttl ?? record.ttl });
    return { body: { domain_record: shown(record) } };
  };
  return { ...kept, reply };
}

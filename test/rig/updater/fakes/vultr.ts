import type { Asked, Reply } from "../services.ts";
import { type KeptRecord, keepRecords } from "./kept-records.ts";

/** Vultr's DNS, API version 2, as ddns-updater and DNSControl use it. */
export function fakeVultr(token: string) {
  const kept = keepRecords();
  const shown = ({ id, name, type, ttl, value }: KeptRecord) => ({
    ...{ id, type, name: name === "@" ? "" : name, data: value, priority: -1, ttl },
  });
  const error = (status: number, text: string): Reply => ({ status, body: { error: text, status } });
  const reply = ({ method, path, headers, body }: Asked): Reply => {
    const { pathname, searchParams: query } = new URL(path, "http://x");
    if (headers.authorization !== `Bearer ${token}`) return error(401, "Invalid API token.");
    const [from, per] = [Number(query.get("cursor") || 0), Number(query.get("per_page") ?? 100)];
    const paged = (key: string, items: readonly unknown[]): Reply => {
      const next = items.length > from + per ? String(from + per) : "";
      return {
        body: { [key]: items.slice(from, from + per), meta: { total: items.length, links: { next, prev: "" } } },
      };
    };
    if (pathname === "/v2/domains") return paged("domains", [{ domain: "example.org", date_created: "" }]);
    const [, zone, id] = /^\/v2\/domains\/([^/]+)\/records(?:\/(\w+))?$/.exec(pathname) ?? [];
    if (zone !== "example.org") return error(404, "Invalid DNS domain.");
    if (method === "GET") return paged("records", kept.all.map(shown));
    const sent = JSON.parse(body) as { name?: string; type?: string; data?: string; ttl?: number };
    if (method === "POST") {
      const made = kept.add({
        name: sent.name || "@",
        type: sent.type ?? "",
        ttl: sent.ttl ?? 300,
        value: sent.data ?? "",
      });
      return { status: 201, body: { record: shown(made) } };
    }
    const record = kept.all.find((each) => each.id === id);
    if (!record) return error(404, "Invalid record.");
    Object.assign(record, { value: sent.data ?? record.value, ttl: sent.ttl ?? record.ttl });
    return { status: 204 };
  };
  return { ...kept, reply };
}

import type { Asked, Reply } from "../services.ts";
import { type KeptRecord, keepRecords } from "./kept-records.ts";

/** The numbers that stand for types. */
const types = ["A", "AAAA", "CNAME", "TXT", "MX"];

/**
 * bunny.net's DNS zones (https://docs.bunny.net/api-reference/core/dns-zone/list-dns-zones); the statuses and errors as
 * ddns-updater and DNSControl expect them. An update replaces every field of a record.
 */
export function fakeBunny(key: string) {
  const kept = keepRecords();
  const shown = ({ id, name, type, ttl, value, extra }: KeptRecord) => ({
    ...{ Id: Number.parseInt(id, 16), Type: types.indexOf(type), Ttl: ttl, Value: value },
    ...{ Name: name === "@" ? "" : name, Weight: 100, Comment: null, Disabled: false, ...extra },
  });
  const error = (status: number, text: string): Reply => ({
    status,
    body: { ErrorKey: "some.error", Field: "", Message: text },
  });
  const reply = ({ method, path, headers, body }: Asked): Reply => {
    const { pathname, searchParams: query } = new URL(path, "http://x");
    if (headers.accesskey !== key) return error(401, "The request authorization failed.");
    if (pathname === "/dnszone") {
      const zones = [
        { Id: 71, Domain: "an-example.org", Records: [] },
        { Id: 77, Domain: "example.org", Records: kept.all.map(shown) },
      ];
      const found = zones
        .filter(({ Domain }) => Domain.includes(query.get("search") ?? ""))
        .filter(({ Id }) => query.has("search") || Id === 77);
      return { body: { CurrentPage: 1, TotalItems: found.length, HasMoreItems: false, Items: found } };
    }
    const [, zone, id] = /^\/dnszone\/(\d+)\/records(?:\/(\d+))?$/.exec(pathname) ?? [];
    if (zone !== "77") return error(404, "The requested DNS zone was not found");
    const sent = JSON.parse(body) as { Type: number; Ttl: number; Value: string; Name: string; Comment?: string };
    const content = { ttl: sent.Ttl, value: sent.Value, extra: { Comment: sent.Comment ?? null } };
    if (method === "PUT" && id === undefined) {
      const made = kept.add({ name: sent.Name || "@", type: types[sent.Type] ?? "", ...content });
      return { status: 201, body: shown(made) };
    }
    const record = kept.all.find((each) => Number.parseInt(each.id, 16) === Number(id));
    if (method !== "POST" || !record) return error(404, "The requested record was not found");
    Object.assign(record, content);
    return { status: 204 };
  };
  return { ...kept, reply };
}

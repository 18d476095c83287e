import type { Asked, Reply } from "../services.ts";
import { keepRecords } from "./kept-records.ts";

/**
 * Spaceship's DNS records: a PUT adds records beside those that exist, and a DELETE removes those that are given with
 * their whole content. As ddclient (pull request 896), ddns-updater and lego use it, and as notes from its OpenAPI
 * description say.
 */
export function fakeSpaceship(key: string, secret: string) {
  const kept = keepRecords();
  const error = (status: number, detail: string): Reply => ({ status, body: { detail } });
  type Item = { type: string; name: string; address?: string; value?: string; ttl?: number };
  const reply = ({ method, path, headers, body }: Asked): Reply => {
    const { pathname, searchParams: query } = new URL(path, "http://x");
    if (headers["x-api-key"] !== key || headers["x-api-secret"] !== secret) return error(401, "Unauthorized");
    const [skip, take] = [Number(query.get("skip")), Number(query.get("take"))];
    const most = pathname === "/v1/domains" ? 100 : 500;
    if (method === "GET" && !(query.has("skip") && take >= 1 && take <= most)) return error(422, `take: 1 to ${most}`);
    if (pathname === "/v1/domains") return { body: { items: [{ name: "example.org" }], total: 1 } };
    if (!pathname.startsWith("/v1/dns/records/")) return error(404, "Not found");
    if (pathname !== "/v1/dns/records/example.org") return error(404, "SOA record for domain example.net not found.");
    if (method === "GET") {
      const items = kept.all.map(({ name, type, ttl, value }) => ({
        ...{ type, name, ttl, group: { type: "custom" } },
        ...(type === "TXT" ? { value } : { address: value }),
      }));
      return { body: { items: items.slice(skip, skip + take), total: items.length } };
    }
    if (method === "PUT") {
      for (const { type, name, address = "", ttl = 3600 } of (JSON.parse(body) as { items: Item[] }).items) {
        const same = kept.all.find((each) => each.name === name && each.type === type && each.value === address);
        if (same) same.ttl = ttl;
        else kept.add({ name, type, ttl, value: address });
      }
      return { status: 204 };
    }
    for (const { type, name, address } of JSON.parse(body) as Item[]) {
      const at = kept.all.findIndex((each) => each.name === name && each.type === type && each.value === address);
      if (at >= 0) kept.all.splice(at, 1);
    }
    return { status: 204 };
  };
  return { ...kept, reply };
}

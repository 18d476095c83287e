import type { Asked, Reply } from "../services.ts";
import { type KeptRecord, keepRecords } from "./kept-records.ts";

/**
 * name.com's API, version 4, as ddns-updater and DNSControl use it. The host of the zone itself is missing or empty.
 */
export function fakeNamecom(user: string, token: string) {
  const kept = keepRecords();
  const shown = ({ id, name, type, ttl, value }: KeptRecord) => ({
    ...{ id: Number.parseInt(id, 16), domainName: "example.org", ...(name === "@" ? {} : { host: name }) },
    ...{ fqdn: name === "@" ? "example.org." : `${name}.example.org.`, type, answer: value, ttl },
  });
  const error = (status: number, message: string): Reply => ({ status, body: { message, details: "" } });
  const reply = ({ method, path, headers, body }: Asked): Reply => {
    const { pathname, searchParams: query } = new URL(path, "http://x");
    const basic = Buffer.from((headers.authorization ?? "").replace(/^Basic /, ""), "base64").toString();
    if (basic !== `${user}:${token}`) return error(401, "Unauthenticated");
    if (pathname === "/v4/domains") return { body: { domains: [{ domainName: "example.org" }] } };
    const [, zone, id] = /^\/v4\/domains\/([^/]+)\/records(?:\/(\d+))?$/.exec(pathname) ?? [];
    if (zone !== "example.org") return error(404, "Not Found");
    if (method === "GET") {
      const [page, per] = [Number(query.get("page") ?? 1), Number(query.get("perPage") ?? 1000)];
      const more = kept.all.length > page * per ? { nextPage: page + 1 } : {};
      return { body: { records: kept.all.map(shown).slice((page - 1) * per, page * per), ...more } };
    }
    const sent = JSON.parse(body) as { host?: string; type: string; answer: string; ttl?: number };
    if (method === "POST") {
      const made = kept.add({ name: sent.host || "@", type: sent.type, ttl: sent.ttl ?? 300, value: sent.answer });
      return { body: shown(made) };
    }
    const record = kept.all.find((each) => Number.parseInt(each.id, 16) === Number(id));
    if (!record) return error(404, "Not Found");
    Object.assign(record, { value: sent.answer, ttl: sent.ttl ?? 300 });
    return { body: shown(record) };
  };
  return { ...kept, reply };
}

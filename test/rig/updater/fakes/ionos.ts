import type { Asked, Reply } from "../services.ts";
import { type KeptRecord, keepRecords } from "./kept-records.ts";

/** The DNS API of IONOS hosting, as its OpenAPI description shows it. */
export function fakeIonos(key: string) {
  const kept = keepRecords();
  const zone = { id: "11af3414-ebba-11e9-8df5-66fbe8a334b4", name: "example.org", type: "NATIVE" };
  const absolute = (name: string) => (name === "@" ? zone.name : `${name}.${zone.name}`);
  const shown = ({ id, name, type, ttl, value, extra }: KeptRecord) => ({
    ...{ id, name: absolute(name), rootName: zone.name, type, content: value, ttl, prio: 0, disabled: false },
    ...{ changeDate: "2026-01-01T00:00:00.000Z", ...extra },
  });
  const error = (status: number, code: string, message: string): Reply => ({ status, body: [{ code, message }] });
  const reply = ({ method, path, headers, body }: Asked): Reply => {
    const { pathname, searchParams: query } = new URL(path, "http://x");
    if (headers["x-api-key"] !== key)
      return error(401, "UNAUTHORIZED", "The customer is not authorized to do this operation.");
    if (pathname === "/zones") return { body: [zone] };
    const [, zoneId, rest, id] = /^\/zones\/([^/]+)(\/records(?:\/([^/]+))?)?$/.exec(pathname) ?? [];
    if (zoneId !== zone.id) return error(404, "ZONE_NOT_FOUND", "Zone does not exist.");
    if (method === "GET" && rest === undefined) {
      const isWanted = ({ name, type }: { name: string; type: string }) =>
        [null, name].includes(query.get("recordName")) && [null, type].includes(query.get("recordType"));
      return { body: { ...zone, records: kept.all.map(shown).filter(isWanted) } };
    }
    type Sent = { name: string; type: string; content: string; ttl?: number; disabled?: boolean };
    if (method === "POST") {
      const made = (JSON.parse(body) as Sent[]).map((sent) => {
        const name = sent.name === zone.name ? "@" : sent.name.replace(`.${zone.name}`, "");
        return kept.add({ name, type: sent.type, ttl: sent.ttl ?? 3600, value: sent.content });
      });
      return { status: 201, body: made.map(shown) };
    }
    const record = kept.all.find((each) => each.id === id);
    if (!record) return error(404, "RECORD_NOT_FOUND", "Record does not exist.");
    const sent = JSON.parse(body) as Sent;
    // A PUT without a field sets it to its default.
    Object.assign(record, { value: sent.content, ttl: sent.ttl ?? 3600 });
    record.extra = { ...record.extra, disabled: sent.disabled ?? false };
    return { body: shown(record) };
  };
  return { ...kept, reply };
}

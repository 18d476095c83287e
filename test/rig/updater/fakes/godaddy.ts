import type { Asked, Reply } from "../services.ts";
import { keepRecords } from "./kept-records.ts";

/**
 * GoDaddy's domains API, as ddclient, ddns-updater and lego use it: a set is read and replaced under its type and name.
 */
export function fakeGodaddy(key: string, secret: string) {
  const kept = keepRecords();
  const error = (status: number, code: string, message: string): Reply => ({ status, body: { code, message } });
  const reply = ({ method, path, headers, body }: Asked): Reply => {
    const { pathname } = new URL(path, "http://x");
    if (headers.authorization !== `sso-key ${key}:${secret}`)
      return error(401, "UNABLE_TO_AUTHENTICATE", "Unauthorized : Could not authenticate API key/secret");
    if (pathname === "/v1/domains") return { body: [{ domain: "example.org", status: "ACTIVE" }] };
    const [, zone, type = "", name = ""] =
      /^\/v1\/domains\/([^/]+)\/records(?:\/([A-Z]+)\/([^/]+))?$/.exec(decodeURIComponent(pathname)) ?? [];
    if (zone !== "example.org") return error(404, "UNKNOWN_DOMAIN", "The given domain is not registered");
    const found = type === "" ? kept.all : kept.of(name, type);
    if (method === "GET")
      return { body: found.map((each) => ({ data: each.value, name: each.name, ttl: each.ttl, type: each.type })) };
    const sent = JSON.parse(body) as { data: string; ttl: number }[];
    if (sent.some(({ ttl }) => ttl < 600)) return error(422, "INVALID_BODY", "ttl must be at least 600");
    kept.put({ name, type, ttl: sent[0]?.ttl ?? 600, values: sent.map(({ data }) => data) });
    return {};
  };
  return { ...kept, reply };
}

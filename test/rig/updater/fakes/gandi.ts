import type { Asked, Reply } from "../services.ts";
import { keepRecords } from "./kept-records.ts";

/** Gandi's LiveDNS, as its reference shows it. */
export function fakeGandi(token: string) {
  const kept = keepRecords();
  const shown = (name: string, type: string) => {
    const records = kept.of(name, type);
    return {
      ...{
        rrset_name: name,
        rrset_type: type,
        rrset_ttl: records[0]?.ttl,
        rrset_values: records.map(({ value }) => value),
      },
      rrset_href: `https://api.gandi.net/v5/livedns/domains/example.org/records/${name}/${type}`,
    };
  };
  const error = (code: number, cause: string, message: string): Reply => ({
    status: code,
    body: { code, cause, message, object: `HTTP${cause.replaceAll(" ", "")}` },
  });
  const notFound = error(404, "Not Found", "The resource could not be found.");
  const reply = ({ method, path, headers, body }: Asked): Reply => {
    const { pathname } = new URL(path, "http://x");
    if (headers.authorization !== `Bearer ${token}`) {
      return error(
        403,
        "Forbidden",
        "The server could not verify that you authorized to access the document you requested.",
      );
    }
    if (pathname === "/domains") return { body: [{ fqdn: "example.org", domain_href: "…" }] };
    const [, zone, rest, name = "", type = ""] =
      /^\/domains\/([^/]+)(\/records(?:\/([^/]+)\/([^/]+))?)?$/.exec(pathname) ?? [];
    if (zone !== "example.org") return notFound;
    if (rest === undefined) return { body: { fqdn: "example.org", automatic_snapshots: true } };
    const owner = decodeURIComponent(name);
    if (method === "GET" && name === "") {
      const sets = new Map(kept.all.map((each) => [`${each.name} ${each.type}`, shown(each.name, each.type)]));
      return { body: [...sets.values()] };
    }
    if (method === "GET") return kept.of(owner, type).length === 0 ? notFound : { body: shown(owner, type) };
    const { rrset_values: values, rrset_ttl: ttl = 10_800 } = JSON.parse(body) as {
      rrset_values: string[];
      rrset_ttl?: number;
    };
    if (ttl < 300) {
      const errors = [{ location: "body", name: "rrset_ttl", description: `${ttl} is less than minimum value 300` }];
      return {
        status: 400,
        body: { status: "error", errors, code: 400, cause: "Bad Request", object: "HTTPBadRequest" },
      };
    }
    kept.put({ name: owner, type, ttl, values });
    return { status: 201, body: { message: "DNS Record Created" } };
  };
  return { ...kept, reply };
}

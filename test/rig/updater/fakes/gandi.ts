import type { Asked, Reply } from "../services.ts";
import { keepRecords } from "./kept-records.ts";

/** Of a list, whatever a client asks for. */
const longestPage = 100;

/**
 * Gandi's LiveDNS, as its reference shows it. Lists come in pages of 100 at most: every page but the last has a header
 * `Link` with the next one (go-gandi, `internal/client/gandi.go`, and its #68). That a larger `per_page` has no effect
 * is an assumption.
 */
export function fakeGandi(token: string) {
  const kept = keepRecords();
  const domains = ["example.org"];
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
  const page = (list: readonly unknown[], { pathname, searchParams }: URL): Reply => {
    const size = Math.min(longestPage, Number(searchParams.get("per_page") ?? longestPage));
    const number = Number(searchParams.get("page") ?? 1);
    const next = `https://api.gandi.net/v5/livedns${pathname}?page=${number + 1}&per_page=${size}`;
    return {
      body: list.slice((number - 1) * size, number * size),
      headers: {
        "total-count": String(list.length),
        ...(list.length > number * size && {
          link: `<https://api.gandi.net/v5/livedns${pathname}?page=1>; rel="first", <${next}>; rel="next"`,
        }),
      },
    };
  };
  const reply = ({ method, path, headers, body }: Asked): Reply => {
    const url = new URL(path, "http://x");
    const { pathname } = url;
    if (headers.authorization !== `Bearer ${token}`) {
      return error(
        403,
        "Forbidden",
        "The server could not verify that you authorized to access the document you requested.",
      );
    }
    if (pathname === "/domains") {
      return page(
        domains.map((fqdn) => ({ fqdn, domain_href: "…" })),
        url,
      );
    }
    const [, zone, rest, name = "", type = ""] =
      /^\/domains\/([^/]+)(\/records(?:\/([^/]+)\/([^/]+))?)?$/.exec(pathname) ?? [];
    if (zone !== "example.org") return notFound;
    if (rest === undefined) return { body: { fqdn: "example.org", automatic_snapshots: true } };
    const owner = decodeURIComponent(name);
    if (method === "GET" && name === "") {
      const sets = new Map(kept.all.map((each) => [`${each.name} ${each.type}`, shown(each.name, each.type)]));
      return page([...sets.values()], url);
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
  return { ...kept, reply, domains };
}

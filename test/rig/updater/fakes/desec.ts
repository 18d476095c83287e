import type { Asked, Reply } from "../services.ts";
import { keepRecords } from "./kept-records.ts";

/** deSEC's record sets, as in its documentation. */
export function fakeDesec(token: string) {
  const kept = keepRecords();
  const others: string[] = [];
  const minimumTtl = 3600;
  const when = "2026-01-01T00:00:00.000000Z";
  const nameOf = (subname: string) => (subname === "" || subname === "@" ? "@" : subname);
  const shown = (name: string, type: string) => {
    const records = kept.of(name, type);
    const subname = name === "@" ? "" : name;
    return {
      ...{ created: when, touched: when, domain: "example.org", subname, type, ttl: records[0]?.ttl },
      ...{
        name: subname === "" ? "example.org." : `${subname}.example.org.`,
        records: records.map(({ value }) => value),
      },
    };
  };
  const detail = (status: number, text: string): Reply => ({ status, body: { detail: text } });
  const notFound = detail(404, "Not found.");

  type SentSet = { subname: string; type: string; ttl?: number; records: string[] };

  /**
   * "Bulk Operations": the errors of the first stage are a list, one for each set; that of the second does not say
   * which set it is about. "Restricted Types" and "Caveats": no SOA, no CNAME beside other records, and texts in
   * quotes.
   */
  const faultIn = (sets: readonly SentSet[]): Reply | undefined => {
    const first = sets.map(({ subname, type, ttl, records: values }) => {
      const isNew = kept.of(nameOf(subname), type).length === 0;
      if (ttl === undefined && isNew && values.length > 0) return { ttl: ["This field is required."] };
      if (ttl !== undefined && ttl < minimumTtl)
        return { ttl: [`Ensure this value is greater than or equal to ${minimumTtl}.`] };
      return subname === "@" ? { subname: ["Invalid."] } : {};
    });
    if (first.some((fault) => Object.keys(fault).length > 0)) return { status: 400, body: first };
    const after = new Set(kept.all.map(({ name, type }) => `${name} ${type}`));
    for (const { subname, type, records: values } of sets) {
      const isRefused = type === "SOA" || (type === "TXT" && values.some((value) => !/^"/.test(value)));
      if (isRefused) return detail(400, `Cannot parse record contents of type ${type}.`);
      const key = `${nameOf(subname)} ${type}`;
      if (values.length > 0) after.add(key);
      else after.delete(key);
    }
    const aliases = [...after].filter((key) => key.endsWith(" CNAME")).map((key) => key.replace("CNAME", ""));
    const clash = aliases.find((name) => [...after].filter((key) => key.startsWith(name)).length > 1);
    return clash === undefined ? undefined : detail(400, `RRset with conflicting type present: ${clash}CNAME.`);
  };

  /** At most 500 items; a longer list needs a cursor, and the link to the next page has the other parameters too. */
  const page = (all: readonly object[], path: string): Reply => {
    const url = new URL(path, "http://x");
    const cursor = url.searchParams.get("cursor");
    if (cursor === null && all.length > 500) return detail(400, "Pagination required.");
    const end = Number(cursor ?? 0) + 500;
    url.searchParams.set("cursor", `${end}`);
    const headers = all.length > end ? { link: `<${url.href}>; rel="next"` } : {};
    return { body: all.slice(end - 500, end), headers };
  };

  const reply = ({ method, path, headers, body }: Asked): Reply => {
    const { pathname, searchParams: query } = new URL(path, "http://x");
    if (headers.authorization !== `Token ${token}`) return detail(401, "Invalid token.");
    const domain = { created: when, touched: when, published: when, minimum_ttl: minimumTtl, name: "example.org" };
    if (pathname === "/domains/") return page([domain, ...others.map((name) => ({ ...domain, name }))], path);
    const [, zone, subname, type = ""] = /^\/domains\/([^/]+)\/rrsets\/(?:([^/]+)\/([^/]+)\/)?$/.exec(pathname) ?? [];
    if (zone !== "example.org") return notFound;
    if (method === "GET" && subname === undefined) {
      const sets = [...new Map(kept.all.map(({ name, type }) => [`${name} ${type}`, shown(name, type)])).values()];
      const isWanted = (key: "subname" | "type") => (set: { subname: string; type: string }) =>
        [null, set[key]].includes(query.get(key));
      return page(sets.filter(isWanted("subname")).filter(isWanted("type")), path);
    }
    if (method === "PATCH" && subname === undefined) {
      const sets = JSON.parse(body) as SentSet[];
      const fault = faultIn(sets);
      if (fault) return fault;
      for (const { subname: at, type: of, ttl = minimumTtl, records: values } of sets)
        kept.put({ name: nameOf(at), type: of, ttl, values });
      return {
        body: sets.filter(({ records }) => records.length > 0).map((set) => shown(nameOf(set.subname), set.type)),
      };
    }
    const sent = JSON.parse(body) as { subname?: string; type?: string; ttl?: number; records?: string[] };
    if (sent.ttl !== undefined && sent.ttl < minimumTtl) {
      return { status: 400, body: { ttl: [`Ensure this value is greater than or equal to ${minimumTtl}.`] } };
    }
    if (method === "POST") {
      const [name, made] = [nameOf(sent.subname ?? ""), sent.type ?? ""];
      if (sent.ttl === undefined) return { status: 400, body: { ttl: ["This field is required."] } };
      if (kept.of(name, made).length > 0) {
        const text = "Another RRset with the same subdomain and type exists for this domain.";
        return { status: 400, body: { non_field_errors: [text] } };
      }
      kept.put({ name, type: made, ttl: sent.ttl, values: sent.records ?? [] });
      return { status: 201, body: shown(name, made) };
    }
    const name = nameOf(decodeURIComponent(subname ?? ""));
    const [held] = kept.of(name, type);
    if (!held) return notFound;
    if (method === "PATCH") {
      kept.put({ name, type, ttl: sent.ttl ?? held.ttl, values: sent.records ?? [] });
      return { body: shown(name, type) };
    }
    return { body: shown(name, type) };
  };
  return { ...kept, others, reply };
}

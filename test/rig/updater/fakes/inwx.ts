import type { Asked, Reply } from "../services.ts";
import { type KeptRecord, keepRecords } from "./kept-records.ts";

/**
 * INWX's JSON-RPC: a session in a cookie, and codes like those of EPP (RFC 5730).
 * - The path ends with a slash: `/jsonrpc/`, INWX's API documentation.
 * - A call without a session gets the code 2002: inwx/nodejs-client#28.
 * - Ids of records are above 2^31, and strings in nameserver.info and createRecord, since November 2025:
 *   inwx/python-client#19. They were numbers before; updateRecord takes what these calls return.
 * - nameserver.list has pages, from 1, of 20 domains unless `pagelimit` says otherwise: INWX's API documentation.
 * - Without a record that matches, nameserver.info has no list: an assumption, the stricter of two.
 */
export function fakeInwx(user: string, password: string, idOf: (number: number) => unknown = String) {
  const kept = keepRecords();
  const sessions = new Set<string>();
  const others: string[] = [];
  let opened = 0;
  const absolute = (name: string) => (name === "@" ? "example.org" : `${name}.example.org`);
  const relative = (name: string) => name.replace(/\.?example\.org$/, "") || "@";
  const number = ({ id }: KeptRecord) => 2_150_000_000 + Number.parseInt(id, 16);
  const shown = (record: KeptRecord) => ({
    ...{
      id: idOf(number(record)),
      name: absolute(record.name),
      type: record.type,
      content: record.value,
      ttl: record.ttl,
      prio: 0,
    },
  });
  const ok = (resData: object, headers = {}): Reply => ({
    body: { code: 1000, msg: "Command completed successfully", resData, runtime: 0.1 },
    headers,
  });
  const error = (code: number, msg: string): Reply => ({ body: { code, msg } });
  type Sent = { method: string; params: Record<string, unknown> };
  const reply = ({ path, headers, body }: Asked): Reply => {
    if (!path.endsWith("/")) return { status: 404, body: "<html>" };
    const { method, params } = JSON.parse(body) as Sent;
    if (method === "account.login") {
      if (params.user !== user || params.pass !== password) return error(2200, "Authentication error");
      opened += 1;
      const session = `domrobot=s${opened}0123456789abcdef`;
      sessions.add(session);
      return ok({ customerId: 1, tfa: "0" }, { "set-cookie": `${session}; path=/; secure; HttpOnly` });
    }
    if (!sessions.has(headers.cookie ?? "")) return error(2002, "Command use error");
    const { domain, name, type, content, ttl } = params as Record<string, string>;
    if (method === "nameserver.list") {
      const all = ["example.org", ...others].map((each, i) => ({ roId: i, domain: each, type: "MASTER" }));
      const [page, limit] = [Number(params.page ?? 1), Number(params.pagelimit ?? 20)];
      return ok({ count: all.length, domains: all.slice((page - 1) * limit, page * limit) });
    }
    if (method === "nameserver.updateRecord") {
      const record = kept.all.find((each) => idOf(number(each)) === params.id);
      if (!record) return error(2303, "Object does not exist");
      Object.assign(record, { value: content ?? record.value, ttl: ttl ?? record.ttl });
      return ok({});
    }
    if (domain !== "example.org") return error(2303, "Object does not exist");
    if (method === "nameserver.createRecord") {
      const made = kept.add({
        name: relative(name ?? ""),
        type: type ?? "",
        ttl: Number(ttl ?? 3600),
        value: content ?? "",
      });
      return ok({ id: idOf(number(made)) });
    }
    const found = kept.all
      .map(shown)
      .filter((each) => [undefined, each.name].includes(name) && [undefined, each.type].includes(type));
    return ok({
      roId: 1,
      domain,
      type: "MASTER",
      count: found.length,
      ...(found.length === 0 ? {} : { record: found }),
    });
  };
  return { ...kept, others, reply, forget: () => sessions.clear() };
}

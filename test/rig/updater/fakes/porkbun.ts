import type { Asked, Reply } from "../services.ts";
import { type KeptRecord, keepRecords } from "./kept-records.ts";

/**
 * Porkbun's API, version 3, from its specification (https://porkbun.com/api/json/v3/spec) and the answers that
 * porkbun-go recorded (https://github.com/tuzzmaniandevil/porkbun-go, fixtures). Refusals have status 400, a rejected
 * key too. An edit without `name` moves the record to the domain itself. Until version 3.20 an edit that changes
 * nothing was refused (https://github.com/qdm12/ddns-updater/issues/536); so it is here.
 */
export function fakePorkbun(key: string) {
  const kept = keepRecords();
  const state = { optedIn: true, domains: ["example.org"] };
  const number = ({ id }: KeptRecord) => String(106_926_000 + Number.parseInt(id, 16));
  const shown = (record: KeptRecord) => ({
    id: number(record),
    name: record.name === "@" ? "example.org" : `${record.name}.example.org`,
    type: record.type,
    content: record.value,
    ttl: String(record.ttl),
    prio: null,
    notes: record.extra.notes ?? null,
  });
  const ok = (more: object = {}): Reply => ({ body: { status: "SUCCESS", ...more, requestId: "019fa6cf-aa0e" } });
  const error = (message: string, code?: string, more: object = {}): Reply => ({
    status: 400,
    body: { status: "ERROR", message, ...(code && { code }), ...more, requestId: "019fa6cf-aa0e" },
  });
  const owner = (name: string | undefined) => (name ? name : "@");
  // "The minimum and the default is 600 seconds."
  const ttlOf = (ttl: Sent["ttl"]) => Math.max(600, Number(ttl ?? 600));

  const create = (sent: Sent): Reply => {
    const [name, value] = [owner(sent.name), sent.content ?? ""];
    const same = kept.of(name, sent.type ?? "").find((each) => each.value === value);
    if (same) return error("This record already exists.", "DUPLICATE_RECORD", { existingId: number(same) });
    const made = kept.add({ name, type: sent.type ?? "", ttl: ttlOf(sent.ttl), value });
    return ok({ id: number(made) });
  };
  const edit = (id: string, sent: Sent): Reply => {
    const record = kept.all.find((each) => number(each) === id);
    if (!record) return error("Invalid record ID.", "INVALID_RECORD_ID");
    const next = { name: owner(sent.name), type: sent.type, value: sent.content, ttl: ttlOf(sent.ttl) };
    if (Object.entries(next).every(([field, value]) => record[field as keyof typeof next] === value)) {
      return error("Edit error: We were unable to edit the DNS record.");
    }
    Object.assign(record, next);
    if (typeof sent.notes === "string") record.extra = { notes: sent.notes };
    return ok();
  };

  const reply = ({ method, path, body }: Asked): Reply => {
    if (method !== "POST") return error("Method not allowed.", "METHOD_NOT_ALLOWED");
    const sent = JSON.parse(body) as Sent;
    if (sent.apikey !== key) return error("Invalid API key. (001)", "INVALID_API_KEYS_001");
    if (sent.secretapikey !== key) return error("Invalid API key. (002)", "INVALID_API_KEYS_002");
    if (path === "/domain/listAll") {
      const start = Number(sent.start ?? 0);
      return ok({ domains: state.domains.slice(start, start + 1000).map((domain) => ({ domain, ...registered })) });
    }
    const [, , call, zone, third = "", fourth] = path.split("/").map(decodeURIComponent);
    if (zone !== "example.org") return error("Invalid domain.", "INVALID_DOMAIN");
    if (!state.optedIn) return error("Domain is not opted in to API access.");
    if (call === "retrieve") {
      const wanted = third === "" ? kept.all : kept.all.filter((each) => number(each) === third);
      return ok({ cloudflare: "enabled", records: wanted.map(shown) });
    }
    if (call === "retrieveByNameType") {
      return ok({ cloudflare: "enabled", records: kept.of(owner(fourth), third).map(shown) });
    }
    if (!["create", "edit"].includes(call ?? "")) return { status: 404, body: "<html>Not found</html>" };
    if (!types.has(sent.type ?? "")) return error("Invalid type.", "INVALID_TYPE");
    return call === "create" ? create(sent) : edit(third, sent);
  };
  return { ...kept, state, reply };
}

type Sent = Readonly<
  Partial<Record<"apikey" | "secretapikey" | "name" | "type" | "content", string>> & {
    ttl?: string | number;
    start?: string | number;
    notes?: string | null;
  }
>;

const types = new Set("A MX CNAME ALIAS TXT NS AAAA SRV TLSA CAA HTTPS SVCB SSHFP".split(" "));

const registered = {
  status: "ACTIVE",
  tld: "org",
  createDate: "2024-08-20 17:52:51",
  expireDate: "2027-08-20 17:52:51",
  securityLock: "1",
  whoisPrivacy: "1",
  autoRenew: 0,
  notLocal: 0,
};

import type { Asked, Reply } from "../services.ts";
import { type KeptRecord, keepRecords } from "./kept-records.ts";

/** Porkbun's API, version 3: every call is a POST with the keys in its body. */
export function fakePorkbun(key: string) {
  const kept = keepRecords();
  const absolute = (name: string) => (name === "@" ? "example.org" : `${name}.example.org`);
  const shown = ({ id, name, type, ttl, value, extra }: KeptRecord) => ({
    ...{
      id: String(Number.parseInt(id, 16)),
      name: absolute(name),
      type,
      content: value,
      ttl: String(ttl),
      prio: "0",
      notes: "",
    },
    ...extra,
  });
  const ok = (more: object = {}): Reply => ({ body: { status: "SUCCESS", ...more } });
  const error = (message: string, status = 400): Reply => ({ status, body: { status: "ERROR", message } });
  const reply = ({ method, path, body }: Asked): Reply => {
    if (method !== "POST") return error("Method not allowed.", 405);
    type Sent = {
      apikey?: string;
      secretapikey?: string;
      name?: string;
      type?: string;
      content?: string;
      ttl?: string;
    };
    const sent = JSON.parse(body) as Sent;
    if (sent.apikey !== key || sent.secretapikey !== key) return error("Invalid API key. (002)");
    if (path === "/domain/listAll") return ok({ domains: [{ domain: "example.org", status: "ACTIVE", tld: "org" }] });
    const [, , call, zone, third = "", fourth = ""] = path.split("/").map(decodeURIComponent);
    if (zone !== "example.org") return error("Invalid domain.");
    const owner = (name: string) => (name === "" ? "@" : name);
    switch (call) {
      case "retrieve":
        return ok({ cloudflare: "enabled", records: kept.all.map(shown) });
      case "retrieveByNameType":
        return ok({ cloudflare: "enabled", records: kept.of(owner(fourth), third).map(shown) });
      case "create": {
        const made = kept.add({
          name: owner(sent.name ?? ""),
          type: sent.type ?? "",
          ttl: Number(sent.ttl ?? 600),
          value: sent.content ?? "",
        });
        return ok({ id: Number.parseInt(made.id, 16) });
      }
      default: {
        const record = kept.all.find(({ id }) => String(Number.parseInt(id, 16)) === third);
        if (!record) return error("Invalid record ID.");
        Object.assign(record, { value: sent.content, ttl: Number(sent.ttl ?? 600) });
        return ok();
      }
    }
  };
  return { ...kept, reply };
}

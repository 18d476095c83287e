import { createHash } from "node:crypto";
import type { Asked, Reply } from "../services.ts";
import { type KeptRecord, keepRecords } from "./kept-records.ts";

/** OVHcloud's calls below /domain/zone, signed as its guide describes. What is not refreshed is not served. */
export function fakeOvh(key: string) {
  const kept = keepRecords();
  const isRefreshed = { now: true };
  const number = ({ id }: KeptRecord) => Number.parseInt(id, 16);
  const shown = (record: KeptRecord) => ({
    ...{ id: number(record), zone: "example.org", subDomain: record.name === "@" ? "" : record.name },
    ...{ fieldType: record.type, target: record.value, ttl: record.ttl },
  });
  const error = (status: number, message: string): Reply => ({ status, body: { class: "Client::Some", message } });
  const reply = ({ method, path, headers, body }: Asked): Reply => {
    const time = String(headers["x-ovh-timestamp"]);
    const text = [key, key, method, `http://${headers.host}${path}`, body, time].join("+");
    const isSigned = headers["x-ovh-signature"] === `$1$${createHash("sha1").update(text).digest("hex")}`;
    if (headers["x-ovh-application"] !== key) return error(403, "Invalid application key");
    if (!isSigned) return error(403, "Invalid signature");
    const { pathname, searchParams: query } = new URL(path, "http://x");
    if (pathname === "/domain/zone") return { body: ["example.org"] };
    const [, zone, what, id] = /^\/domain\/zone\/([^/]+)\/(record|refresh)(?:\/(\d+))?$/.exec(pathname) ?? [];
    if (zone !== "example.org") return error(404, "This service does not exist");
    if (what === "refresh") {
      isRefreshed.now = true;
      return { body: "null", headers: { "content-type": "application/json" } };
    }
    if (method === "GET" && id === undefined) {
      const found = kept.all
        .map(shown)
        .filter(
          ({ fieldType, subDomain }) =>
            [null, fieldType].includes(query.get("fieldType")) && [null, subDomain].includes(query.get("subDomain")),
        );
      return { body: found.map((each) => each.id) };
    }
    const record = kept.all.find((each) => number(each) === Number(id));
    if (method === "POST") {
      const sent = JSON.parse(body) as { fieldType: string; subDomain: string; target: string; ttl?: number };
      isRefreshed.now = false;
      return {
        body: shown(
          kept.add({ name: sent.subDomain || "@", type: sent.fieldType, ttl: sent.ttl ?? 0, value: sent.target }),
        ),
      };
    }
    if (!record) return error(404, `The requested object (id = ${id}) does not exist`);
    if (method === "GET") return { body: shown(record) };
    const sent = JSON.parse(body) as { target?: string; ttl?: number };
    isRefreshed.now = false;
    Object.assign(record, { value: sent.target ?? record.value, ttl: sent.ttl ?? record.ttl });
    return { body: "null", headers: { "content-type": "application/json" } };
  };
  return { ...kept, reply, isRefreshed };
}

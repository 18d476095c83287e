import { createHash } from "node:crypto";
import type { Asked, Reply } from "../services.ts";
import { type KeptRecord, keepRecords } from "./kept-records.ts";

/** How far a timestamp may be from the server's time, in seconds. */
const window = 180;

/**
 * OVHcloud's calls below /domain/zone.
 * - Signature, and GET /auth/time without one: go-ovh, `ovh/ovh.go`; python-ovh, `ovh/client.py`.
 * - Errors as `{errorCode, httpCode, message}`; a wrong signature is a 400: qdm12/ddns-updater#319. 403 with
 *   INVALID_KEY: python-ovh.
 * - A timestamp that is minutes off is rejected: rmbolger/Posh-ACME#162. No document says how; the answer here is an
 *   assumption.
 * - A changed record is served only after POST /domain/zone/{zone}/refresh: OVHcloud's API console, and lego's
 *   provider.
 * - That call answers 204 without a body since October 2023: ovh/php-ovh#140, ovh/node-ovh#51; at times still 200:
 *   AnalogJ/lexicon#1758.
 */
export function fakeOvh(key: string) {
  const kept = keepRecords();
  /** `served`: what the nameservers answer. `ahead`: seconds of the server's clock. */
  const state = { served: [] as readonly string[], ahead: 0 };
  const number = ({ id }: KeptRecord) => Number.parseInt(id, 16);
  const shown = (record: KeptRecord) => ({
    ...{ id: number(record), zone: "example.org", subDomain: record.name === "@" ? "" : record.name },
    ...{ fieldType: record.type, target: record.value, ttl: record.ttl },
  });
  const error = (status: number, message: string, errorCode = ""): Reply => ({
    status,
    body: { ...(errorCode && { errorCode }), httpCode: `${status} Some`, message },
  });
  const nothing: Reply = { body: "null", headers: { "content-type": "application/json" } };
  const now = () => Math.floor(Date.now() / 1000) + state.ahead;

  const refusal = ({ method, path, headers, body }: Asked): Reply | undefined => {
    if (headers["x-ovh-application"] !== key) return error(403, "This application key is invalid", "INVALID_KEY");
    const time = String(headers["x-ovh-timestamp"]);
    if (Math.abs(Number(time) - now()) > window) return error(400, "Query out of time");
    const text = [key, key, method, `http://${headers.host}${path}`, body, time].join("+");
    const signature = `$1$${createHash("sha1").update(text).digest("hex")}`;
    return headers["x-ovh-signature"] === signature ? undefined : error(400, "Invalid signature", "INVALID_SIGNATURE");
  };

  const reply = (asked: Asked): Reply => {
    const { method, path, body } = asked;
    const { pathname, searchParams: query } = new URL(path, "http://x");
    if (pathname === "/auth/time") return { body: now() };
    const refused = refusal(asked);
    if (refused) return refused;
    if (pathname === "/domain/zone") return { body: ["example.org"] };
    const [, zone, what, id] = /^\/domain\/zone\/([^/]+)\/(record|refresh)(?:\/(\d+))?$/.exec(pathname) ?? [];
    if (zone !== "example.org") return error(404, "This service does not exist");
    if (what === "refresh") {
      state.served = kept.held();
      return { status: 204, body: "" };
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
      const made = { name: sent.subDomain || "@", type: sent.fieldType, ttl: sent.ttl ?? 0, value: sent.target };
      return { body: shown(kept.add(made)) };
    }
    if (!record) return error(404, `The requested object (id = ${id}) does not exist`);
    if (method === "GET") return { body: shown(record) };
    const sent = JSON.parse(body) as { target?: string; ttl?: number };
    Object.assign(record, { value: sent.target ?? record.value, ttl: sent.ttl ?? record.ttl });
    return nothing;
  };
  return { ...kept, reply, state };
}

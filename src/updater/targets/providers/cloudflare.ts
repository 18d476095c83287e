import { isObject } from "../../../core/is-object.ts";
import { absoluteName, askedZoneName } from "../../../core/names/name.ts";
import { printable } from "../../../core/visible-text.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import { isNumber, isText, openJsonApi, parseAny } from "../../../providers/answers/json-api.ts";
import { listIn } from "../../../providers/answers/list-in.ts";
import { type Body, type Dialect, noZone, readPages, unknownCall } from "../../../providers/answers/service-answer.ts";
import type { Lookup } from "../../../providers/answers/service-fault.ts";
import type { Held } from "../../../providers/provider-calls.ts";
import { createSetTarget, listedName } from "../set-target.ts";
import type { TargetKind } from "../target.ts";
import { hostedSettings, type TokenTarget } from "../token-target.ts";
import { type RecordCalls, setsOfRecords } from "./listed-records.ts";

export const cloudflare = {
  ...hostedSettings(
    "Target: cloudflare",
    "Cloudflare's API, version 4. The proxy setting, comment and tags of a record are kept.",
    "https://api.cloudflare.com/client/v4",
    "An API token with the permission Zone / DNS / Edit for the zone. Not the global API key.",
  ),
  can: { create: true, ttl: true },
  open: async (config: TokenTarget, connect) =>
    createSetTarget(setsOfRecords(cloudflareCalls(config, await connect(config)))),
} satisfies TargetKind<TokenTarget>;

const service = "Cloudflare";

/** Sent with 400, though they are about the token. */
const tokenCodes = [6003, 6111, 9106, 9109, 10_000, 10_001];

const dialect: Dialect = {
  service,
  renew:
    "create an API token with the permission Zone / DNS / Edit for the zone, and put it in the file named in the config",
  parse: parseAny,
  errorIn(status, body) {
    const [first] = Array.isArray(body?.errors) ? body.errors : [];
    const { code, message } = isObject(first) ? first : {};
    const inside = status === 400 && isNumber(code) && tokenCodes.includes(code) ? 401 : status;
    const failed = body?.success === false && isText(message);
    const said = failed ? [...(isNumber(code) ? [code] : []), message].join(" ") : "";
    return { status: inside, code: "", message: printable(said) };
  },
};

/** TTL 1 means automatic; a proxied record allows no other TTL. */
const automatic = 1;

function cloudflareCalls(config: TokenTarget, client: HttpClient): RecordCalls<string> {
  const api = openJsonApi(client, dialect, () => ({ authorization: `Bearer ${config.token()}` }));
  /** Ids of zones never change. */
  const zoneIds = new Map<string, string>();

  const listed = async <T>(
    path: string,
    isItem: (value: unknown) => value is T,
    idIn: (item: T) => string,
    signal: AbortSignal,
  ) =>
    readPages(
      async (page) => {
        const answer = await api.get(`${path}${path.includes("?") ? "&" : "?"}page=${page}&per_page=50`, signal);
        if (answer.kind !== "ok") return answer;
        const info = isObject(answer.value.result_info) ? answer.value.result_info : {};
        return { kind: "ok", value: { ...answer.value, meta: { pagination: { last_page: info.total_pages } } } };
      },
      "result",
      isItem,
      idIn,
    );

  const zoneId = async (zone: string, signal: AbortSignal): Promise<Lookup<string>> => {
    const known = zoneIds.get(zone);
    if (known !== undefined) return { kind: "found", value: known };
    const answer = await api.get(`/zones?name=${encodeURIComponent(zone)}`, signal);
    const zones = listIn(answer, { service, key: "result", what: "zones", isItem: isZone });
    if (zones.kind !== "found") return zones;
    const found = zones.value.find(({ name }) => askedZoneName(name) === zone);
    if (!found) return noZone(zone, service);
    zoneIds.set(zone, found.id);
    return { kind: "found", value: found.id };
  };

  return {
    service,
    async recordsIn(zone, set, signal) {
      const id = await zoneId(zone, signal);
      if (id.kind !== "found") return id;
      const query = set ? `?type=${set.type}&name=${encodeURIComponent(absoluteName(set.name, zone))}` : "";
      const answer = await listed(`/zones/${id.value}/dns_records${query}`, isRecord, (record) => record.id, signal);
      if (answer.kind === "absent") {
        zoneIds.delete(zone);
        return noZone(zone, service);
      }
      if (answer.kind !== "ok") return answer;
      const records = answer.value.map(({ id: rest, name, type, content, ttl }) => ({
        name: listedName(name, zone),
        type,
        value: content,
        ttl: heldTtl(ttl),
        rest,
      }));
      return { kind: "found", value: records };
    },
    async write({ zone, name, type }, { value, ttl }, held, signal) {
      const path = `/zones/${zoneIds.get(zone)}/dns_records`;
      const owner = absoluteName(name, zone);
      const written = held
        ? await api.send("PATCH", `${path}/${held.rest}`, { content: value, ttl }, [200], signal)
        : await api.send(
            "POST",
            path,
            { type, name: owner, content: value, ttl: ttl ?? automatic, proxied: false },
            [200],
            signal,
          );
      if (written.kind !== "accepted") return written;
      const { result } = written.value;
      const isIt =
        isRecord(result) &&
        result.type === type &&
        askedZoneName(result.name) === owner &&
        (!held || result.id === held.rest);
      return { kind: "accepted", value: isIt ? { values: [result.content], ttl: heldTtl(result.ttl) } : undefined };
    },
    async zones(signal) {
      const answer = await listed("/zones", isZone, ({ id }) => id, signal);
      if (answer.kind === "absent") return unknownCall(answer, service);
      return answer.kind === "ok"
        ? { kind: "found", value: answer.value.map(({ id, name }) => ({ id, name })) }
        : answer;
    },
    close: () => client.close(),
  };
}

type ReadableRecord = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly content: string;
  readonly ttl: number;
};

const heldTtl = (ttl: number): Held["ttl"] => (ttl === automatic ? null : ttl);

const isRecord = (value: unknown): value is ReadableRecord =>
  isObject(value) && [value.id, value.name, value.type, value.content].every(isText) && isNumber(value.ttl);

const isZone = (value: unknown): value is Body & { id: string; name: string } =>
  isObject(value) && isText(value.id) && isText(value.name);

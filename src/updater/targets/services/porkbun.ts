import { printable } from "../../../core/visible-text.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import { isText, parseAny, withFields } from "../../../providers/answers/json-api.ts";
import { listIn, mapFound } from "../../../providers/answers/list-in.ts";
import {
  type ApiDialect,
  followPages,
  type ListedPage,
  readAnswer,
} from "../../../providers/answers/service-answer.ts";
import { readWritten, withoutContent } from "../../../providers/answers/write-answer.ts";
import { listedName } from "../set-target.ts";
import type { TargetFault } from "../target.ts";
import { type KeyPairTarget, keyPairSettings } from "../token-target.ts";
import { type RecordCalls, recordsKind } from "./listed-records.ts";

export const porkbun = recordsKind(
  keyPairSettings(
    "Target: porkbun",
    "Porkbun's API, version 3. API access must be switched on for the domain. The lowest TTL is 600. Notes are kept.",
    "https://api.porkbun.com/api/json/v3",
    "The API key.",
    "The secret API key.",
  ),
  porkbunCalls,
);

const service = "Porkbun";
const usualTtl = 600;
/** How many domains one answer lists. */
const perPage = 1000;

const dialect: ApiDialect = {
  service,
  renew: "create an API key in Porkbun's web pages, and switch on API access for the domain",
  parse: parseAny,
  // Most errors have the status 400, whatever they are about; some have 200.
  errorIn(status, body) {
    const errorText = body?.status === "ERROR" && isText(body.message) ? printable(body.message) : "";
    const isPlain = status === 400 || (status === 200 && body?.status === "ERROR");
    const about = /API key|not opted in/i.test(errorText)
      ? 401
      : /invalid domain/i.test(errorText)
        ? 404
        : Math.max(status, 400);
    return { status: isPlain ? about : status, code: "", message: errorText };
  },
};

function porkbunCalls(config: KeyPairTarget, client: HttpClient): RecordCalls<string> {
  /** Every call is a POST; the credentials are in the body. */
  const post = (path: string, content: object, signal: AbortSignal) => {
    const [key, secret] = [config.key(), config.secret()];
    const body = JSON.stringify({ apikey: key, secretapikey: secret, ...content });
    const headers = { "content-type": "application/json" };
    return client.send({ method: "POST", path, headers, body, secrets: [key, secret] }, signal);
  };
  const ask = async (path: string, signal: AbortSignal, content = {}) =>
    readAnswer(await post(path, content, signal), [200], Date.now(), dialect);

  return {
    service,
    async recordsIn(zone, set, signal) {
      const below = set === undefined || set.name === "@" ? "" : `/${encodeURIComponent(set.name)}`;
      const path = set ? `/dns/retrieveByNameType/${zone}/${set.type}${below}` : `/dns/retrieve/${zone}`;
      const answer = await ask(path, signal);
      const lookup = listIn(answer, { service, key: "records", what: "records", isItem: isRecord, zone });
      return mapFound(lookup, (records) =>
        records.map(({ id, name, type, content, ttl }) => ({
          name: listedName(name, zone),
          type,
          value: content,
          ttl: Number(ttl),
          raw: id,
        })),
      );
    },
    async write({ zone, name, type }, { value, ttl }, current, signal) {
      const content = {
        name: name === "@" ? "" : name,
        type,
        content: value,
        ttl: String(ttl ?? current?.ttl ?? usualTtl),
      };
      const path = current ? `/dns/edit/${zone}/${encodeURIComponent(current.raw)}` : `/dns/create/${zone}`;
      const written = readWritten(await post(path, content, signal), [200], Date.now(), dialect);
      return withoutContent(written);
    },
    async zones(signal) {
      const all = await followPages(service, "0", async (start): Promise<ListedPage<string> | TargetFault> => {
        const answer = await ask("/domain/listAll", signal, { start });
        const lookup = listIn(answer, { service, key: "domains", what: "domains", isItem: isDomain });
        if (lookup.kind !== "found") return lookup;
        const next = lookup.value.length < perPage ? "" : String(Number(start) + perPage);
        return { kind: "page", items: lookup.value.map(({ domain }) => domain), next };
      });
      return mapFound(all, (domains) => domains.map((domain) => ({ id: domain, name: domain })));
    },
    close: () => client.close(),
  };
}

const isTtl = (value: unknown): value is string => isText(value) && /^\d{1,10}$/.test(value);

const isRecord = withFields({ id: isText, name: isText, type: isText, content: isText, ttl: isTtl });

const isDomain = withFields({ domain: isText });

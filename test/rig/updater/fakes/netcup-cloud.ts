import type { Asked, Reply } from "../services.ts";
import { type KeptRecord, keepRecords } from "./kept-records.ts";

type RecordInput = { readonly name: string; readonly type: string; readonly rdata: string; readonly ttl: number };
type Changeset = {
  readonly create?: readonly RecordInput[];
  readonly delete?: readonly RecordInput[];
  readonly autoCommit?: boolean;
  readonly strict?: boolean;
};
type Revision = {
  readonly identifier: string;
  readonly createdAt: string;
  readonly state: string;
  readonly serial: number | null;
  readonly records: readonly RecordInput[];
};

export type NetcupCloudOptions = {
  /** What a name gets that the account lacks: an empty list (as acme.sh reads it), or an error (as netcup-dns-api). */
  readonly missing?: "empty" | "error";
};

const longestPage = 100;
const domainId = 4711;

/**
 * netcup's API for CloudDNS, https://api.netcup.com/v1, from its OpenAPI description as libdns/netcup (`rest.go`,
 * `provider_rest.go`), aellwein/netcup-dns-api (`pkg/rest/v1`) and acme.sh (`dns_netcup.sh`) report it:
 *
 * - Every answer is `{success, errors, meta, result}`. A wrong key is 400 with `authenticationError`, not 401.
 * - `GET /domain?fqdn=` finds a domain by its exact name. `isDnsManaged: false`: its zone is still with the old API.
 * - There is no list of a zone's records. `GET /domain/ID/dns/revision` lists revisions, and
 *   `…/revision/ID/record` the records of one, 100 a page. Somebody's open draft is among them.
 * - `POST /domain/ID/changeset` applies `delete` and `create` together or not at all. A deletion gives name,
 *   type, rdata and TTL of a record. Names are relative, `@` is the apex; a TXT value has its quotation marks.
 *
 * Assumed, as nobody says it: without `autoCommit` the changeset becomes a draft that is not served; without `strict`
 * a deletion that matches nothing is passed over; a draft has no serial; revisions are listed in no useful order; a
 * CNAME beside other records of its name is refused.
 */
export function fakeNetcupCloud(key: string, { missing = "error" }: NetcupCloudOptions = {}) {
  const kept = keepRecords();
  const drafts: Revision[] = [];
  const domains = [{ id: domainId, fqdn: "example.org", isDnsManaged: true }];
  let commits = 1;

  const error = (status: number, code: string, message: string): Reply => ({
    status,
    body: { success: false, errors: [{ code, message }], messages: [], result: null },
  });
  const answer = (result: unknown, meta?: object, status = 200): Reply => ({
    status,
    body: { success: true, errors: [], messages: [], result, ...(meta && { meta }) },
  });
  const shown = ({ name, type, ttl, value }: KeptRecord): RecordInput => ({ name, type, ttl, rdata: value });
  const time = (minutes: number) => new Date(Date.UTC(2026, 9, 1, 12, minutes)).toISOString();
  const served = (): Revision => ({
    ...{ identifier: `rev-${commits}`, createdAt: time(commits), state: "active", serial: 2026100100 + commits },
    records: kept.all.map(shown),
  });
  /** What was served before is still listed, and a draft is newer than what is served. */
  const revisions = (): readonly Revision[] => [
    ...drafts,
    { identifier: "rev-0", createdAt: time(0), state: "superseded", serial: 2026100100, records: [] },
    served(),
  ];
  const page = (list: readonly unknown[], { searchParams }: URL): Reply => {
    const perPage = Math.min(longestPage, Number(searchParams.get("perPage") ?? 25));
    const number = Number(searchParams.get("page") ?? 1);
    const lastPage = Math.max(1, Math.ceil(list.length / perPage));
    const pagination = { page: number, perPage, totalEntries: list.length, lastPage };
    return answer(list.slice((number - 1) * perPage, number * perPage), { pagination });
  };
  const isSame = (a: RecordInput, b: RecordInput) =>
    a.name === b.name && a.type === b.type && a.rdata === b.rdata && a.ttl === b.ttl;

  const fault = (input: RecordInput): Reply | undefined => {
    if (typeof input.ttl !== "number" || input.ttl <= 0) return error(422, "validationError", "ttl: must be positive");
    if (input.type === "TXT" && !/^"[^]*"$/.test(input.rdata)) {
      return error(422, "validationError", "TXT rdata must be enclosed in quotation marks");
    }
    if (input.name === "" || input.name.endsWith(".")) return error(422, "validationError", "name: must be relative");
    return undefined;
  };
  const applyChangeset = ({ create = [], delete: gone = [], autoCommit = false, strict = false }: Changeset): Reply => {
    const refused = [...create, ...gone].map(fault).find((reply) => reply !== undefined);
    if (refused) return refused;
    const matching = gone.map((input) => kept.all.find((record) => isSame(shown(record), input)));
    if (strict && matching.includes(undefined)) {
      return error(422, "recordDoesNotExist", "A record to delete does not exist in this zone");
    }
    const left = kept.all.filter((record) => !matching.includes(record));
    if (strict && create.some((input) => left.some((record) => isSame(shown(record), input)))) {
      return error(422, "recordAlreadyExists", "A record to create exists in this zone");
    }
    const all = [...left.map(shown), ...create];
    const isBeside = (one: RecordInput) =>
      one.type === "CNAME" && all.some((other) => other !== one && other.name === one.name);
    if (all.some(isBeside)) return error(422, "validationError", "A CNAME record cannot have others beside it");
    if (!autoCommit) {
      const draft = { identifier: `draft-${drafts.length + 1}`, createdAt: time(commits + 30), state: "draft" };
      drafts.push({ ...draft, serial: null, records: all });
      return answer(drafts.at(-1));
    }
    kept.all.splice(0, Number.POSITIVE_INFINITY, ...left);
    for (const { name, type, ttl, rdata } of create) kept.add({ name, type, ttl, value: rdata });
    commits += 1;
    const { records: _, ...revision } = served();
    return answer(revision);
  };

  const reply = ({ method, path, headers, body }: Asked): Reply => {
    const url = new URL(path, "http://x");
    if (headers.authorization !== `Bearer ${key}`) {
      return error(400, "authenticationError", "The API key is invalid or has expired");
    }
    if (url.pathname === "/domain" && method === "GET") {
      const fqdn = url.searchParams.get("fqdn");
      const found = fqdn === null ? domains : domains.filter((domain) => domain.fqdn === fqdn);
      if (found.length === 0 && missing === "error") {
        return error(404, "resourceDoesNotExist", "The requested resource does not exist");
      }
      return page(found, url);
    }
    const [, id, rest = ""] = /^\/domain\/(\d+)\/(.+)$/.exec(url.pathname) ?? [];
    const domain = domains.find((each) => String(each.id) === id);
    if (!domain) return error(404, "resourceDoesNotExist", "The requested resource does not exist");
    if (!domain.isDnsManaged) return error(422, "dnsNotManaged", "The DNS of this domain is not managed here");
    if (rest === "changeset" && method === "POST") return applyChangeset(JSON.parse(body) as Changeset);
    if (rest === "dns/revision" && method === "GET") {
      return page(
        revisions().map(({ records: _, ...revision }) => revision),
        url,
      );
    }
    const [, identifier] = /^dns\/revision\/([^/]+)\/record$/.exec(rest) ?? [];
    const revision = revisions().find((each) => each.identifier === identifier);
    if (!revision || method !== "GET") {
      return error(404, "resourceDoesNotExist", "The requested resource does not exist");
    }
    return page(
      revision.records.map((record, index) => ({
        ...{ identifier: `${revision.identifier}-${index}`, ...record },
        immutable: record.type === "SOA",
      })),
      url,
    );
  };
  /** Somebody edits the zone in the customer panel, and has not saved yet. */
  const openDraft = (records: readonly RecordInput[]) =>
    drafts.push({ identifier: "draft-open", createdAt: time(600), state: "draft", serial: null, records });
  return { ...kept, reply, domains, openDraft };
}

import { absoluteName, askedZoneName } from "../../../core/names/name.ts";
import { printable } from "../../../core/visible-text.ts";
import type { HttpClient, HttpOutcome } from "../../http/client.ts";
import { type Dialect, later, noZone, readAnswer, unexpected, unknownCall } from "../service-answer.ts";
import { type HeldSet, listedName, type NewContent, type SetName } from "../set-target.ts";
import type { ListedZone, Lookup, TargetFault, TargetKind } from "../target.ts";
import { type KeyPairTarget, keyPairSettings } from "../token-target.ts";
import { readWritten } from "../write-answer.ts";
import { createZoneTarget, type SetChange, type ZoneCalls } from "../zone-target.ts";
import { elementsIn, escaped, textIn, xmlIn } from "./read-xml.ts";
import { signAws } from "./sign-aws.ts";

export const route53 = {
  ...keyPairSettings(
    "Target: route53",
    "Amazon Route 53. A record is replaced only if it still holds what moor read. Alias records and records with a routing policy are left alone.",
    "https://route53.amazonaws.com",
    "The id of an access key that may change the zone.",
    "The secret of the access key.",
  ),
  can: { create: true, ttl: true, remove: true },
  open: async (config: KeyPairTarget, connect) => createZoneTarget(route53Calls(config, await connect(config))),
} satisfies TargetKind<KeyPairTarget>;

const service = "Route 53";
const version = "/2013-04-01";
const usualTtl = 300;
/** More than the default quota of a zone. */
const mostListed = 100_000;

/** Codes of temporary errors, which are sent with the status 400. */
const passing = ["Throttling", "ThrottlingException", "PriorRequestNotComplete"];

const dialect: Dialect = {
  service,
  renew:
    "use an access key with the permissions route53:ListHostedZonesByName, ListResourceRecordSets and ChangeResourceRecordSets",
  parse: (text) => (text.trimStart().startsWith("<?xml") ? { xml: text } : undefined),
  errorIn(status, body) {
    const xml = xmlIn(body);
    const code = textIn(xml, "Code") ?? (xml.includes("<InvalidChangeBatch") ? "InvalidChangeBatch" : "");
    const inside = passing.includes(code) ? 429 : status;
    const message = status < 400 || code === "" ? "" : `${code}: ${textIn(xml, "Message") ?? ""}`;
    return { status: inside, code, message: printable(message) };
  },
};

function route53Calls(config: KeyPairTarget, client: HttpClient): ZoneCalls<undefined> {
  const send = (
    method: "GET" | "POST",
    path: string,
    query: string,
    body: string,
    signal: AbortSignal,
  ): Promise<HttpOutcome> => {
    const key = { id: config.key(), secret: config.secret(), region: "us-east-1", service: "route53" };
    const signed = signAws({ method, host: config.url.host, path, query, body }, key, Date.now());
    const content = body === "" ? {} : { "content-type": "application/xml" };
    const request = {
      method,
      path: query === "" ? path : `${path}?${query}`,
      headers: { ...signed, ...content },
      secrets: [key.secret],
    };
    return client.send(body === "" ? request : { ...request, body }, signal);
  };
  const get = async (
    path: string,
    query: string,
    signal: AbortSignal,
  ): Promise<Lookup<string> | { kind: "absent"; said: string }> => {
    const answer = readAnswer(await send("GET", version + path, query, "", signal), [200], Date.now(), dialect);
    return answer.kind === "ok" ? { kind: "found", value: xmlIn(answer.value) } : answer;
  };

  const zonesFrom = async (query: string, signal: AbortSignal): Promise<Lookup<readonly ListedZone[]>> => {
    const answer = await get("/hostedzonesbyname", query, signal);
    if (answer.kind === "absent") return unknownCall(answer, service);
    if (answer.kind !== "found") return answer;
    if (!answer.value.includes("<HostedZones")) return unexpected("no list of zones", service);
    const zones = elementsIn(answer.value, "HostedZone").filter((zone) => textIn(zone, "PrivateZone") !== "true");
    return {
      kind: "found",
      value: zones.map((zone) => ({ id: textIn(zone, "Id")?.replace(/^.*\//, "") ?? "", name: nameIn(zone) })),
    };
  };
  const zoneIds = new Map<string, string>();
  const zoneId = async (zone: string, signal: AbortSignal): Promise<Lookup<string>> => {
    const known = zoneIds.get(zone);
    if (known !== undefined) return { kind: "found", value: known };
    const found = await zonesFrom(`dnsname=${zone}&maxitems=10`, signal);
    if (found.kind !== "found") return found;
    const id = found.value.find(({ name }) => name === zone)?.id;
    if (!id) return noZone(zone, service);
    zoneIds.set(zone, id);
    return { kind: "found", value: id };
  };
  const pageOfSets = async (zone: string, query: string, signal: AbortSignal): Promise<Lookup<string>> => {
    const id = await zoneId(zone, signal);
    if (id.kind !== "found") return id;
    const answer = await get(`/hostedzone/${id.value}/rrset`, query, signal);
    if (answer.kind === "found") {
      return answer.value.includes("<ResourceRecordSets") ? answer : unexpected("no record sets", service);
    }
    if (answer.kind !== "absent") return answer;
    zoneIds.delete(zone);
    return noZone(zone, service);
  };
  const setsIn = async (zone: string, query: string, signal: AbortSignal): Promise<Lookup<readonly string[]>> => {
    const page = await pageOfSets(zone, query, signal);
    return page.kind === "found" ? { kind: "found", value: elementsIn(page.value, "ResourceRecordSet") } : page;
  };

  /** All sets of the zone. */
  const allSetsIn = async (zone: string, signal: AbortSignal): Promise<Lookup<readonly string[]>> => {
    const all: string[] = [];
    for (let query = "maxitems=300"; query !== ""; ) {
      const page = await pageOfSets(zone, query, signal);
      if (page.kind !== "found") return page;
      all.push(...elementsIn(page.value, "ResourceRecordSet"));
      query = nextPage(page.value);
      if (all.length > mostListed) return later(`${service}'s list of record sets does not end`);
    }
    return { kind: "found", value: all };
  };
  const sendChanges = async (changes: readonly Change[], signal: AbortSignal) => {
    const body = `<?xml version="1.0" encoding="UTF-8"?><ChangeResourceRecordSetsRequest xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><ChangeBatch><Changes>${changes.map(changeXml).join("")}</Changes></ChangeBatch></ChangeResourceRecordSetsRequest>`;
    const path = `${version}/hostedzone/${zoneIds.get(changes[0]?.set.zone ?? "")}/rrset/`;
    const written = readWritten(await send("POST", path, "", body, signal), [200], Date.now(), dialect);
    if (written.kind === "accepted") return { kind: "accepted", value: undefined } as const;
    const isStale =
      written.kind === "refused" && "code" in written.because && written.because.code === "InvalidChangeBatch";
    return isStale ? ({ kind: "refused", because: changedMeanwhile } as const) : written;
  };

  return {
    service,
    async read(set, signal) {
      const owner = absoluteName(set.name, set.zone);
      const found = await setsIn(
        set.zone,
        `maxitems=2&name=${encodeURIComponent(owner).replaceAll("*", "%2A")}&type=${set.type}`,
        signal,
      );
      return found.kind === "found" ? heldIn(found.value, set) : found;
    },
    write: (set, content, held, signal) => sendChanges([{ set, content, held }], signal),
    remove: (set, held, signal) => sendChanges([{ set, held }], signal),
    async readAll(sets, signal) {
      const all = await allSetsIn(sets[0]?.zone ?? "", signal);
      if (all.kind !== "found") return sets.map(() => all);
      const byName = Map.groupBy(all.value, nameIn);
      return sets.map((set) => heldIn(byName.get(absoluteName(set.name, set.zone)) ?? [], set));
    },
    writeAll: sendChanges,
    room: { of: charactersOf, most: 32_000 },
    zones: (signal) => zonesFrom("maxitems=100", signal),
    async records(zone, signal) {
      const found = await setsIn(zone, "maxitems=300", signal);
      if (found.kind !== "found") return found;
      const listed = found.value.flatMap((set) => {
        const [type = "", ttl] = [textIn(set, "Type"), Number(textIn(set, "TTL"))];
        const more = { name: listedName(nameIn(set), zone), type, ...(ttl ? { ttl } : {}) };
        return elementsIn(set, "ResourceRecord").map((record) => ({ ...more, value: textIn(record, "Value") ?? "" }));
      });
      return { kind: "found", value: listed };
    },
    close: () => client.close(),
  };
}

/** Without content, the set is removed. */
type Change = Pick<SetChange<undefined>, "set" | "held"> & { readonly content?: NewContent };

/** A deletion and a creation, of which both or none are carried out. Deleting works only with the exact content. */
function changeXml({ set, content, held }: Change): string {
  const change = (action: string, kept: number, value: string) =>
    `<Change><Action>${action}</Action><ResourceRecordSet><Name>${escaped(absoluteName(set.name, set.zone))}.</Name><Type>${set.type}</Type><TTL>${kept}</TTL><ResourceRecords><ResourceRecord><Value>${value}</Value></ResourceRecord></ResourceRecords></ResourceRecordSet></Change>`;
  const before = held?.values[0];
  const deleted = before === undefined ? "" : change("DELETE", held?.ttl ?? 0, before);
  return deleted + (content ? change("CREATE", content.ttl ?? held?.ttl ?? usualTtl, content.value) : "");
}

/** A batch has at most 1,000 records and 32,000 characters in their values, so a shorter value counts as 32. */
const charactersOf = ({ content, held }: SetChange<undefined>): number =>
  [content.value, ...(held?.values ?? [])].reduce((sum, value) => sum + Math.max(32, value.length), 0);

function heldIn(sets: readonly string[], set: SetName): Lookup<HeldSet<undefined> | undefined> {
  const owner = absoluteName(set.name, set.zone);
  const [first, second] = sets.filter((each) => nameIn(each) === owner && textIn(each, "Type") === set.type);
  if (first === undefined) return { kind: "found", value: undefined };
  const ttl = Number(textIn(first, "TTL"));
  const isPlain = !/<(?:AliasTarget|SetIdentifier)>/.test(first) && second === undefined;
  if (!isPlain || !Number.isInteger(ttl)) return notPlain(owner, set);
  const values = elementsIn(first, "ResourceRecord").map((record) => textIn(record, "Value") ?? "");
  return { kind: "found", value: { values, ttl, rest: undefined } };
}

/** The query for the next page; empty after the last one. The keys are sorted, as the signature requires. */
function nextPage(xml: string): string {
  if (textIn(xml, "IsTruncated") !== "true") return "";
  const parts = [
    ["identifier", textIn(xml, "NextRecordIdentifier")],
    ["maxitems", "300"],
    ["name", textIn(xml, "NextRecordName")],
    ["type", textIn(xml, "NextRecordType")],
  ].filter(([, value]) => value !== undefined);
  return parts.map(([key, value = ""]) => `${key}=${encodeURIComponent(value).replaceAll("*", "%2A")}`).join("&");
}

/** `\052` is how it writes an asterisk. */
const nameIn = (xml: string): string => askedZoneName((textIn(xml, "Name") ?? "").replace(/^\\052/, "*"));

const changedMeanwhile = later(
  "another client changed the record at the same time",
  "no action needed: moor reads it and retries",
);

const notPlain = (owner: string, { type }: SetName): TargetFault => ({
  kind: "refused",
  because: `${owner} ${type} is an alias, or has a routing policy`,
  todo: "replace it with a plain record with one address, in the AWS console",
});

import { absoluteName, zoneNameOf } from "../../../core/names/name.ts";
import { printable } from "../../../core/visible-text.ts";
import type { HttpClient, HttpOutcome } from "../../../lib/http-client/client.ts";
import { escaped, findElement, findElements, readXml, textIn, type XmlElement } from "../../../lib/http-client/xml.ts";
import {
  type ApiDialect,
  followPages,
  type ListedPage,
  later,
  noZone,
  readAnswer,
  unexpected,
  unknownCall,
} from "../../../providers/answers/service-answer.ts";
import type { Lookup } from "../../../providers/answers/service-fault.ts";
import { readWritten } from "../../../providers/answers/write-answer.ts";
import type { CurrentSet, ListedZone, SetName } from "../../../providers/provider-calls.ts";
import { listedName, type NewSetContent } from "../set-target.ts";
import type { TargetFault, TargetKind } from "../target.ts";
import { type KeyPairTarget, keyPairSettings } from "../token-target.ts";
import { createZoneTarget, type TargetSetChange, type ZoneCalls } from "../zone-target.ts";
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

/** Codes of temporary errors, which are sent with the status 400. */
const passing = ["Throttling", "ThrottlingException", "PriorRequestNotComplete"];

/** Characters. A page has at most 300 sets. */
const longestAnswer = 4 * 1024 * 1024;

const nothing: XmlElement = { name: "", text: "", children: [] };

/** What the dialect keeps of an answer. */
const xmlIn = (body: Readonly<Record<string, unknown>> | undefined): XmlElement =>
  (body?.xml as XmlElement | undefined) ?? nothing;

const dialect: ApiDialect = {
  service,
  renew:
    "use an access key with the permissions route53:ListHostedZonesByName, ListResourceRecordSets and ChangeResourceRecordSets",
  parse(text) {
    const xml = text.trimStart().startsWith("<?xml") ? readXml(text.trim(), longestAnswer) : undefined;
    return xml && { xml };
  },
  errorIn(status, body) {
    const xml = xmlIn(body);
    const code = textIn(xml, "Code") ?? (findElement(xml, "InvalidChangeBatch") ? "InvalidChangeBatch" : "");
    const inside = passing.includes(code) ? 429 : status;
    const reasons = findElements(xml, "Message")
      .map(({ text }) => text)
      .join(" ");
    const message = status < 400 || code === "" ? "" : `${code}: ${reasons}`;
    const isStale = code === "InvalidChangeBatch" && saysStale(reasons);
    return { status: inside, code: isStale ? stale : code, message: printable(message) };
  },
};

function route53Calls(config: KeyPairTarget, client: HttpClient): ZoneCalls<undefined> {
  const zones = new Route53Zones(config, client);

  return {
    service,
    async read(set, signal) {
      const owner = absoluteName(set.name, set.zone);
      const setsLookup = await zones.sets(
        set.zone,
        `maxitems=2&name=${encodeURIComponent(owner).replaceAll("*", "%2A")}&type=${set.type}`,
        signal,
      );
      return setsLookup.kind === "found" ? currentSetOf(setsLookup.value, set) : setsLookup;
    },
    write: (set, content, current, signal) => zones.change([{ set, content, current }], signal),
    remove: (set, current, signal) => zones.change([{ set, current }], signal),
    async readAll(sets, signal) {
      const all = await zones.allSets(sets[0]?.zone ?? "", signal);
      if (all.kind !== "found") return sets.map(() => all);
      const byName = Map.groupBy(all.value, nameIn);
      return sets.map((set) => currentSetOf(byName.get(absoluteName(set.name, set.zone)) ?? [], set));
    },
    writeAll: (changes, signal) => zones.change(changes, signal),
    batch: { sizeOf: charactersOf, most: 32_000 },
    zones: (signal) => zones.from("maxitems=100", nextZones, signal),
    async records(zone, signal) {
      const setsLookup = await zones.allSets(zone, signal);
      if (setsLookup.kind !== "found") return setsLookup;
      const listed = setsLookup.value.flatMap((set) => {
        const [type = "", ttl] = [textIn(set, "Type"), Number(textIn(set, "TTL"))];
        const more = { name: listedName(nameIn(set), zone), type, ...(ttl && { ttl }) };
        return findElements(set, "ResourceRecord").map((record) => ({ ...more, value: textIn(record, "Value") ?? "" }));
      });
      return { kind: "found", value: listed };
    },
    close: () => client.close(),
  };
}

type ZoneLookup = (xml: XmlElement, zones: readonly ListedZone[]) => string;

/** The zones of an account, and their sets. */
class Route53Zones {
  readonly #config: KeyPairTarget;
  readonly #client: HttpClient;
  readonly #ids = new Map<string, string>();

  constructor(config: KeyPairTarget, client: HttpClient) {
    this.#config = config;
    this.#client = client;
  }

  /** `next`: the query of the page after this one, if more zones are needed. */
  from(first: string, next: ZoneLookup, signal: AbortSignal): Promise<Lookup<readonly ListedZone[]>> {
    return followPages(service, first, async (query): Promise<ListedPage<ListedZone> | TargetFault> => {
      const answer = await this.#get("/hostedzonesbyname", query, signal);
      if (answer.kind === "absent") return unknownCall(answer, service);
      if (answer.kind !== "found") return answer;
      if (findElement(answer.value, "HostedZones") === undefined) return unexpected("no list of zones", service);
      const all = findElements(answer.value, "HostedZone");
      const listed = all.map((zone) => ({ id: textIn(zone, "Id")?.replace(/^.*\//, "") ?? "", name: nameIn(zone) }));
      const items = listed.filter((_, at) => textIn(all[at], "PrivateZone") !== "true");
      return { kind: "page", items, next: next(answer.value, listed) };
    });
  }

  async sets(zone: string, query: string, signal: AbortSignal): Promise<Lookup<readonly XmlElement[]>> {
    const page = await this.#pageOfSets(zone, query, signal);
    return page.kind === "found" ? { kind: "found", value: findElements(page.value, "ResourceRecordSet") } : page;
  }

  allSets(zone: string, signal: AbortSignal): Promise<Lookup<readonly XmlElement[]>> {
    return followPages(service, "maxitems=300", async (query): Promise<ListedPage<XmlElement> | TargetFault> => {
      const page = await this.#pageOfSets(zone, query, signal);
      if (page.kind !== "found") return page;
      return { kind: "page", items: findElements(page.value, "ResourceRecordSet"), next: nextSets(page.value) };
    });
  }

  async change(changes: readonly Change[], signal: AbortSignal) {
    const body = `<?xml version="1.0" encoding="UTF-8"?><ChangeResourceRecordSetsRequest xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><ChangeBatch><Changes>${changes.map(changeXml).join("")}</Changes></ChangeBatch></ChangeResourceRecordSetsRequest>`;
    const path = `${version}/hostedzone/${this.#ids.get(changes[0]?.set.zone ?? "")}/rrset/`;
    const written = readWritten(await this.#send("POST", path, "", body, signal), [200], Date.now(), dialect);
    if (written.kind === "accepted") return { kind: "accepted", value: undefined } as const;
    return written.kind === "refused" && "code" in written.because && written.because.code === stale
      ? ({ kind: "refused", because: changedMeanwhile } as const)
      : written;
  }

  async #pageOfSets(zone: string, query: string, signal: AbortSignal): Promise<Lookup<XmlElement>> {
    const id = await this.#idOf(zone, signal);
    if (id.kind !== "found") return id;
    const answer = await this.#get(`/hostedzone/${id.value}/rrset`, query, signal);
    if (answer.kind === "found") {
      return findElement(answer.value, "ResourceRecordSets") ? answer : unexpected("no record sets", service);
    }
    if (answer.kind !== "absent") return answer;
    this.#ids.delete(zone);
    return noZone(zone, service);
  }

  async #idOf(zone: string, signal: AbortSignal): Promise<Lookup<string>> {
    const cachedId = this.#ids.get(zone);
    if (cachedId !== undefined) return { kind: "found", value: cachedId };
    // Private zones may have the same name.
    const next: ZoneLookup = (xml, zones) => (zones.every(({ name }) => name === zone) ? nextZones(xml) : "");
    const zonesLookup = await this.from(`dnsname=${zone}&maxitems=10`, next, signal);
    if (zonesLookup.kind !== "found") return zonesLookup;
    const id = zonesLookup.value.find(({ name }) => name === zone)?.id;
    if (!id) return noZone(zone, service);
    this.#ids.set(zone, id);
    return { kind: "found", value: id };
  }

  async #get(
    path: string,
    query: string,
    signal: AbortSignal,
  ): Promise<Lookup<XmlElement> | { kind: "absent"; message: string }> {
    const answer = readAnswer(await this.#send("GET", version + path, query, "", signal), [200], Date.now(), dialect);
    return answer.kind === "ok" ? { kind: "found", value: xmlIn(answer.value) } : answer;
  }

  #send(method: "GET" | "POST", path: string, query: string, body: string, signal: AbortSignal): Promise<HttpOutcome> {
    const key = {
      id: this.#config.key(),
      secret: this.#config.secret(),
      region: "us-east-1",
      service: "route53",
    };
    const signed = signAws({ method, host: this.#config.url.host, path, query, body }, key, Date.now());
    const content = body === "" ? {} : { "content-type": "application/xml" };
    const request = {
      method,
      path: query === "" ? path : `${path}?${query}`,
      headers: { ...signed, ...content },
      secrets: [key.secret],
    };
    return this.#client.send(body === "" ? request : { ...request, body }, signal);
  }
}

/** Without content, the set is removed. */
type Change = Pick<TargetSetChange<undefined>, "set" | "current"> & { readonly content?: NewSetContent };

/** A deletion and a creation, of which both or none are carried out. Deleting works only with the exact content. */
function changeXml({ set, content, current }: Change): string {
  const change = (action: string, kept: number, value: string) =>
    `<Change><Action>${action}</Action><ResourceRecordSet><Name>${escaped(absoluteName(set.name, set.zone))}.</Name><Type>${set.type}</Type><TTL>${kept}</TTL><ResourceRecords><ResourceRecord><Value>${value}</Value></ResourceRecord></ResourceRecords></ResourceRecordSet></Change>`;
  const before = current?.values[0];
  const deleted = before === undefined ? "" : change("DELETE", current?.ttl ?? 0, before);
  return deleted + (content ? change("CREATE", content.ttl ?? current?.ttl ?? usualTtl, content.value) : "");
}

/** A batch has at most 1,000 records and 32,000 characters in their values, so a shorter value counts as 32. */
const charactersOf = ({ content, current }: TargetSetChange<undefined>): number =>
  [content.value, ...(current?.values ?? [])].reduce((sum, value) => sum + Math.max(32, value.length), 0);

function currentSetOf(sets: readonly XmlElement[], set: SetName): Lookup<CurrentSet<undefined> | undefined> {
  const owner = absoluteName(set.name, set.zone);
  const [first, second] = sets.filter((each) => nameIn(each) === owner && textIn(each, "Type") === set.type);
  if (first === undefined) return { kind: "found", value: undefined };
  const ttl = Number(textIn(first, "TTL"));
  const isPlain = !["AliasTarget", "SetIdentifier"].some((name) => findElement(first, name)) && second === undefined;
  if (!isPlain || !Number.isInteger(ttl)) return notPlain(owner, set);
  const values = findElements(first, "ResourceRecord").map((record) => textIn(record, "Value") ?? "");
  return { kind: "found", value: { values, ttl, raw: undefined } };
}

const nextSets = (xml: XmlElement): string =>
  nextPage(xml, {
    identifier: "NextRecordIdentifier",
    maxitems: "300",
    name: "NextRecordName",
    type: "NextRecordType",
  });

const nextZones = (xml: XmlElement): string =>
  nextPage(xml, { dnsname: "NextDNSName", hostedzoneid: "NextHostedZoneId", maxitems: "100" });

/**
 * The query for the next page, from the elements with these names; empty after the last one. The signature needs sorted
 * keys.
 */
function nextPage(xml: XmlElement, { maxitems, ...names }: Readonly<Record<string, string>>): string {
  if (textIn(xml, "IsTruncated") !== "true") return "";
  const values = Object.entries(names).map(([key, name]) => [key, textIn(xml, name)] as const);
  return [...values, ["maxitems", maxitems] as const]
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value = ""]) => `${key}=${encodeURIComponent(value).replaceAll("*", "%2A")}`)
    .join("&");
}

/** `\052` is how it writes an asterisk. */
const nameIn = (xml: XmlElement): string => zoneNameOf((textIn(xml, "Name") ?? "").replace(/^\\052/, "*"));

/** Our own code for an InvalidChangeBatch that says only that sets are not as moor read them. */
const stale = "stale";

/** There are many other reasons: a CNAME of the same name, a name outside of the zone. */
function saysStale(reasons: string): boolean {
  const others = reasons.replaceAll(staleReason, "");
  return others !== reasons && /^[[\],\s]*$/.test(others);
}

const staleReason =
  /Tried to (?:create|delete) resource record set \[[^\]]*\] but (?:it already exists|it was not found|the values provided do not match the current values)/g;

const changedMeanwhile = later(
  "another client changed the record at the same time",
  "no action needed: moor reads it and retries",
);

const notPlain = (owner: string, { type }: SetName): TargetFault => ({
  kind: "refused",
  because: `${owner} ${type} is an alias, or has a routing policy`,
  todo: "replace it with a plain record with one address, in the AWS console",
});

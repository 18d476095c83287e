import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { parseAddress, parseIpv4, parseIpv6 } from "../../../core/addresses/address.ts";
import type { ReportedIpv6 } from "../../../core/addresses/interface-report.ts";
import { type AddressScope, scopeOf } from "../../../core/addresses/scope.ts";
import { printable } from "../../../core/visible-text.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import type { Endpoint } from "../../../lib/http-client/endpoint.ts";
import { within } from "../../../process/within.ts";
import { type AddressSource, onlyDevice, type SourceReading, unavailable, type WhyUnknown } from "../source.ts";
import { checkWithin, followEvents } from "./events.ts";
import { isOffline } from "./external-address.ts";
import type { SoapAnswer } from "./soap.ts";
import { createUpnpDevice, type Failed } from "./upnp.ts";

export type FritzboxSource = { readonly url: URL; readonly timeout: number };

const turnOn =
  "turn on both settings in Home Network: Network: Network Settings: Access Settings in the Home Network, or correct `url:`";

export function createFritzboxSource(
  { url, timeout }: FritzboxSource,
  connect: (endpoint: Endpoint) => Promise<HttpClient>,
  interval?: number,
  resolve: Resolve = async (name) => (await lookup(name, { family: 4 })).address,
): AddressSource {
  const box = createUpnpDevice(() => locate(url, resolve, timeout), { timeout, connect });

  const read = async (signal: AbortSignal): Promise<SourceReading> => {
    const search = await box.find(signal);
    if (search.kind === "not-found") return unavailable(`${url.host} does not answer`, turnOn);
    if (search.kind === "failed") return unavailable(search.because, turnOn);
    const [connection] = search.connections;
    if (!connection) return unavailable(`${url.host} has no connection to the internet`, turnOn);
    const answers: Exclude<SoapAnswer, Failed>[] = [];
    for (const action of ["GetExternalIPAddress", "X_AVM_DE_GetExternalIPv6Address", "X_AVM_DE_GetIPv6Prefix"]) {
      const answer = await box.call(connection, action, signal);
      if (answer.kind === "failed") return unavailable(answer.because, turnOn);
      answers.push(answer);
    }
    const [ipv4, ipv6, prefix] = answers;
    return ipv4 && ipv6 && prefix ? readingOf(ipv4Of(ipv4), ipv6Of(ipv6, prefix)) : unavailable("no answer", turnOn);
  };

  return {
    read,
    async follow(hear, signal) {
      const first = await read(signal);
      const eventService = box.events();
      if (first.kind === "unavailable" || !eventService) return { kind: eventService ? "ended" : "not-offered" };
      const onChange = async () => {
        const reading = await read(signal);
        if (!signal.aborted) hear(reading);
        return box.events()?.events.href === eventService.events.href;
      };
      return followEvents({ ...eventService, onChange, times: checkWithin(interval) }, signal);
    },
    close: () => box.close(),
  };
}

/** The IPv4 address of a name. */
type Resolve = (name: string) => Promise<string>;

const local: readonly AddressScope[] = ["private", "loopback", "link-local"];

/**
 * The name fritz.box leads to the box only on machines that use the box as their resolver; for all others it is a name
 * on the internet, whose owner could return any address.
 */
async function locate(url: URL, resolve: Resolve, timeout: number): Promise<URL | Failed> {
  const at = new URL("/igddesc.xml", url);
  if (isIP(at.hostname) !== 0) return at;
  const failed = (what: string): Failed => ({ kind: "failed", because: `the name ${at.hostname} ${what}` });
  try {
    const address = await within(timeout, resolve(at.hostname));
    const parsed = parseAddress(address);
    if (!parsed || !local.includes(scopeOf(parsed)))
      return failed(`resolves to ${address}, which is not in the local network`);
    at.hostname = address;
    return at;
  } catch {
    return failed("cannot be resolved");
  }
}

/** What the box reports about one family. `none` is an empty answer. */
type ReadEntries<T> = { readonly kind: "known"; readonly entries: readonly T[] };
type FamilyReading<T> = ReadEntries<T> | { readonly kind: "none" } | ({ readonly kind: "unknown" } & WhyUnknown);

function readingOf(ipv4: FamilyReading<string>, ipv6: FamilyReading<ReportedIpv6>): SourceReading {
  const why = [ipv4, ipv6].find((part) => part.kind === "unknown");
  // If the other family has an address the box is online, so an empty answer means that it has none: DS-Lite, or IPv6
  // is disabled.
  if (ipv4.kind !== "known" && ipv6.kind !== "known") {
    return why ? unavailable(why.because, why.todo) : unavailable(...offline);
  }
  const report = new Map([
    [
      onlyDevice,
      {
        device: onlyDevice,
        ipv4: ipv4.kind === "known" ? ipv4.entries.map((text) => ({ text })) : [],
        ipv6: ipv6.kind === "known" ? ipv6.entries : [],
      },
    ],
  ]);
  if (ipv4.kind === "unknown") return { kind: "report", report, unknown: { ipv4 } };
  if (ipv6.kind === "unknown") return { kind: "report", report, unknown: { ipv6 } };
  return { kind: "report", report };
}

const offline = ["the FRITZ!Box is not connected to the internet", "check its connection"] as const;

const unknown = (because: string, todo = "update FRITZ!OS") => ({ kind: "unknown", because, todo }) as const;

type Answered = Exclude<SoapAnswer, Failed>;

/** A box in use as a repeater, or an old one, refuses some actions. */
const refused = (what: string, { because }: { readonly because: string }) =>
  unknown(`the FRITZ!Box refused to report its ${what}: ${because}`);

const malformed = (what: string, text: string | undefined) =>
  unknown(
    text === undefined
      ? `the FRITZ!Box sent an answer without its ${what}`
      : `the FRITZ!Box reports "${printable(text)}" as its ${what}`,
  );

function ipv4Of(answer: Answered): FamilyReading<string> {
  if (answer.kind === "refused") return refused("IPv4 address", answer);
  const text = answer.value("NewExternalIPAddress");
  if (text !== undefined && isOffline(text)) return { kind: "none" };
  return text !== undefined && parseIpv4(text) ? { kind: "known", entries: [text] } : malformed("IPv4 address", text);
}

function ipv6Of(address: Answered, prefix: Answered): FamilyReading<ReportedIpv6> {
  if (address.kind === "refused") return refused("IPv6 address", address);
  const own = entryOf(address.value, "NewExternalIPv6Address");
  if (typeof own === "string" || own === undefined) return malformed("IPv6 address", own);
  const delegated = prefix.kind === "refused" ? [] : prefixOf(prefix.value);
  if (typeof delegated === "string" || delegated === undefined) return malformed("IPv6 prefix", delegated);
  const entries = [
    // Without the delegated prefix, nothing is known about the network behind the box: the address is only for the box
    // itself.
    ...own.map((entry) => (delegated.length > 0 ? entry : { ...entry, prefixLength: 128 })),
    ...delegated.map((entry) => ({ ...entry, delegated: true as const })),
  ];
  return entries.length > 0 ? { kind: "known", entries } : { kind: "none" };
}

/** A prefix with a lifetime of zero is the one that the provider has withdrawn. */
const prefixOf = (value: (name: string) => string | undefined) =>
  numberIn(value("NewValidLifetime")) === 0 ? [] : entryOf(value, "NewIPv6Prefix");

/** An empty list if the box has none, the text if it is invalid, undefined if it is missing. */
function entryOf(
  value: (name: string) => string | undefined,
  name: string,
): readonly ReportedIpv6[] | string | undefined {
  const text = value(name);
  // Some releases also append the length to the prefix.
  const bare = text?.replace(/\/\d{1,3}$/, "");
  if (text === undefined || bare === undefined) return undefined;
  if (bare === "" || bare === "::") return [];
  if (!parseIpv6(bare)) return text;
  const [length, valid, preferred] = ["NewPrefixLength", "NewValidLifetime", "NewPreferedLifetime"].map((each) =>
    numberIn(value(each)),
  );
  return [
    {
      text: bare,
      linkLocal: false,
      deprecated: preferred === 0 && valid !== undefined && valid > 0,
      tentative: false,
      detached: false,
      ...(length !== undefined && length !== 0 && { prefixLength: length }),
      ...(valid === undefined || valid === 0
        ? {}
        : { validLifetime: valid === forever ? Number.POSITIVE_INFINITY : valid }),
    },
  ];
}

const forever = 0xffff_ffff;

const numberIn = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;

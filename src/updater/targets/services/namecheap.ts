import { createHash } from "node:crypto";
import { absoluteName } from "../../../core/names/name.ts";
import { printable } from "../../../core/visible-text.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import { readXml, textIn, type XmlElement } from "../../../lib/http-client/xml.ts";
import { mapping, needed } from "../../../lib/settings/mapping.ts";
import { listOf, type SettingType } from "../../../lib/settings/setting.ts";
import { type ApiDialect, cannotList, later, unknownCall } from "../../../providers/answers/service-answer.ts";
import { readWritten } from "../../../providers/answers/write-answer.ts";
import { dnsServer, hostedFields, oneTrust, withTrust } from "../../config/endpoint.ts";
import type { TargetConfig } from "../../config/kinds.ts";
import { secret } from "../../config/secret.ts";
import { readingByDns } from "../ask-dns.ts";
import type { RecordTarget, ReplaceRequest, TargetFault, TargetKind, WriteOutcome } from "../target.ts";

const settings = mapping(
  {
    ...hostedFields("https://dynamicdns.park-your-domain.com"),
    token: needed(secret("The Dynamic DNS password of the domain.")),
    dns: listOf(dnsServer, "DNS servers to ask what the record holds, instead of the zone's own."),
  },
  {
    title: "Target: namecheap",
    description:
      "Namecheap's Dynamic DNS, for A records that exist as *A + Dynamic DNS Record*. Its other API is not used: it replaces all records of a domain and works only from fixed addresses.",
    checkKeys: oneTrust,
    transform(value, place) {
      const { dns = [], ...rest } = withTrust(value, place);
      return { ...rest, dns, account: createHash("sha256").update(rest.token()).digest("hex").slice(0, 16) };
    },
  },
);

type NamecheapTarget = TargetConfig & SettingType<typeof settings>;

export const namecheap = {
  ...settings,
  can: { create: false, ttl: false, ipv6: false },
  open: async (config: NamecheapTarget, connect) => createNamecheapTarget(config, await connect(config)),
} satisfies TargetKind<NamecheapTarget>;

const service = "Namecheap";
const renew = "copy the Dynamic DNS password from the domain's page *Advanced DNS*";

/** What the dialect keeps of an answer. */
const xmlIn = (body: Readonly<Record<string, unknown>> | undefined) => body?.xml as XmlElement | undefined;

const dialect: ApiDialect = {
  service,
  renew,
  parse(text) {
    const xml = readXml(text.trim());
    return xml?.name === "interface-response" ? { xml } : undefined;
  },
  // Errors have the status 200.
  errorIn(status, body) {
    const xml = xmlIn(body);
    const count = Number(textIn(xml, "ErrCount") ?? 0);
    if (count === 0) return { status, code: "", message: "" };
    const errorText = printable(textIn(xml, "Err1") ?? "an error without a text");
    return { status: status === 200 ? statusOf(errorText) : status, code: "", message: errorText };
  },
};

const statusOf = (errorText: string): number =>
  /password/i.test(errorText) ? 401 : /not found/i.test(errorText) ? 404 : 422;

/** The API can only write, one address per request; reading is a DNS query. */
function createNamecheapTarget(config: NamecheapTarget, client: HttpClient): RecordTarget {
  return {
    async replace(request, signal) {
      const { zone, name, value } = request;
      const query = new URLSearchParams({ host: name, domain: zone, password: config.token(), ip: value });
      const httpRequest = {
        method: "GET",
        path: `/update?${query.toString()}`,
        headers: {},
        secrets: [config.token()],
      } as const;
      const written = readWritten(await client.send(httpRequest, signal), [200], Date.now(), dialect);
      if (written.kind === "unknown") return { kind: "unknown", fault: written.fault };
      if (written.kind === "accepted") return confirmed(xmlIn(written.value), request);
      const { because } = written;
      if (because.kind === "absent") return { kind: "refused", fault: stopped(noHost(request, because.message), true) };
      return { kind: "refused", fault: because.kind === "unauthorised" ? stopped(because, false) : because };
    },
    ...readingByDns(config.dns, cannotList(service, notListed)),
    close: () => client.close(),
  };
}

const notListed = "see the domain's page *Advanced DNS*";

function confirmed(xml: XmlElement | undefined, { zone, name, value }: ReplaceRequest): WriteOutcome {
  const stored = textIn(xml, "IP");
  if (textIn(xml, "Done") === "true" && stored === value) {
    return { kind: "done", recordId: absoluteName(name, zone), ttl: null };
  }
  const because = stored
    ? `Namecheap stored ${printable(stored)} instead of ${value}`
    : "Namecheap did not finish the update";
  return { kind: "unknown", fault: later(because) };
}

const day = 86_400_000;

/** Retrying with a wrong password or host would get the client blocked. */
const stopped = (fault: TargetFault, onlyName: boolean): TargetFault => ({
  ...fault,
  todo: `${fault.todo}; moor does not try again for a day, unless the settings change`,
  retryAfter: day,
  onlyName,
});

const noHost = ({ zone, name }: ReplaceRequest, errorText: string): TargetFault =>
  errorText === ""
    ? unknownCall({ kind: "absent", message: errorText }, service)
    : {
        kind: "missing",
        because: `Namecheap has no A + Dynamic DNS record ${absoluteName(name, zone)} (${errorText})`,
        todo: "create it on the domain's page *Advanced DNS*, with any address, and switch on Dynamic DNS there",
      };

import type { Method, RefusalMatch } from "./call.ts";
import type { Match } from "./match.ts";

/** A service that takes an address in one request. */
export type Service = {
  /** Its name in messages. */
  readonly title: string;
  /** What was read for this description: the service's own page, or how other programs do it. */
  readonly source: string;
  /** What users must know. */
  readonly about: string;
  /** The credentials, by placeholder; the values describe them. `user` is not a secret. */
  readonly credentials: { readonly user?: string; readonly password?: string; readonly token?: string };
  /** Sends `user` and `password` as Basic authentication. */
  readonly basic?: true;
  readonly url: string;
  readonly method?: Method;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly done: Match | readonly Match[];
  readonly unchanged?: Match | readonly Match[];
  readonly refused: readonly RefusalMatch[];
  /** It answers with web pages, or with texts in tags. Otherwise, a page is not from the service. */
  readonly html?: true;
  /** What a success looks like is not documented: it counts when the nameservers show the address. */
  readonly readBack?: true;
  /** No source shows that it takes IPv6 addresses, or it mixes up the records of a name that has both. */
  readonly ipv6?: false;
};

const json = (entries: Readonly<Record<string, string>>) => new Map(Object.entries(entries));

/** The service uses statuses as HTTP defines them. */
const byStatus: readonly RefusalMatch[] = [{ status: [400, 401, 403, 404, 409, 422, 429] }];

const ddclient = "ddclient (https://github.com/ddclient/ddclient, ddclient.in)";
const ddnsUpdater = "ddns-updater (https://github.com/qdm12/ddns-updater, internal/provider/providers)";
const inadyn = "inadyn (https://github.com/troglobit/inadyn, plugins)";
const ipfire = "IPFire's ddns (src/ddns/providers.py)";
const openwrt = "OpenWrt (https://github.com/openwrt/packages, net/ddns-scripts)";
const tomato = "Tomato (mdu.c)";

/** Sorted by name. */
export const httpServices = {
  "1984hosting": {
    title: "1984 Hosting",
    source: `as ${ddclient} does it`,
    about: "1984's FreeDNS, IPv4 only.",
    credentials: { token: "The API key." },
    url: "https://api.1984.is/1.0/freedns/?apikey={token}&domain={name}&ip={address}",
    done: { json: json({ ok: "true" }) },
    unchanged: { json: json({ ok: "true" }), text: "unaltered" },
    refused: [{ json: json({ ok: "false" }) }],
    ipv6: false,
  },
  changeip: {
    title: "ChangeIP",
    source: `https://www.changeip.com/accounts/knowledgebase.php?action=displayarticle&id=34 and id=47; the answers as ${openwrt} and ${ipfire} read them`,
    about: "ChangeIP's dynamic DNS, IPv4 only.",
    credentials: { user: "The user name.", password: "The password." },
    basic: true,
    url: "https://nic.changeip.com/nic/update?hostname={name}&myip={address}",
    done: { text: "Successful Update" },
    refused: [...byStatus, { status: [402] }],
    ipv6: false,
  },
  cloudns: {
    title: "ClouDNS",
    source: `as ${ddclient} does it`,
    about:
      "ClouDNS's Dynamic URL, which belongs to one record: a name with IPv4 and IPv6 needs two targets, and every name its own. A write counts when ClouDNS's nameservers show the address.",
    credentials: { token: "The text after `q=` in the Dynamic URL of the record." },
    url: "https://ipv4.cloudns.net/api/dynamicURL/?q={token}&proxy=1",
    headers: { "X-Forwarded-For": "{address}" },
    done: { line: "OK" },
    readBack: true,
    refused: [{ text: "The record's key is wrong", means: "credentials" }, { text: "Invalid request" }],
  },
  ddnss: {
    title: "DDNSS",
    html: true,
    source: `as ${ddnsUpdater}, ${inadyn} and ${openwrt} do it; an answer is in https://github.com/openwrt/packages/issues/8013`,
    about:
      "ddnss.de, with the user name and password of the account. For IPv6, switch on dual-stack for the host there: without it, DDNSS ignores the IPv6 address and takes that of the connection.",
    credentials: { user: "The user name.", password: "The password." },
    url: "https://www.ddnss.de/upd.php?user={user}&pwd={password}&host={name}&ip={ipv4}&ip6={ipv6}",
    done: { text: "Updated 1 hostname" },
    unchanged: { text: "No change" },
    refused: [{ text: "badauth", means: "credentials" }, { text: "notfqdn", means: "name" }, { text: "badysys" }],
  },
  dnsexit: {
    title: "DNSExit",
    source: `https://dnsexit.com/dns/dns-api/; the codes from a copy of ddclient's dnsexit2`,
    about: "DNSExit's API. It sets the TTL of the record to five minutes.",
    credentials: { token: "The API key." },
    url: "https://api.dnsexit.com/dns/",
    method: "POST",
    body: '{"apikey": "{token}", "domain": "{zone}", "update": [{"type": "{type}", "name": "{name}", "content": "{address}", "ttl": 5}]}',
    done: { json: json({ code: "0" }) },
    refused: [
      { json: json({ code: "2" }), means: "credentials" },
      // 1 is a warning; 6 and 7 are errors of the service, after which the record may hold anything.
      ...["3", "4", "5"].map((code) => ({ json: json({ code }) })),
    ],
  },
  domaindiscount24: {
    title: "domaindiscount24",
    source: `https://support.domaindiscount24.com/hc/en-gb/articles/4409759444625-Dynamic-DNS; the answers as ${ddclient} and ${ipfire} read them, with the codes of RFC 2832`,
    about:
      "Dynamic DNS of Key-Systems (domaindiscount24, RRPproxy), IPv4 only. It accepts one update of a name in 30 minutes.",
    credentials: { password: "The Dynamic DNS password of the name." },
    url: "https://dynamicdns.key-systems.net/update.php?hostname={name}&password={password}&ip={address}",
    done: { line: "code = 200" },
    refused: [
      { text: "invalid password", means: "credentials" },
      { line: "code = 530", means: "credentials" },
      { text: "Authorization failed", means: "name" },
      { line: "code = 545", means: "name" },
      { text: "abuse prevention triggered", means: "rate" },
      ...["500", "541", "549", "552"].map((code) => ({ line: `code = ${code}` })),
    ],
    ipv6: false,
  },
  domeneshop: {
    title: "Domeneshop",
    source: `as ${ddnsUpdater} and ${ddclient} do it`,
    about: "Domeneshop (domainname.shop). Token and secret are those of its API.",
    credentials: { user: "The API token.", password: "The API secret." },
    basic: true,
    url: "https://api.domeneshop.no/v0/dyndns/update?hostname={name}&myip={address}",
    done: { status: [204] },
    refused: byStatus,
  },
  dondominio: {
    title: "DonDominio",
    source: `https://dondominio.dev/en/dondns/docs/api; the answers as ${ddnsUpdater} read them in 2023`,
    about: "DonDominio's DonDNS, IPv4 only.",
    credentials: { user: "The user name.", token: "The DonDNS key." },
    url: "https://dondns.dondominio.com/json/?user={user}&apikey={token}&host={name}&ip={address}",
    done: { json: json({ success: "true" }) },
    refused: [{ json: json({ success: "false" }) }],
    ipv6: false,
  },
  duckdns: {
    title: "DuckDNS",
    source: "https://www.duckdns.org/spec.jsp",
    about: "DuckDNS. The zone is `duckdns.org`.",
    credentials: { token: "The token of the account." },
    url: "https://www.duckdns.org/update?domains={name}&token={token}&verbose=true&ip={ipv4}&ipv6={ipv6}",
    done: { text: "{address}" },
    unchanged: { line: "NOCHANGE" },
    refused: [{ line: "KO", means: "credentials" }],
  },
  dynv6: {
    title: "dynv6",
    source: "https://dynv6.com/docs/apis; the answers from https://github.com/troglobit/inadyn/issues/277",
    about: "dynv6's Update API, which changes the addresses of a zone: a name such as `home.dynv6.net`.",
    credentials: { token: "An HTTP token that may change the zone." },
    url: "https://dynv6.com/api/update?zone={name}&token={token}&ipv4={ipv4}&ipv6={ipv6}",
    done: { text: "addresses updated" },
    unchanged: { text: "addresses unchanged" },
    refused: byStatus,
  },
  easydns: {
    title: "easyDNS",
    html: true,
    source: `as ${ddclient}, ${inadyn} and ${openwrt} do it; answers are in https://github.com/ddclient/ddclient/issues/582`,
    about: "easyDNS's dynamic DNS.",
    credentials: { user: "The user name.", password: "The dynamic DNS token." },
    basic: true,
    url: "https://api.cp.easydns.com/dyn/generic.php?hostname={name}&myip={address}",
    // The answer is a small web page.
    done: [{ text: ">OK<" }, { text: "NOERROR" }],
    unchanged: { text: "no update required for {name} to {address}" },
    refused: [
      { text: "NO_AUTH", means: "credentials" },
      { text: "NOACCESS", means: "credentials" },
      { text: "NOSERVICE", means: "name" },
      { text: "TOO_FREQ", means: "rate" },
      { text: "TOOSOON", means: "rate" },
      { text: "ILLEGAL INPUT" },
    ],
  },
  enom: {
    title: "eNom",
    html: true,
    source: `as ${ddclient}, ${ipfire} and ${tomato} do it; the answer as eNom describes the command SetDNSHost`,
    about: "eNom's dynamic DNS, IPv4 only.",
    credentials: { password: "The domain's password." },
    url: "https://dynamic.name-services.com/interface.asp?Command=SetDNSHost&HostName={label}&Zone={zone}&DomainPassword={password}&Address={address}",
    done: { line: "IP={address}", text: "ErrCount=0" },
    refused: [
      { line: "Err1=Passwords do not match", means: "credentials" },
      { line: "ResponseNumber1=304155", means: "credentials" },
      { line: "ResponseNumber1=304153", means: "name" },
      { line: "ErrCount=1" },
    ],
    ipv6: false,
  },
  freedns: {
    title: "FreeDNS",
    source: `as ${openwrt} does it (afraid.org-v2-basic.json); the answers from https://github.com/ddclient/ddclient/issues/440`,
    about:
      "FreeDNS of afraid.org, with the user name and password of the account, IPv4 only: with a name that has an A and an AAAA record, FreeDNS may change the wrong one (https://github.com/ddclient/ddclient/pull/163).",
    credentials: { user: "The user name.", password: "The password." },
    basic: true,
    url: "https://sync.afraid.org/u/?h={name}&ip={address}",
    done: { text: "to {address}" },
    unchanged: { text: "No IP change detected for {name} with IP {address}" },
    refused: [{ status: [401, 403] }, { text: "Couldn't find any matching DNS records" }, { text: "ERROR" }],
    ipv6: false,
  },
  freemyip: {
    title: "freemyip.com",
    source: `as ${inadyn} does it, and acme.sh (https://github.com/acmesh-official/acme.sh, dnsapi/dns_freemyip.sh)`,
    about: "freemyip.com. The zone is `freemyip.com`.",
    credentials: { token: "The token of the name." },
    url: "https://freemyip.com/update?token={token}&domain={name}&myip={address}",
    done: { line: "OK" },
    refused: [{ line: "ERROR" }],
  },
  myaddr: {
    title: "myaddr",
    source: `as ${ddnsUpdater} does it`,
    about: "myaddr.tools. A key belongs to one name, so every name needs its own target.",
    credentials: { token: "The key of the name." },
    url: "https://myaddr.tools/update",
    method: "POST",
    body: "key={token}&ip={address}",
    done: { status: [200] },
    refused: byStatus,
  },
  njalla: {
    title: "Njalla",
    source: `as ${ddclient} and ${ddnsUpdater} do it`,
    about: "Njalla, for records of the kind *Dynamic*.",
    credentials: { token: "The key of the record." },
    url: "https://njal.la/update/?h={name}&k={token}&a={ipv4}&aaaa={ipv6}",
    done: { json: json({ status: "200", "value.{type}": "{address}" }) },
    refused: [
      { json: json({ status: "401" }), means: "credentials" },
      { json: json({ status: "*", message: "*" }), status: [400, 403, 404, 409, 422, 429] },
    ],
  },
  regfish: {
    title: "Regfish",
    source: `https://www.regfish.de/domains/dyndns/dokumentation (the beginning); parameters and codes as ${ddclient}, ${openwrt} and ${ipfire} have them`,
    about: "Regfish's DynDNS.",
    credentials: { token: "The update token of the domain." },
    url: "https://dyndns.regfish.de/?fqdn={name}&forcehost=1&token={token}&ipv4={ipv4}&ipv6={ipv6}",
    done: { text: "|100|" },
    unchanged: { text: "|101|" },
    refused: [
      { text: "|401|", means: "credentials" },
      { text: "|412|", means: "name" },
      ...["|402|", "|408|", "|409|"].map((text) => ({ text })),
    ],
  },
  zoneedit: {
    title: "ZoneEdit",
    html: true,
    source: `as ${ddclient}, ${inadyn} and ${tomato} do it; answers are in https://github.com/qdm12/ddns-updater/issues/226 and /890`,
    about: "ZoneEdit's dynamic DNS, IPv4 only. It accepts one update of a name in ten minutes.",
    credentials: { user: "The user name.", password: "The dynamic DNS token." },
    basic: true,
    url: "https://dynamic.zoneedit.com/auth/dynamic.html?host={name}&dnsto={address}",
    done: [{ text: "updated to {address}" }, { text: 'IP="{address}"' }],
    unchanged: [
      { text: 'SUCCESS CODE="201"' },
      { text: "no update required for {name}" },
      { text: "Duplicate updates for the same host/ip" },
    ],
    refused: [
      { text: 'ERROR CODE="708"', means: "credentials" },
      { text: 'ERROR CODE="701"', means: "name" },
      { text: 'ERROR CODE="709"', means: "name" },
      { text: 'ERROR CODE="702"', means: "rate" },
      { text: "Too frequent updates", means: "rate" },
      ...["703", "704", "705"].map((code) => ({ text: `ERROR CODE="${code}"` })),
      { status: [401] },
    ],
    ipv6: false,
  },
} as const satisfies Readonly<Record<string, Service>>;

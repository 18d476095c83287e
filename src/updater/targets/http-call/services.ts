import type { Method, Refusal } from "./call.ts";
import type { Match } from "./match.ts";

/** A service that takes an address in one request. */
export type Service = {
  /** Its name in messages. */
  readonly title: string;
  /** Where its documentation describes the request. */
  readonly source: string;
  /** What users must know. */
  readonly about: string;
  /** The credentials, by placeholder; the values describe them. `user` is not a secret. */
  readonly credentials: { readonly user?: string; readonly password?: string; readonly token?: string };
  /** Sends `user` and `password` as Basic authentication. */
  readonly basic?: true;
  readonly url: string;
  readonly method?: Method;
  readonly body?: string;
  readonly done: Match;
  readonly unchanged?: Match;
  readonly refused: readonly Refusal[];
  readonly ipv6?: false;
};

const json = (entries: Readonly<Record<string, string>>) => new Map(Object.entries(entries));

/** The service uses statuses as HTTP defines them. */
const byStatus: readonly Refusal[] = [{ status: [400, 401, 403, 404, 409, 422, 429] }];

/** Sorted by name. */
export const httpServices = {
  "1984hosting": {
    title: "1984 Hosting",
    source: "https://1984.hosting/blog/dynamic-dns/",
    about: "1984's FreeDNS. The key is on the page of the zone.",
    credentials: { token: "The API key of the zone." },
    url: "https://api.1984.is/1.0/freedns/?apikey={token}&domain={name}&ip={address}",
    done: { json: json({ ok: "true" }) },
    unchanged: { json: json({ ok: "true", msg: "unaltered" }) },
    refused: [{ json: json({ ok: "false" }) }],
  },
  changeip: {
    title: "ChangeIP",
    source: "https://www.changeip.com/accounts/knowledgebase.php",
    about: "ChangeIP's dynamic DNS.",
    credentials: { user: "The user name.", password: "The password." },
    basic: true,
    url: "https://nic.changeip.com/nic/update?hostname={name}&myip={address}",
    done: { text: "Successful Update" },
    refused: byStatus,
  },
  cloudns: {
    title: "ClouDNS",
    source: "https://www.cloudns.net/wiki/article/36/",
    about:
      "ClouDNS's Dynamic URL, which belongs to one record: a name with IPv4 and IPv6 needs two targets, and every name its own.",
    credentials: { token: "The text after `q=` in the Dynamic URL of the record." },
    url: "https://ipv4.cloudns.net/api/dynamicURL/?q={token}&ip={address}",
    done: { line: "OK" },
    refused: [{ text: "The record's key is wrong", means: "credentials" }, { text: "Invalid request" }],
  },
  ddnss: {
    title: "DDNSS",
    source: "https://ddnss.de/info.php",
    about: "ddnss.de, with the user name and password of the account.",
    credentials: { user: "The user name.", password: "The password." },
    url: "https://ddnss.de/upd.php?user={user}&pwd={password}&host={name}&ip={ipv4}&ip6={ipv6}",
    done: { text: "Updated 1 hostname" },
    refused: [
      { text: "badauth", means: "credentials" },
      { text: "notfqdn", means: "name" },
      { text: "badsys" },
      { text: "badysys" },
    ],
  },
  dnsexit: {
    title: "DNSExit",
    source: "https://dnsexit.com/dns/dns-api/",
    about: "DNSExit's API. It sets the TTL of the record to five minutes.",
    credentials: { token: "The API key." },
    url: "https://api.dnsexit.com/dns/",
    method: "POST",
    body: '{"apikey": "{token}", "domain": "{zone}", "update": {"type": "{type}", "name": "{label}", "content": "{address}", "ttl": 5}}',
    done: { json: json({ code: "0" }) },
    refused: [
      { json: json({ code: "2" }), means: "credentials" },
      { json: json({ code: "4" }), means: "name" },
      { json: json({ code: "11" }), means: "rate" },
      ...["3", "5", "6", "7", "8", "9", "10"].map((code) => ({ json: json({ code }) })),
    ],
  },
  domaindiscount24: {
    title: "domaindiscount24",
    source: "https://support.domaindiscount24.com/hc/en-gb/articles/4409759444625-Dynamic-DNS",
    about:
      "Dynamic DNS of Key-Systems (domaindiscount24, RRPproxy), IPv4 only. It accepts one update of a name in 30 minutes.",
    credentials: { password: "The Dynamic DNS password of the name." },
    url: "https://dynamicdns.key-systems.net/update.php?hostname={name}&password={password}&ip={address}",
    done: { line: "code = 200" },
    refused: [
      { line: "code = 530", means: "credentials" },
      { line: "code = 545", means: "name" },
      ...["500", "541", "549", "552"].map((code) => ({ line: `code = ${code}` })),
    ],
    ipv6: false,
  },
  domeneshop: {
    title: "Domeneshop",
    source: "https://api.domeneshop.no/docs/#tag/ddns",
    about: "Domeneshop (domainname.shop). Token and secret are those of its API.",
    credentials: { user: "The API token.", password: "The API secret." },
    basic: true,
    url: "https://api.domeneshop.no/v0/dyndns/update?hostname={name}&myip={address}",
    done: { status: [204] },
    refused: byStatus,
  },
  dondominio: {
    title: "DonDominio",
    source: "https://dev.dondominio.com/dondns/docs/api/",
    about: "DonDominio's DonDNS.",
    credentials: { user: "The user name.", token: "The DonDNS key." },
    url: "https://dondns.dondominio.com/json/?user={user}&password={token}&host={name}&ip={address}",
    done: { json: json({ success: "true" }) },
    refused: [{ json: json({ success: "false" }) }],
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
    source: "https://dynv6.com/docs/apis",
    about: "dynv6's Update API, which changes the addresses of a zone: a name such as `home.dynv6.net`.",
    credentials: { token: "An HTTP token that may change the zone." },
    url: "https://dynv6.com/api/update?zone={name}&token={token}&ipv4={ipv4}&ipv6={ipv6}",
    done: { text: "addresses updated" },
    unchanged: { text: "addresses unchanged" },
    refused: byStatus,
  },
  easydns: {
    title: "easyDNS",
    source: "https://kb.easydns.com/knowledge/dynamic-dns/",
    about: "easyDNS's dynamic DNS.",
    credentials: { user: "The user name.", password: "The dynamic DNS token." },
    basic: true,
    url: "https://api.cp.easydns.com/dyn/generic.php?hostname={name}&myip={address}",
    done: { text: "NOERROR" },
    unchanged: { line: "OK" },
    refused: [
      { text: "NO_AUTH", means: "credentials" },
      { text: "NOACCESS", means: "credentials" },
      { text: "NO_SERVICE", means: "name" },
      { text: "NOSERVICE", means: "name" },
      { text: "TOO_FREQ", means: "rate" },
      { text: "TOOSOON", means: "rate" },
      { text: "ILLEGAL INPUT" },
    ],
  },
  enom: {
    title: "eNom",
    source: "https://api.enom.com/docs/setdnshost",
    about: "eNom's dynamic DNS, IPv4 only.",
    credentials: { password: "The domain's password." },
    url: "https://reseller.enom.com/interface.asp?command=SetDNSHost&hostname={label}&zone={zone}&domainpassword={password}&address={address}",
    done: { line: "IP={address}", text: "ErrCount=0" },
    refused: [
      { line: "Err1=Passwords do not match", means: "credentials" },
      { line: "Err1=Domain name not found", means: "name" },
      { line: "Err1=Host not found", means: "name" },
      { line: "ErrCount=1" },
    ],
    ipv6: false,
  },
  freedns: {
    title: "FreeDNS",
    source: "https://freedns.afraid.org/dynamic/v2/",
    about: "FreeDNS of afraid.org, with the user name and password of the account.",
    credentials: { user: "The user name.", password: "The password." },
    basic: true,
    url: "https://freedns.afraid.org/nic/update?hostname={name}&myip={address}",
    done: { text: "{address}" },
    unchanged: { text: "No IP change detected for {name} with IP {address}" },
    refused: [
      { text: "ERROR: Could not authenticate", means: "credentials" },
      { text: "ERROR: Unable to locate this record", means: "name" },
      { text: "ERROR" },
    ],
  },
  freemyip: {
    title: "freemyip.com",
    source: "https://freemyip.com/help",
    about: "freemyip.com. The zone is `freemyip.com`.",
    credentials: { token: "The token of the name." },
    url: "https://freemyip.com/update?token={token}&domain={name}&myip={address}",
    done: { line: "OK" },
    refused: [{ line: "ERROR" }],
  },
  myaddr: {
    title: "myaddr",
    source: "https://myaddr.tools/",
    about: "myaddr.tools. A key belongs to one name, so every name needs its own target.",
    credentials: { token: "The key of the name." },
    url: "https://myaddr.tools/update",
    method: "POST",
    body: "key={token}&ip={address}",
    done: { line: "OK" },
    refused: byStatus,
  },
  njalla: {
    title: "Njalla",
    source: "https://njal.la/docs/ddns/",
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
    source: "https://www.regfish.de/domains/dyndns/dokumentation",
    about: "Regfish's DynDNS.",
    credentials: { token: "The update token of the domain." },
    url: "https://dyndns.regfish.de/?fqdn={name}&forcehost=1&token={token}&ipv4={ipv4}&ipv6={ipv6}",
    done: { text: "success|100" },
    refused: [{ text: "error|401", means: "credentials" }, { text: "error" }],
  },
  zoneedit: {
    title: "ZoneEdit",
    source: "https://support.zoneedit.com/en/knowledgebase/article/dynamic-dns",
    about: "ZoneEdit's dynamic DNS.",
    credentials: { user: "The user name.", password: "The dynamic DNS token." },
    basic: true,
    url: "https://dynamic.zoneedit.com/auth/dynamic.html?host={name}&dnsto={address}",
    done: { text: "updated to {address}" },
    unchanged: { text: 'SUCCESS CODE="201"' },
    refused: [
      { text: 'ERROR CODE="708"', means: "credentials" },
      { text: 'ERROR CODE="701"', means: "name" },
      { text: 'ERROR CODE="702"', means: "rate" },
      { text: "ERROR CODE" },
    ],
  },
} as const satisfies Readonly<Record<string, Service>>;

/**
 * A config for every protocol or provider that we know of in ddclient, inadyn and ddns-updater. Names and settings are
 * from ddclient.conf.in, inadyn's README, inadyn.conf(5), three of its examples, the lists of inadyn's plug-ins and of
 * ddns-updater's docs/; where those do not show the settings of a provider, from memory.
 */
export type SampleConfig = { readonly program: string; readonly name: string; readonly text: string };

const host = "home.example.org";

const ddclientLogin = (names: readonly string[]) =>
  names.map((name) => [name, `protocol=${name}, login=me, password=secret ${host}`] as const);

const ddclient: readonly (readonly [name: string, line: string])[] = [
  ...ddclientLogin(["changeip", "dinahosting", "directnic", "dnsexit", "dnsexit2", "domeneshop", "dondominio"]),
  ...ddclientLogin(["dyndns1", "dyndns2", "easydns", "enom", "freedns", "googledomains", "infomaniak", "inwx"]),
  ...ddclientLogin(["keysystems", "mythdyn", "namecheap", "nfsn", "njalla", "noip", "ovh", "regfishde", "henet"]),
  ...ddclientLogin(["sitelutions", "woima", "yandex", "zoneedit1", "dnsmadeeasy", "dslreports1", "luadns", "ddns.fm"]),
  ["1984", `protocol=1984, password=key ${host}`],
  ["cloudflare", `protocol=cloudflare, zone=example.org, login=token, password=t ${host}`],
  ["cloudns", `protocol=cloudns, dynurl=https://ipv4.cloudns.net/api/dynamicURL/?q=abc ${host}`],
  ["digitalocean", `protocol=digitalocean, zone=example.org, password=t ${host}`],
  ["duckdns", "protocol=duckdns, password=t home"],
  ["emailonly", `protocol=emailonly ${host}`],
  ["freemyip", "protocol=freemyip, password=t home"],
  ["gandi", `protocol=gandi, zone=example.org, password=t, use-personal-access-token=yes ${host}`],
  ["godaddy", `protocol=godaddy, zone=example.org, login=k, password=s ${host}`],
  ["hetzner", `protocol=hetzner, zone=example.org, password=t ${host}`],
  ["porkbun", `protocol=porkbun, apikey=k, secretapikey=s, root-domain=example.org ${host}`],
  [
    "dyndns2 at Loopia",
    `protocol=dyndns2, server=dns.loopia.se, script=/XDynDNSServer/XDynDNS.php, login=a, password=b ${host}`,
  ],
  ["dyndns2 at nsupdate.info", `protocol=dyndns2, server=ipv4.nsupdate.info, login=${host}, password=b ${host}`],
  ["dyndns2 at MyOnlinePortal", `protocol=dyndns2, server=myonlineportal.net, login=a, password=b ${host}`],
  ["dyndns2 at OrgDNS", `protocol=dyndns2, server=www.orgdns.org, login=a, password=b ${host}`],
  ["dyndns2 at deSEC", `protocol=dyndns2, server=update.dedyn.io, login=example.org, password=t ${host}`],
];

const inadynLogin = (names: readonly string[]) =>
  names.map((name) => [name, `provider ${name} { username = me password = secret hostname = ${host} }`] as const);

const inadyn: readonly (readonly [name: string, section: string])[] = [
  ...inadynLogin(["default@dyndns.org", "default@freedns.afraid.org", "default@zoneedit.com", "default@no-ip.com"]),
  ...inadynLogin([
    "default@easydns.com",
    "default@tzo.com",
    "dyndns@3322.org",
    "default@dnsomatic.com",
    "dyndns@he.net",
  ]),
  ...inadynLogin([
    "default@tunnelbroker.net",
    "default@sitelutions.com",
    "default@dnsexit.com",
    "default@changeip.com",
  ]),
  ...inadynLogin(["default@zerigo.com", "default@dhis.org", "ipv4@nsupdate.info", "default@duckdns.org"]),
  ...inadynLogin(["default@loopia.com", "default@namecheap.com", "default@domains.google.com", "default@ovh.com"]),
  ...inadynLogin(["default@dtdns.com", "default@giradns.com", "default@duiadns.net", "default@ddnss.de"]),
  ...inadynLogin(["default@dynv6.com", "default@ipv4.dynv6.com", "default@spdyn.de", "default@strato.com"]),
  ...inadynLogin([
    "default@cloudxns.net",
    "dnspod.cn",
    "default@freemyip.com",
    "default@dynu.com",
    "default@selfhost.de",
  ]),
  ...inadynLogin(["default@cloudflare.com", "default@porkbun.com", "default@desec.io", "default@domeneshop.no"]),
  ...inadynLogin(["default@core-networks.de", "default@dnshome.de", "default@inwx.com", "default@all-inkl.com"]),
  ...inadynLogin(["default@ipv64.net", "default@twodns.de", "default@goip.de", "default@mydns.jp", "simplycom"]),
  ...inadynLogin([
    "default@domaindiscount24.com",
    "default@regfish.de",
    "default@schokokeks.org",
    "default@pdd.yandex.ru",
  ]),
  [
    "custom, the name and the address",
    `custom x { username = a password = b ddns-server = s.test ddns-path = "/nic/update?hostname=%h&myip=%i" hostname = ${host} }`,
  ],
  [
    "custom, any request",
    `custom y { ddns-server = s.test ddns-path = "/u?host=%h&ip=%i&token=abcdefgh" ddns-response = fine hostname = ${host} }`,
  ],
];

const entry = (provider: string, settings: Readonly<Record<string, unknown>>) =>
  [
    typeof settings.mode === "string" ? `${provider}, ${settings.mode}` : provider,
    JSON.stringify({ settings: [{ provider, domain: host, ip_version: "ipv4", ...settings }] }),
  ] as const;

const user = { username: "me", password: "secret" };
const token = { token: "t0ken" };

const ddnsUpdater: readonly (readonly [name: string, json: string])[] = [
  entry("aliyun", { access_key_id: "a", access_secret: "b" }),
  entry("allinkl", user),
  entry("bunny", { api_key: "a" }),
  entry("changeip", user),
  entry("cloudflare", { zone_identifier: "z", ...token }),
  entry("custom", {
    url: "https://s.test/u?host=home&username=me&client_key=abcdefgh",
    ipv4key: "ip",
    ipv6key: "ip6",
    success_regex: "good",
  }),
  entry("dd24", { password: "secret" }),
  entry("ddnss", user),
  entry("desec", token),
  entry("digitalocean", token),
  entry("dnsomatic", user),
  entry("dnspod", token),
  entry("domeneshop", { token: "t", secret: "s" }),
  entry("dondominio", user),
  entry("dreamhost", { key: "k" }),
  entry("duckdns", { ...token, domain: "home.duckdns.org" }),
  entry("dyn", { username: "me", client_key: "k" }),
  entry("dynu", user),
  entry("dynv6", { ...token, domain: "home.dynv6.net" }),
  entry("easydns", { username: "me", token: "t" }),
  entry("freedns", token),
  entry("gandi", { personal_access_token: "t" }),
  entry("gcp", { project: "p", zone: "z", credentials: {} }),
  entry("godaddy", { key: "k", secret: "s" }),
  entry("goip", user),
  entry("he", { password: "secret" }),
  entry("hetzner", token),
  entry("hetznercloud", token),
  entry("infomaniak", { user: "me", password: "secret" }),
  entry("inwx", user),
  entry("ionos", { api_key: "a" }),
  entry("ipv64", { key: "k" }),
  entry("linode", token),
  entry("loopia", user),
  entry("luadns", { email: "me@example.org", token: "t" }),
  entry("myaddr", { key: "k" }),
  entry("name.com", { username: "me", token: "t" }),
  entry("namecheap", { password: "p" }),
  entry("namesilo", { key: "k" }),
  entry("netcup", { customer_number: "123456", api_key: "k", password: "p" }),
  entry("njalla", { key: "k" }),
  entry("noip", user),
  entry("nowdns", user),
  entry("opendns", user),
  entry("ovh", { mode: "dynamic", ...user }),
  entry("ovh", { mode: "api", app_key: "a", app_secret: "b", consumer_key: "c" }),
  entry("porkbun", { api_key: "a", secret_api_key: "b" }),
  entry("powerdns", { server_url: "https://pdns.example.org:8081", api_key: "k" }),
  entry("rfc2136", { server: "ns.example.org", zone: "example.org", tsig_key_name: "k", tsig_secret: "c2VjcmV0" }),
  entry("route53", { access_key: "a", secret_key: "b", zone_id: "z" }),
  entry("scaleway", { secret_key: "s" }),
  entry("selfhost.de", user),
  entry("servercow", user),
  entry("spaceship", { api_key: "a", api_secret: "b" }),
  entry("spdyn", user),
  entry("strato", { password: "p" }),
  entry("variomedia", { email: "me@example.org", password: "p" }),
  entry("vercel", token),
  entry("vultr", { apiKey: "a" }),
  entry("zoneedit", { username: "me", token: "t" }),
];

export const sampleConfigs: readonly SampleConfig[] = [
  ...ddclient.map(([name, line]) => ({ program: "ddclient", name, text: `use=if, if=eth0\n${line}\n` })),
  ...inadyn.map(([name, section]) => ({ program: "inadyn", name, text: `period = 300\n${section}\n` })),
  ...ddnsUpdater.map(([name, text]) => ({ program: "ddns-updater", name, text })),
];

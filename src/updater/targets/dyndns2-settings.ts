import { createHash } from "node:crypto";
import type { Family } from "../../core/addresses/address.ts";
import type { Endpoint } from "../../lib/http-client/endpoint.ts";
import { mapping, needed } from "../../lib/settings/mapping.ts";
import { choice, listOf, missing, refined, text } from "../../lib/settings/setting.ts";
import { version } from "../../process/shipped-files.ts";
import { dnsServer, oneTrust, trustFields, webAddress, withTrust } from "../config/endpoint.ts";
import type { TargetConfig } from "../config/kinds.ts";
import { type Secret, secret } from "../config/secret.ts";

export type SignIn = { readonly user?: string; readonly password: string };

export type Words = Readonly<Record<string | number, string>>;

type Service = {
  readonly url: string;
  /** The parameter for the name, if it is not `hostname`. */
  readonly host?: string;
  /** The parameter for an IPv4 address, if it is not `myip`. */
  readonly ipv4?: string;
  /** The parameter for an IPv6 address, if it is not that for IPv4. */
  readonly ipv6?: string;
  /** Both addresses must be in one request, separated by a comma: otherwise the other one is removed. */
  readonly together?: true;
  /**
   * The parameter to send with the only address known, of this family: otherwise the service removes the record of the
   * other family, or sets it to the address of the caller.
   */
  readonly keep?: Readonly<Record<Family, string>>;
  readonly query?: string;
  /** It signs in with these parameters, instead of by Basic authentication. */
  readonly signIn?: SignIn;
  /** Its own words for a success, and statuses that stand for words of the protocol. */
  readonly words?: Words;
  /** Its rules ask for a User-Agent with the mail address of a contact. */
  readonly contact?: true;
};

/**
 * Where well-known services accept updates. Sorted by name. Each comment is what was read: the service's own page, or
 * what other programs send: ddns-updater (github.com/qdm12/ddns-updater, internal/provider/providers), inadyn
 * (github.com/troglobit/inadyn, plugins), IPFire's ddns (src/ddns/providers.py), OpenWrt (github.com/openwrt/packages,
 * net/ddns-scripts).
 */
const services = {
  // ddns-updater; inadyn and OpenWrt send `myip` for IPv6 too. The account decides which name is written.
  allinkl: { url: "https://dyndns.kasserver.com/", ipv6: "myip6" },
  // inadyn, OpenWrt
  "core-networks": {
    url: "https://dyndns.core-networks.de/",
    keep: { ipv4: "keepipv6=1", ipv6: "keepipv4=1" },
  },
  // https://desec.readthedocs.io/en/latest/dyndns/update-api.html
  desec: {
    url: "https://update.dedyn.io/",
    ipv6: "myipv6",
    keep: { ipv4: "myipv6=preserve", ipv6: "myip=preserve" },
  },
  // inadyn, OpenWrt; ddupdate (github.com/leamas/ddupdate) for the answers. The user name decides which name is
  // written.
  dnshome: { url: "https://www.dnshome.de/dyndns.php", ipv4: "ip", ipv6: "ip6" },
  dnsomatic: { url: "https://updates.dnsomatic.com/nic/update" },
  // https://help.dyn.com/remote-access-api/perform-update, https://github.com/openwrt/packages/issues/17875
  dyn: { url: "https://members.dyndns.org/nic/update", together: true },
  // https://www.dynu.com/DynamicDNS/IP-Update-Protocol, https://downloads.dynu.com/DynamicDNS/IPUpdateClient/Wget
  dynu: {
    url: "https://api.dynu.com/nic/update",
    ipv6: "myipv6",
    keep: { ipv4: "myipv6=no", ipv6: "myip=no" },
    signIn: { user: "username", password: "password" },
  },
  // https://dns.he.net/docs.html; not Basic authentication: https://github.com/openwrt/packages/issues/27593
  he: { url: "https://dyn.dns.he.net/nic/update", signIn: { password: "password" } },
  infomaniak: { url: "https://infomaniak.com/nic/update" },
  // The A record becomes 127.0.0.1 if only `myipv6` is sent: https://github.com/ddclient/ddclient/pull/690
  inwx: { url: "https://dyndns.inwx.com/nic/update", ipv6: "myipv6" },
  // https://ipv64.net/dyndns_updater_api; OpenWrt for the answers
  ipv64: { url: "https://ipv64.net/nic/update", ipv6: "myipv6" },
  joker: { url: "https://svc.joker.com/nic/update" },
  // ddns-updater
  loopia: { url: "https://dyndns.loopia.se/" },
  noip: { url: "https://dynupdate.no-ip.com/nic/update", contact: true },
  // ddns-updater, IPFire, OpenWrt
  nowdns: { url: "https://now-dns.com/update" },
  // https://nsupdateinfo.readthedocs.io/en/latest/user.html, IPFire, inadyn
  nsupdateinfo: { url: "https://nsupdate.info/nic/update" },
  // ddns-updater, IPFire
  opendns: { url: "https://updates.opendns.com/nic/update" },
  ovh: { url: "https://dns.eu.ovhapis.com/nic/update", query: "system=dyndns" },
  // inadyn, which has the older host members.3322.org
  pubyun: { url: "https://members.3322.net/dyndns/update" },
  // IPFire, OpenWrt
  schokokeks: { url: "https://dyndns.schokokeks.org/nic/update" },
  // Its description of the interface, https://selfhost.de/cgi-bin/selfhost?p=document&name=api, and ddns-updater
  selfhost: {
    url: "https://carol.selfhost.de/nic/update",
    words: {
      204: "nochg",
      401: "badauth",
      409: "nohost",
      410: "badauth",
      411: "badparam",
      412: "badparam",
      503: "911",
    },
  },
  spdyn: { url: "https://update.spdyn.de/nic/update" },
  // Strato's instructions as quoted in https://github.com/qdm12/ddns-updater/issues/116: both addresses in one request
  strato: { url: "https://dyndns.strato.com/nic/update", together: true },
  // https://www.twodns.de/de/api for the credentials; inadyn, IPFire and OpenWrt for the request
  twodns: { url: "https://update.twodns.de/update", ipv4: "ip" },
  // https://dyndns.variomedia.de
  variomedia: { url: "https://dyndns.variomedia.de/nic/update" },
  // https://ydns.io/api/v1; the answer from its own updater, https://github.com/ydns/bash-updater
  ydns: { url: "https://ydns.io/api/v1/update/", host: "host", ipv4: "ip", words: { ok: "good" } },
} as const satisfies Readonly<Record<string, Service>>;

export const dyndns2Services: readonly string[] = Object.keys(services);

/** The service whose updates go to this host. */
export const dyndns2ServiceAt = (host: string): (typeof names)[number] | undefined =>
  names.find((name) => new URL(services[name].url).host === host);

const names = Object.keys(services) as (keyof typeof services)[];

/** At another path, it may take other parameters. */
function serviceAtUrl({ host, pathname }: URL): (typeof names)[number] | undefined {
  const name = dyndns2ServiceAt(host);
  return name && ["/", new URL(services[name].url).pathname].includes(pathname) ? name : undefined;
}

export type Dyndns2Target = TargetConfig &
  Endpoint & {
    readonly user: Secret;
    readonly password: Secret;
    readonly host: string;
    readonly ipv4: string;
    readonly ipv6: string;
    readonly together: boolean;
    /** A parameter for each family: both are sent if both addresses are known. */
    readonly separate: boolean;
    readonly keep?: Service["keep"] | undefined;
    readonly signIn?: SignIn | undefined;
    readonly words: Words;
    readonly query: string;
    readonly agent: string;
    readonly dns: readonly string[];
  };

export const dyndns2Settings = mapping(
  {
    service: choice(names, "A well-known service, instead of `url`."),
    url: webAddress("The URL of any other service. Without a path, `/nic/update` is used.", "https://dns.example.org"),
    ...trustFields,
    user: needed(userName()),
    password: needed(secret("The password, or the key of this host.")),
    contact: mailAddress(),
    dns: listOf(dnsServer, "DNS servers to ask what the record holds, instead of the zone's own."),
  },
  {
    title: "Target: dyndns2",
    description:
      "The protocol of `/nic/update`, which many services speak. The records must exist. It can neither read nor list records, so `verify` asks the zone's own nameservers.",
    schema: { examples: [{ service: "noip", user: "me", password: { file: "secrets/password" } }] },
    checkKeys: (presentKeys, what) => [
      ...oneTrust(presentKeys, what),
      ...(presentKeys.includes("service") === presentKeys.includes("url")
        ? [missing(`${what} needs exactly one of service and url`, `add \`service: ${names.join("|")}\`, or \`url:\``)]
        : []),
    ],
    transform(value, place) {
      const { service, user, password, contact, dns = [], url: written, ...rest } = withTrust(value, place);
      // What a service does to the address that is not sent does not depend on how it is named here.
      const serviceName = service ?? (written && serviceAtUrl(written));
      const knownService: Service | undefined = serviceName && services[serviceName];
      const ownUrl = knownService && new URL(knownService.url);
      const address = written ?? ownUrl;
      if (address === undefined) return undefined;
      if (address.pathname === "/") address.pathname = ownUrl?.pathname ?? "/nic/update";
      const account = createHash("sha256").update(`${user}:${password()}`).digest("hex").slice(0, 16);
      const ipv4 = knownService?.ipv4 ?? "myip";
      const ipv6 = knownService?.ipv6 ?? ipv4;
      return {
        ...rest,
        url: address,
        user: () => user,
        password,
        dns,
        account,
        host: knownService?.host ?? "hostname",
        ipv4,
        ipv6,
        separate: ipv4 !== ipv6,
        query: knownService?.query ?? "",
        together: knownService?.together ?? false,
        keep: knownService?.keep,
        signIn: knownService?.signIn,
        words: knownService?.words ?? {},
        agent: agentFor(knownService?.contact === true, contact ?? (isMailAddress(user) ? user : undefined)),
      };
    },
  },
);

/**
 * The protocol asks for a name and a version; some services refuse the names of libraries. No-IP's rule for programs is
 * `Company NameOfProgram/OSVersion-ReleaseVersion maintainer-contact@example.com`
 * (https://www.noip.com/integrate/request).
 */
function agentFor(wantsContact: boolean, contact: string | undefined): string {
  if (!wantsContact) return `moor/${version}`;
  return ["moor", `moor/${process.platform}-${version}`, ...(contact === undefined ? [] : [contact])].join(" ");
}

const isMailAddress = (text: string): boolean => /^[\x21-\x7e]+@[\x21-\x7e]+$/.test(text);

function mailAddress() {
  const description =
    "With `service: noip`: a mail address for the User-Agent, which No-IP requires. Not needed if the user name is one.";
  return refined(text(description, "me@example.org"), (written, { what, fault }) =>
    isMailAddress(written)
      ? written
      : fault({ code: "bad-contact", message: `${what} is not a mail address`, todo: "write me@example.org" }),
  );
}

function userName() {
  return refined(text("The user name.", "me"), (written, { what, fault }) =>
    /^[\x21-\x39\x3b-\x7e]+$/.test(written)
      ? written
      : fault({ code: "bad-user", message: `${what} contains a colon or a space`, todo: "write only the user name" }),
  );
}

import { type Imported, type ImportedName, type ImportedSource, type Notes, part } from "./imported.ts";
import { type InadynFault, type InadynItem, readInadynFile } from "./inadyn-file.ts";
import { fromCommand, fromInterface, fromWeb, oneAddressPerLine, severalServices } from "./origins.ts";
import {
  bare,
  dyndns2At,
  dyndns2Of,
  httpAt,
  type ImportedTarget,
  type Login,
  noTarget,
  presetOf,
  withToken,
  zoneOfService,
} from "./services.ts";

type Section = Extract<InadynItem, { kind: "section" }>;
type Setting = Extract<InadynItem, { kind: "setting" }>;
type Settings = ReadonlyMap<string, Setting>;

/** An inadyn.conf in the settings of moor. */
export function importInadyn(text: string, notes: Notes): Imported | InadynFault {
  const items = readInadynFile(text);
  if ("message" in items) return items;
  const forAll = settingsIn(items);
  noteUnused(forAll, notes);
  const sections = items.filter((item) => item.kind === "section");
  const names = sections.flatMap((section) => namesIn(section, forAll, notes));
  const period = Number(textOf(forAll, "period"));
  return {
    names: joinFamilies(names, notes),
    onlyPublic: textOf(forAll, "verify-address") !== "false",
    creates: (api) => ["cloudflare", "desec", "porkbun"].includes(api),
    ...(period > 0 && { period }),
  };
}

const settingsIn = (items: readonly InadynItem[]): Settings =>
  new Map(items.flatMap((item) => (item.kind === "setting" ? [[item.key, item] as const] : [])));

const textOf = (settings: Settings, key: string): string | undefined => settings.get(key)?.values[0];

function namesIn(section: Section, forAll: Settings, notes: Notes): readonly ImportedName[] {
  const own = settingsIn(section.items);
  const { key, title, line } = section;
  const shown = `${key} ${title}`;
  noteUnused(own, notes);
  const hosts = (own.get("hostname") ?? own.get("alias"))?.values ?? [];
  if (hosts.length === 0) notes.lost(line, `${shown}: it has no hostname`);
  return hosts.flatMap((written) => {
    const bareHost = written.replace(/^@\./, "");
    const zone = bareHost.includes(".") ? undefined : zoneOfService[bare(serviceOf(title))];
    const host = zone === undefined ? bareHost : `${bareHost}.${zone}`;
    const target = targetOf(section, own, host);
    if (typeof target === "string") {
      notes.lost(line, `${shown}, ${host}: ${target}`);
      return [];
    }
    const origin = originOf(own, forAll, notes);
    const origins = textOf(forAll, "allow-ipv6") === "true" ? { ipv4: origin, ipv6: origin } : { ipv4: origin };
    const isZone = target.kind === "cloudflare" || target.kind === "namecheap";
    return [
      {
        host,
        line,
        zone: isZone ? textOf(own, "username") : undefined,
        target,
        origins,
        ttl: Number(textOf(own, "ttl")),
      },
    ];
  });
}

/** A provider section of inadyn has one address, so a name with both families has two sections. */
function joinFamilies(names: readonly ImportedName[], notes: Notes): readonly ImportedName[] {
  const byName = Map.groupBy(names, ({ host, target }) => `${host} ${JSON.stringify(target)}`);
  return [...byName.values()].flatMap(([first, second]) => {
    if (first === undefined) return [];
    const { ipv4, ipv6 } = first.origins;
    if (ipv6 === undefined) return [first];
    if (second?.origins.ipv6) return [{ ...first, origins: { ipv4, ipv6: second.origins.ipv6 } } as ImportedName];
    notes.assumed(
      first.line,
      `${first.host}: with allow-ipv6 the file does not say which records the name has; both are assumed`,
    );
    return [{ ...first, areFamiliesAssumed: true }];
  });
}

/** `default@no-ip.com:1` is no-ip.com. */
const serviceOf = (title: string): string =>
  title
    .replace(/:[^:]*$/, "")
    .replace(/^[^@]*@/, "")
    .replace(/^(?:ipv[46]|www)\./, "")
    .toLowerCase();

function targetOf({ key, title }: Section, own: Settings, host: string): ImportedTarget {
  const [user, password] = [textOf(own, "username"), textOf(own, "password")];
  const token = userIsToken.includes(bare(serviceOf(title))) ? user : undefined;
  const login = { user, password: token ?? password };
  if (key === "custom") return customOf(own, login);
  if (key !== "provider") return "moor does not know this kind of section";
  const service = serviceOf(title);
  if (bare(service) === "cloudflare") return withToken("cloudflare", login.password);
  if (bare(service) === "porkbun") {
    const { user: key, password: secret } = login;
    return key && secret ? part("porkbun", {}, { key, secret }) : "it has no username (the API key) or no password";
  }
  if (/(?:^|\.)(?:dedyn|desec)\.io$/.test(service)) return withToken("desec", login.password);
  if (bare(service) === "namecheap") return withToken("namecheap", login.password);
  return presetOf(service, login) ?? dyndns2Of(service, host, login) ?? noTarget(service);
}

/** Services whose token is written as the user name. */
const userIsToken = ["duckdns", "dynv6", "ipv64"];

/** Any server: by dyndns2 if that is its request, otherwise by its request. */
function customOf(own: Settings, login: Login): ImportedTarget {
  const [server, path] = [textOf(own, "ddns-server"), textOf(own, "ddns-path") ?? ""];
  if (server === undefined) return "it has no ddns-server";
  const { pathname, searchParams } = new URL(path, "https://server");
  const appended = textOf(own, "append-myip") === "true" ? "myip" : "hostname";
  const isOne = (name: string, sign: string) => {
    const value = searchParams.get(name);
    return value === sign || (value === "" && (appended === name || name === "myip"));
  };
  const others = [...searchParams.keys()].filter((name) => !["hostname", "myip"].includes(name));
  const hasName = isOne("hostname", "%h") || (appended === "myip" && searchParams.has("hostname"));
  const isPlain = hasName && (isOne("myip", "%i") || !searchParams.has("myip")) && others.length === 0;
  if (isPlain && pathname === "/nic/update") return dyndns2At(server, pathname, login);
  const signs = { "%h": "{name}", "%i": "{address}", "%u": login.user ?? "", "%p": "{password}" };
  const filled = Object.entries(signs).reduce((text, [sign, value]) => text.replaceAll(sign, value), path);
  const end = path.includes("%") ? "" : appended === "myip" ? "{address}" : "{name}";
  const responses = own.get("ddns-response")?.values ?? ["good", "OK", "true", "updated"];
  const httpTarget = httpAt(`https://${server}${filled}${end}`, responses, login, login.password);
  return isPlain && typeof httpTarget === "string" ? dyndns2At(server, pathname, login) : httpTarget;
}

function originOf(own: Settings, forAll: Settings, notes: Notes): ImportedSource {
  const iface = own.get("iface") ?? forAll.get("iface");
  if (iface?.values[0] !== undefined) return fromInterface(iface.values[0]);
  const command = own.get("checkip-command") ?? forAll.get("checkip-command");
  if (command?.values[0] !== undefined) {
    notes.assumed(command.line, `checkip-command: ${oneAddressPerLine}`);
    return fromCommand(command.values[0]);
  }
  const server = own.get("checkip-server");
  if (server !== undefined) notes.assumed(server.line, `checkip-server: ${severalServices}`);
  return fromWeb;
}

const notNeeded = "not needed";

/** Settings that have no place in the new config. */
const unused: Readonly<Record<string, string>> = {
  exec: "write `run:` in the new config (docs/updater.md)",
  "exec-mode": "write `run:` in the new config (docs/updater.md)",
  "forced-update": "moor writes only what has changed; `verify:` checks the record regularly",
  "cache-dir": "moor writes its own state file, next to the config",
  "user-agent": notNeeded,
  "fake-address": notNeeded,
  iterations: "`moor update --once` runs once",
  "startup-delay": notNeeded,
  "broken-rtc": "moor always checks certificates",
  "secure-ssl": "moor always checks certificates; to trust another one, set `ca:` or `fingerprint:` of the target",
  "ca-trust-file": "set `ca:` of the target to this file",
  wildcard: "moor changes only the address; make this setting at the service",
  proxied: "moor keeps the proxy setting of the record",
  include: "moor does not read other files; put the lines into this file before the import",
};

const used =
  /^(?:period|iface|allow-ipv6|verify-address|ssl|username|password|hostname|alias|ttl|ddns-server|ddns-path|ddns-response|append-myip|checkip-(?:server|path|ssl|command))$/;

function noteUnused(settings: Settings, notes: Notes): void {
  for (const [key, { values, line }] of settings) {
    if (key === "ssl" && values[0] === "false") notes.assumed(line, "ssl = false: moor always uses HTTPS");
    // An unknown one is not named: it may be a part of a password that should have been quoted.
    if (!used.test(key)) notes.lost(line, unused[key] ? `${key}: ${unused[key]}` : "moor does not know this setting");
  }
}

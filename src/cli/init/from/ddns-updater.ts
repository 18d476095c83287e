import { isScalar } from "yaml";
import type { Spot, YamlPair } from "../../../lib/settings/yaml-reader.ts";
import { createYamlReader } from "../../../lib/settings/yaml-reader.ts";
import { type Imported, type ImportedName, type ImportedSource, type Notes, part } from "./imported.ts";
import { fromWeb } from "./origins.ts";
import {
  dyndns2Of,
  freednsByToken,
  hetznerToken,
  httpAt,
  type ImportedTarget,
  type Login,
  noTarget,
  presetOf,
} from "./services.ts";

type Fault = { readonly line: number; readonly message: string };

/** An entry of `settings`. */
type SettingsEntry = {
  readonly line: number;
  readonly pairs: readonly YamlPair[];
  readonly text: (key: string) => string | undefined;
};

/** ddns-updater's config.json in the settings of moor. JSON is read as YAML, which knows the line of each value. */
export function importDdnsUpdater(text: string, notes: Notes): Imported | Fault {
  const reader = createYamlReader(text.replaceAll("\t", "  "), "");
  const lineOf = (at: Spot) => Number(reader.where(at).split(":")[1]);
  const [wrong] = reader.faults;
  if (wrong) return { line: Number(wrong.where.split(":")[1]), message: "this is not valid JSON" };
  const settings = reader.pairs(reader.root)?.find(({ name }) => name === "settings")?.value;
  const items = settings && reader.items(settings);
  if (!items) return { line: 1, message: "it has no list `settings`" };
  const names = items.flatMap((item) => {
    const pairs = reader.pairs(item) ?? [];
    // The program does not mind the case of names.
    const text = (key: string) => {
      const node = pairs.find(({ name }) => name.toLowerCase() === key)?.value.node;
      const value: unknown = isScalar(node) ? node.value : undefined;
      return ["string", "number", "boolean"].includes(typeof value)
        ? `${value as string | number | boolean}`
        : undefined;
    };
    const line = lineOf(item);
    for (const { name, key } of pairs)
      if (!used.test(name.toLowerCase())) notes.lost(lineOf(key), `${name}: ${unusedWords(name.toLowerCase())}`);
    return namesIn({ line, pairs, text }, notes);
  });
  if (names.length > 0) notes.assumed(1, publicIp);
  return { names, onlyPublic: true, creates: (api) => api !== "digitalocean" };
}

const publicIp =
  "the file does not say where the address comes from: moor asks several well-known services, and two must agree";

/** Formerly the zone was in `domain`, and the names in it in `host` or `owner`. */
function namesIn(entry: SettingsEntry, notes: Notes): readonly ImportedName[] {
  const { line, text } = entry;
  const [provider = "", domain = "", host] = [text("provider"), text("domain"), text("host") ?? text("owner")];
  const zone = host === undefined ? text("zone") : domain;
  const hosts =
    host === undefined
      ? domain.split(",").map((each) => each.trim())
      : host.split(",").map((each) => (each.trim() === "@" ? domain : `${each.trim()}.${domain}`));
  return hosts.flatMap((each) => {
    const target = targetOf(provider, each, entry, notes);
    if (typeof target === "string") {
      notes.lost(line, `${each || "an entry without a domain"}: ${target}`);
      return [];
    }
    const areFamiliesAssumed = !["ipv4", "ipv6"].includes(text("ip_version") ?? "");
    const origins = originsOf(entry, each, notes);
    return [{ host: each, line, zone, target, origins, ttl: Number(text("ttl")), areFamiliesAssumed }];
  });
}

function originsOf({ line, text }: SettingsEntry, host: string, notes: Notes): ImportedName["origins"] {
  const version = text("ip_version") || "ipv4 or ipv6";
  const ipv6: ImportedSource = { ...fromWeb, ...suffixOf(text("ipv6_suffix"), host, line, notes) };
  if (version === "ipv6") return { ipv6 };
  if (version !== "ipv4")
    notes.assumed(
      line,
      `${host}: ip_version does not say which record the name has; A is assumed, add \`ipv6: true\` for AAAA`,
    );
  return { ipv4: fromWeb };
}

/** `0:0:0:0:72ad:8fbb:a54e:bedd/64`: the host part, and the length of the prefix before it. */
function suffixOf(written: string | undefined, host: string, line: number, notes: Notes): Pick<ImportedSource, "more"> {
  if (!written) return {};
  const [, part = "", length = ""] = /^([0-9a-f:]+)\/(\d+)$/i.exec(written) ?? [];
  if (part !== "") return { more: { host: part, prefix: Number(length) } };
  notes.lost(line, `${host}: ipv6_suffix must be a host part and the length of the prefix, such as ::1:2/64`);
  return {};
}

/** The secrets and settings of moor's target, each with the name of the setting of ddns-updater that has its value. */
type Provider = {
  readonly api: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, string>>;
};

const providers: Readonly<Record<string, Provider>> = {
  bunny: { api: "bunny", secrets: { token: "api_key" } },
  cloudflare: { api: "cloudflare", secrets: { token: "token" } },
  desec: { api: "desec", secrets: { token: "token" } },
  digitalocean: { api: "digitalocean", secrets: { token: "token" } },
  gandi: { api: "gandi", secrets: { token: "personal_access_token" } },
  godaddy: { api: "godaddy", secrets: { key: "key", secret: "secret" } },
  hetzner: { api: "hetzner", secrets: { token: "token" } },
  hetznercloud: { api: "hetzner", secrets: { token: "token" } },
  ionos: { api: "ionos", secrets: { token: "api_key" } },
  "name.com": { api: "namecom", secrets: { token: "token" }, settings: { user: "username" } },
  namecheap: { api: "namecheap", secrets: { token: "password" } },
  netcup: {
    api: "netcup",
    secrets: { key: "api_key", password: "password" },
    settings: { customer: "customer_number" },
  },
  porkbun: { api: "porkbun", secrets: { key: "api_key", secret: "secret_api_key" } },
  route53: { api: "route53", secrets: { key: "access_key", secret: "secret_key" } },
  spaceship: { api: "spaceship", secrets: { key: "api_key", secret: "api_secret" } },
  vultr: { api: "vultr", secrets: { token: "apikey" } },
};

/** OVH can be updated by this API or by DynHost, which is the default. */
const ovhApi: Provider = {
  api: "ovh",
  secrets: { applicationKey: "app_key", applicationSecret: "app_secret", consumerKey: "consumer_key" },
};

function hostedAt({ api, secrets, settings = {} }: Provider, { text }: SettingsEntry): ImportedTarget {
  const missing = [...Object.values(secrets), ...Object.values(settings)].filter((key) => !text(key));
  if (missing.length > 0) return `it has no ${missing.join(", ")}`;
  const values = (keys: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(keys).map(([ours, theirs]) => [ours, text(theirs) ?? ""]));
  return part(api, values(settings), values(secrets));
}

const noLogin: Login = { user: undefined, password: undefined };

const servers: Readonly<Record<string, (entry: SettingsEntry) => ImportedTarget>> = {
  powerdns({ text }) {
    const [url, token, server = "localhost"] = [text("server_url"), text("api_key"), text("server_id")];
    if (!url || !URL.canParse(url) || !token) return "it has no server_url or no api_key";
    const path = server === "localhost" ? "" : `api/v1/servers/${server}`;
    return part("powerdns", { url: new URL(path, url).href }, { token });
  },
  custom({ text }) {
    const [url = "", ipv4 = "", ipv6 = "", success = ""] = ["url", "ipv4key", "ipv6key", "success_regex"].map(text);
    if (!URL.canParse(url)) return "it has no url";
    if (!/^[\w .:-]+$/.test(success)) return "its success_regex is not a plain text; write `api: http` by hand";
    const addresses = [ipv4 && `${ipv4}={ipv4}`, ipv6 && `${ipv6}={ipv6}`].filter((each) => each !== "");
    return httpAt(`${url}${url.includes("?") ? "&" : "?"}${addresses.join("&")}`, [success], noLogin);
  },
  rfc2136({ text }) {
    const [server, name, secret] = [text("server"), text("tsig_key_name"), text("tsig_secret")];
    if (!server) return "it has no server";
    if (!name || !secret) return "it has no TSIG key; moor signs its updates";
    const keyFile = `key "${name}" { algorithm ${text("tsig_algorithm") ?? "hmac-sha256"}; secret "${secret}"; };\n`;
    return { kind: "rfc2136", settings: { server: server.replace(/:53$/, "") }, files: { keyFile } };
  },
};

function targetOf(provider: string, host: string, entry: SettingsEntry, notes: Notes): ImportedTarget {
  const { text, line } = entry;
  if (provider === "") return "it has no provider";
  if (host === "") return "it has no domain";
  if (provider === "cloudflare" && !text("token"))
    return "moor needs an API token, not the global API key; create one, and set `token` instead of `email` and `key`";
  if (provider === "hetzner") notes.assumed(line, hetznerToken);
  const hosted = provider === "ovh" && text("mode") === "api" ? ovhApi : providers[provider];
  if (hosted) return hostedAt(hosted, entry);
  if (provider === "freedns") return freednsByToken(text("token"), text("ip_version") === "ipv6" ? "ipv6" : "ipv4");
  const server = servers[provider];
  if (server) return server(entry);
  const login = loginOf(provider, host, entry);
  return presetOf(provider, login) ?? dyndns2Of(provider, host, login) ?? noTarget(provider);
}

/** At Domeneshop, token and secret are user and password. At ipv64, the user does not matter. */
function loginOf(provider: string, host: string, { text }: SettingsEntry): Login {
  if (provider === "domeneshop") return { user: text("token"), password: text("secret") };
  const assumed = userIsHost.includes(provider) ? host : provider === "ipv64" ? "moor" : undefined;
  const user = text("username") ?? text("user") ?? text("email") ?? assumed;
  return { user, password: text("password") ?? text("client_key") ?? text("token") ?? text("key") };
}

/** Services at which the user name is the name to update, if there is none. */
const userIsHost = ["strato", "spdyn", "he"];

const used =
  /^(?:provider|domain|host|owner|zone|zone_identifier|zone_id|ip_version|ipv6_suffix|ttl|token|personal_access_token|username|user|email|password|client_key|key|user_service_key|(?:secret_)?api_?key|access_key|secret_key|customer_number|server|tsig_.*|server_(?:url|id)|mode|app_key|app_secret|secret|api_secret|url|ipv[46]key|success_regex|consumer_key|api_endpoint)$/;

const unusedWords = (name: string): string =>
  ({
    proxied: "moor keeps the proxy setting of the record",
    provider_ip: "moor always sends the address",
    group: "moor updates names, not groups",
  })[name] ?? "moor does not know this setting";

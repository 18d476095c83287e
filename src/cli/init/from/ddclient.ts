import type { Family } from "../../../core/addresses/address.ts";
import { type DdclientLine, type DdclientSetting, type HostSettings, readDdclientFile } from "./ddclient-file.ts";
import { isKnownProtocol, targetOf, zoneOf } from "./ddclient-protocols.ts";
import type { Imported, ImportedName, ImportedSource, Notes } from "./imported.ts";
import { fromCommand, fromInterface, fromWeb, oneAddressPerLine, severalServices } from "./origins.ts";
import { zoneOfService } from "./services.ts";

/** A ddclient.conf in the settings of moor. `readFile` reads a file that it names. */
export function importDdclient(text: string, notes: Notes, readFile: (path: string) => string | undefined): Imported {
  const forAll = new Map<string, DdclientSetting>();
  const names: ImportedName[] = [];
  for (const line of readDdclientFile(text)) {
    const own = new Map(line.settings.map((written) => [written.key, written]));
    const doubts = isKnownProtocol(new Map([...forAll, ...own])) ? line.settings : [];
    for (const { key, line: at, doubt } of doubts) if (doubt) notes.assumed(at, `${key}: ${doubt}`);
    noteUnused(line.settings, notes);
    if (line.hosts.length === 0) for (const [key, written] of own) forAll.set(key, written);
    else names.push(...namesOn(line, new Map([...forAll, ...own]), notes, readFile));
  }
  const period = periodOf(forAll.get("daemon"), notes);
  const creates = (api: string) => ["desec", "gandi", "godaddy", "hetzner", "rfc2136"].includes(api);
  return { names, onlyPublic: false, creates, period };
}

function namesOn(
  { line, hosts, login, password }: DdclientLine,
  settings: HostSettings,
  notes: Notes,
  readFile: (path: string) => string | undefined,
): readonly ImportedName[] {
  if (login === "=") {
    notes.lost(
      line,
      `${hosts.join(",")}: ddclient accepts no spaces around the equals sign, so it read this as a host name`,
    );
    return [];
  }
  const old = [...(login ? [["login", login] as const] : []), ...(password ? [["password", password] as const] : [])];
  const all: HostSettings = new Map<string, DdclientSetting>([
    ...settings,
    ...old.map(([key, value]) => [key, { key, value, line }] as const),
  ]);
  const own = zoneOfService[all.get("protocol")?.value.toLowerCase() ?? ""];
  return hosts.flatMap((written) => {
    const host = written.includes(".") || own === undefined ? written : `${written}.${own}`;
    const isDomain = host.includes(".");
    // What the words of an unknown protocol mean is not known either.
    const target = isDomain || !isKnownProtocol(all) ? targetOf(all, { host, notes, readFile }) : noDomain;
    if (typeof target === "string") {
      notes.lost(line, isDomain || target !== noDomain ? `${host}: ${target}` : noDomain);
      return [];
    }
    const origins = originsOf(all, line, notes);
    if (!origins.ipv4 && !origins.ipv6) {
      notes.lost(line, `${host}: no setting says where moor can read its address`);
      return [];
    }
    return [{ host, line, zone: zoneOf(all), target, origins, ttl: Number(all.get("ttl")?.value) }];
  });
}

/** `usev4` and `usev6`, or the older `use` for one address, IPv4 unless configured otherwise. */
function originsOf(settings: HostSettings, line: number, notes: Notes): Partial<Record<Family, ImportedSource>> {
  const of = (suffix: "v4" | "v6") => originOf(settings, `use${suffix}`, suffix, line, notes);
  const [v4, ipv6] = [of("v4"), of("v6")];
  const use = settings.get("use");
  if (v4 && use) notes.lost(use.line, `use=${use.value}: usev4 is set too, and overrides it`);
  const ipv4 = v4 ?? originOf(settings, "use", "", line, notes);
  return { ...(ipv4 && { ipv4 }), ...(ipv6 && { ipv6 }) };
}

function originOf(
  settings: HostSettings,
  key: string,
  suffix: "" | "v4" | "v6",
  line: number,
  notes: Notes,
): ImportedSource | undefined {
  const use = settings.get(key);
  const method = use?.value.replace(/v[46]$/, "");
  if (use === undefined || method === undefined || ["no", "disabled"].includes(method)) return undefined;
  const own = (name: string) => settings.get(`${name}${suffix}`) ?? settings.get(name);
  const shown = `${key}=${use.value}`;
  switch (method) {
    case "if": {
      const device = own("if")?.value ?? (suffix === "" ? "ppp0" : "default");
      if (device !== "default") return fromInterface(device);
      notes.lost(use.line, `${shown}: moor needs the name of the interface; add \`if${suffix}=NAME\` and import again`);
      return undefined;
    }
    case "web":
      notes.assumed(own("web")?.line ?? use.line, `${shown}: ${severalServices}`);
      return fromWeb;
    case "cmd": {
      const command = own("cmd");
      if (command === undefined) {
        notes.lost(line, `${shown}: it names no program`);
        return undefined;
      }
      notes.assumed(command.line, `${shown}: ${oneAddressPerLine}`);
      return fromCommand(command.value);
    }
    case "ip":
      notes.lost(use.line, `${shown}: moor does not publish fixed addresses`);
      return undefined;
    default:
      notes.assumed(use.line, `${shown}: moor cannot read the web page of a router; ${severalServices}`);
      return fromWeb;
  }
}

const noDomain = "a host without a dot is not a domain name; if it is a part of a password, quote that";

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** `300`, `5m`, `1h`; 0 means to run once. */
function periodOf(daemon: DdclientSetting | undefined, notes: Notes): number | undefined {
  if (daemon === undefined) return undefined;
  const [, digits = "", unit = "s"] = /^(\d+)([smhd])?/.exec(daemon.value) ?? [];
  const seconds = Number(digits) * (units[unit] ?? 1);
  if (seconds > 0) return seconds;
  notes.lost(daemon.line, `daemon=${daemon.value}: \`moor update --once\` runs once; without it, moor keeps running`);
  return undefined;
}

const notify = "`notify:` in the config sends messages about failures";
const notNeeded = "not needed";
const atTheService = "moor changes only the address; make this setting at the service";

/** Settings that have no place in the new config. */
const unused: Readonly<Record<string, string>> = {
  mail: notify,
  "mail-failure": notify,
  postscript: "write `run:` in the new config (docs/updater.md)",
  cache: "moor writes its own state file, next to the config",
  pid: notNeeded,
  syslog: "moor logs to its output",
  facility: notNeeded,
  priority: notNeeded,
  foreground: notNeeded,
  quiet: notNeeded,
  verbose: notNeeded,
  debug: notNeeded,
  exec: notNeeded,
  retry: notNeeded,
  force: notNeeded,
  test: notNeeded,
  curl: notNeeded,
  "max-warn": notNeeded,
  "mail-from": notify,
  proxy: "moor does not use a proxy",
  timeout: "moor waits 15 seconds; set `timeout:` of the source or target",
  "min-interval": "`changesPerHour:` limits the writes",
  "min-error-interval": "moor chooses its own delays",
  "max-interval": "moor writes only what has changed; `verify:` checks the record regularly",
  mx: atTheService,
  backupmx: atTheService,
  wildcard: atTheService,
  static: atTheService,
  custom: atTheService,
  ssl_ca_dir: "set `ca:` of the target to one file with the certificates",
  "web-skip": severalServices,
  "webv4-skip": severalServices,
  "webv6-skip": severalServices,
};

/** Settings that are used elsewhere in this file, or that only refine one that is. */
const used =
  /^(?:daemon|protocol|server|script|login|password|zone|ttl|ssl|tcp|ssl_ca_file|apikey|secretapikey|root-domain|dynurl|quietreply|use(?:v[46])?|(?:if|web|cmd|fw|ip)(?:v[46])?|ipv[46]|(?:if|cmd|fw)(?:v[46])?-skip|fw-.*|web-ssl-validate|use-personal-access-token)$/;

function noteUnused(settings: readonly DdclientSetting[], notes: Notes): void {
  for (const { key, value, line } of settings) {
    if (key === "ssl" && /^(?:no|false|0)$/i.test(value)) notes.assumed(line, "ssl=no: moor always uses HTTPS");
    if (used.test(key)) continue;
    const why = unused[key] ?? (key.endsWith("_env") ? fromEnvironment : undefined);
    // An unknown one is not named: it may be a part of a password that should have been quoted.
    notes.lost(line, why === undefined ? "moor does not know this setting" : `${key}: ${why}`);
  }
}

const fromEnvironment =
  "put the value itself into the file before the import, or write { env: NAME } in the new config";

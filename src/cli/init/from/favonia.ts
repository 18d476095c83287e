import type { Family } from "../../../core/addresses/address.ts";
import { families } from "../../../core/addresses/address.ts";
import { type Imported, type ImportedName, type ImportedSource, type Notes, part } from "./imported.ts";
import { fromInterface, fromWeb, severalServices } from "./origins.ts";

type Variable = { readonly value: string; readonly line: number };
type Environment = ReadonlyMap<string, Variable>;
type Fault = { readonly line: number; readonly message: string };

/**
 * The environment of favonia/cloudflare-ddns in the settings of moor: `NAME=value` or `NAME: value` on lines of their
 * own, as in an environment file, a script, `docker run` or a Compose file.
 */
export function importFavonia(
  text: string,
  notes: Notes,
  readFile: (path: string) => string | undefined,
): Imported | Fault {
  const all = readEnvironment(text);
  const token = tokenIn(all, readFile);
  if ("message" in token) return token;
  const target = part("cloudflare", {}, { token: token.value });
  const hosts = new Map<string, { readonly line: number; readonly origins: Partial<Record<Family, ImportedSource>> }>();
  for (const family of families) {
    const digit = family === "ipv4" ? "4" : "6";
    const lists = ["DOMAINS", `IP${digit}_DOMAINS`].flatMap((name) => all.get(name) ?? []);
    if (lists.length === 0) continue;
    const origin = originOf(all.get(`IP${digit}_PROVIDER`), lists[0]?.line ?? 1, notes);
    for (const { value, line } of origin ? lists : [])
      for (const host of value.split(",").map((each) => each.trim()))
        if (host !== "" && origin)
          hosts.set(host, { line, origins: { ...hosts.get(host)?.origins, [family]: origin } });
  }
  for (const [name, { line }] of all) if (!used.test(name)) notes.lost(line, `${name}: ${unused[name] ?? notKnown}`);
  const ttl = Number(all.get("TTL")?.value);
  const names = [...hosts].map(([host, { line, origins }]): ImportedName => ({ host, line, target, origins, ttl }));
  const period = periodOf(all.get("UPDATE_CRON")?.value);
  return { names, onlyPublic: true, creates: () => true, ...(period && { period }) };
}

const variable =
  /^(?:[\s"']|-e\s|-\s|export\s)*((?:IP[46]_|CLOUDFLARE_|CF_)?[A-Z][A-Z0-9_]*)["']?\s*[=:]\s*(.*?)[\s\\]*$/;

function readEnvironment(text: string): Environment {
  const found = text.split(/\r?\n/).flatMap((line, at) => {
    const [, name, written = ""] = variable.exec(line) ?? [];
    const value = written
      .replace(/\s+#.*$/, "")
      .replace(/^(["'])(.*)\1$/, "$2")
      .replace(/["']$/, "");
    return name === undefined ? [] : [[name, { value, line: at + 1 }] as const];
  });
  return new Map(found);
}

function tokenIn(all: Environment, readFile: (path: string) => string | undefined): Variable | Fault {
  for (const name of ["CLOUDFLARE_API_TOKEN", "CF_API_TOKEN"]) {
    const own = all.get(name);
    if (own) return own;
    const file = all.get(`${name}_FILE`);
    if (!file) continue;
    const value = readFile(file.value)?.trim();
    return value
      ? { ...file, value }
      : { line: file.line, message: `its token file ${file.value} cannot be read; run the import where it exists` };
  }
  return { line: 1, message: "it has no CLOUDFLARE_API_TOKEN" };
}

function originOf(provider: Variable | undefined, line: number, notes: Notes): ImportedSource | undefined {
  const { value = "cloudflare.trace", line: at = line } = provider ?? {};
  if (value === "none") return undefined;
  const [, device] = /^local\.iface:(.+)$/.exec(value) ?? [];
  if (device !== undefined) return fromInterface(device.trim());
  if (/^(?:static|file)/.test(value)) {
    notes.lost(at, `${value}: moor does not publish fixed addresses`);
    return undefined;
  }
  if (value.startsWith("local")) {
    notes.lost(at, `${value}: moor needs the name of the interface; write local.iface:NAME and import again`);
    return undefined;
  }
  notes.assumed(at, `${value}: ${severalServices}`);
  return fromWeb;
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

/** `@every 5m`, in seconds; other plans are left to moor. */
function periodOf(plan: string | undefined): number | undefined {
  const [, every] = /^@every\s+((?:\d+[smh])+)$/.exec(plan ?? "") ?? [];
  return every
    ?.matchAll(/(\d+)([smh])/g)
    .reduce((sum, [, count, unit = "s"]) => sum + Number(count) * (units[unit] ?? 1), 0);
}

const used =
  /^(?:(?:CLOUDFLARE|CF)_API_TOKEN(?:_FILE)?|(?:IP[46]_)?DOMAINS|IP[46]_PROVIDER|TTL|UPDATE_CRON|TZ|PUID|PGID|EMOJI|QUIET|CACHE_EXPIRATION|DETECTION_TIMEOUT|UPDATE_TIMEOUT|UPDATE_ON_START)$/;
const notKnown = "moor does not know this setting";
const unused: Readonly<Record<string, string>> = {
  PROXIED: "moor keeps the proxy setting of the record",
  DELETE_ON_STOP: "moor leaves the records when it stops",
  HEALTHCHECKS: "`notify:` in the config can call a URL",
  UPTIMEKUMA: "`notify:` in the config can call a URL",
  SHOUTRRR: "`notify:` in the config sends messages",
  WAF_LISTS: "moor writes DNS records only",
  RECORD_COMMENT: "moor keeps the comment of the record",
};

import { type Family, families } from "../../../core/addresses/address.ts";
import { absoluteName, ownerOf, parseName } from "../../../core/names/name.ts";
import { asAscii } from "../../../core/names/unicode.ts";
import { printable } from "../../../core/visible-text.ts";
import type { Setting } from "../../../lib/settings/setting.ts";
import { sourceKinds, sourceSettings } from "../../../updater/sources/sources.ts";
import { targetKinds, targetSettings } from "../../../updater/targets/targets.ts";
import type { CommandIo } from "../../io/command-io.ts";
import { WrongAnswer } from "../asker.ts";
import { type Setup, type SetupEntry, type SetupName, secretFile, type YamlValue } from "../files.ts";
import { readEntry } from "../read-entry.ts";
import type { Imported, ImportedName, ImportedPart, ImportedSource, Notes } from "./imported.ts";

/** The new config. Every entry is read as the config reader reads it; what it refuses is noted and left out. */
export async function assemble(imported: Imported, notes: Notes, io: CommandIo): Promise<Setup> {
  const interval = intervalOf(imported.period, notes);
  const paced = (part: ImportedPart): ImportedPart =>
    imported.period !== undefined && sourceKinds[part.kind]?.keys.includes("every")
      ? { ...part, settings: { every: interval, ...part.settings } }
      : part;
  const sources = createEntries("kind", sourceSettings, io);
  const targets = createEntries("api", targetSettings, io);
  const names = new Map<string, NewName>();
  for (const name of imported.names) {
    const place = await placeOf(name, notes);
    const origins = originsOf(name, notes);
    if (place === undefined || origins.length === 0) continue;
    try {
      const target = await targets.add(name.target);
      const entry = names.get(`${name.host} ${target}`) ?? {
        ...place,
        target,
        ttl: ttlOf(name, notes),
        create:
          name.areFamiliesAssumed !== true &&
          imported.creates(name.target.kind) &&
          targetKinds[name.target.kind]?.can.create === true,
        origins: new Map(),
      };
      for (const [family, origin] of origins) {
        if (entry.origins.has(family))
          notes.lost(name.line, `${name.host}: it is in the file twice; the first entry is used`);
        else entry.origins.set(family, { ...origin, from: await sources.add(paced(origin.source)) });
      }
      names.set(`${name.host} ${target}`, entry);
    } catch (error) {
      if (!(error instanceof WrongAnswer)) throw error;
      notes.lost(name.line, `${name.host}: ${error.message}`);
    }
  }
  const several = { source: sources.all.length > 1, target: targets.all.length > 1 };
  return {
    sources: sources.all,
    targets: targets.all,
    names: [...names.values()].map((name) => settingsOf(name, several)),
    interval,
    onlyPublic: imported.onlyPublic,
  };
}

/** Undefined for 1, which means "automatic" at Cloudflare, and for services that do not let clients choose the TTL. */
function ttlOf({ ttl, target, host, line }: ImportedName, notes: Notes): number | undefined {
  if (!(ttl > 1)) return undefined;
  if (targetKinds[target.kind]?.can.ttl) return ttl;
  notes.lost(line, `${host}: the service chooses the TTL`);
  return undefined;
}

/** Of the families that the target can write. */
function originsOf({ origins, target, host, line }: ImportedName, notes: Notes): readonly [Family, ImportedSource][] {
  const isIpv4Only = targetKinds[target.kind]?.can.ipv6 === false;
  if (origins.ipv6 && isIpv4Only) notes.lost(line, `${host}: \`api: ${target.kind}\` writes only IPv4 addresses`);
  return families.flatMap((family): [Family, ImportedSource][] => {
    const origin = origins[family];
    return origin === undefined || (family === "ipv6" && isIpv4Only) ? [] : [[family, origin]];
  });
}

type NewName = {
  readonly name: string;
  readonly zone: string;
  readonly target: string;
  readonly ttl: number | undefined;
  readonly create: boolean;
  readonly origins: Map<Family, ImportedSource & { readonly from: string }>;
};

function settingsOf(
  { name, zone, target, ttl, create, origins }: NewName,
  several: { readonly source: boolean; readonly target: boolean },
): SetupName {
  const [first, second] = [...origins.values()].map(({ from }) => from);
  const isShared = second === undefined || first === second;
  const family = ({ from, device, more = {} }: ImportedSource & { readonly from: string }): YamlValue => {
    const own = {
      ...(several.source && !isShared && { source: from }),
      ...(device !== undefined && { interface: device }),
      ...more,
    };
    if (Object.keys(own).length === 0) return true;
    return Object.keys(own).join() === "interface" ? (device ?? true) : own;
  };
  return {
    name,
    zone,
    ...(several.source && isShared && first !== undefined && { source: first }),
    ...(several.target && { target }),
    ...(ttl !== undefined && { ttl }),
    ...(create && { create }),
    ...Object.fromEntries([...origins].map(([each, origin]) => [each, family(origin)])),
  };
}

/** Collects entries, each once. */
function createEntries(tag: "kind" | "api", setting: Setting<object>, io: CommandIo) {
  const all: SetupEntry[] = [];
  const sourceNames = new Map<string, string>();
  return {
    all,
    /** The name of the entry. Throws `WrongAnswer` with the words of the config reader. */
    async add({ kind, settings, secrets = {}, placeholders = {}, files = {} }: ImportedPart): Promise<string> {
      const key = JSON.stringify([kind, settings, secrets, placeholders, files]);
      const before = sourceNames.get(key);
      if (before !== undefined) return before;
      const alike = all.filter(({ settings: other }) => other[tag] === kind).length;
      const name = alike === 0 ? kind : `${kind}-${alike + 1}`;
      const written = (texts: Readonly<Record<string, string>>) =>
        Object.entries(texts).map(([what, text]) => [what, secretFile(name, what, text)] as const);
      const [hidden, named, other] = [written(secrets), written(placeholders), written(files)];
      const asReferences = (all: typeof hidden) =>
        Object.fromEntries(all.map(([what, { path }]) => [what, { file: path }]));
      const entry = {
        name,
        settings: {
          [tag]: kind,
          ...settings,
          ...asReferences(hidden),
          ...(named.length > 0 && { secrets: asReferences(named) }),
          ...Object.fromEntries(other.map(([what, { path }]) => [what, path])),
        },
        files: [...hidden, ...named, ...other].map(([, file]) => file),
      };
      await readEntry(setting, entry, `${tag === "kind" ? "source" : "target"} ${name}`, {}, io);
      all.push(entry);
      sourceNames.set(key, name);
      return name;
    },
  };
}

/**
 * The name and its zone: the registered domain, if the file names no zone. Services with an update URL hand out names
 * in their own zones; at those that create records, a name below a shared domain such as dedyn.io is the user's own
 * zone.
 */
async function placeOf(
  { host, zone: written, line, target }: ImportedName,
  notes: Notes,
): Promise<{ readonly name: string; readonly zone: string } | undefined> {
  const [name, zone] = [parseName(asAscii(host)), written === undefined ? undefined : parseName(asAscii(written))];
  if (!name.ok) {
    notes.lost(line, `${printable(host)} is not a host name`);
    return undefined;
  }
  const owner = zone?.ok ? ownerOf(name.value, zone.value) : undefined;
  if (zone?.ok && owner !== undefined) return { name: owner, zone: zone.value };
  const { getDomain } = await import("tldts");
  const isOwn = targetKinds[target.kind]?.can.create === true;
  const assumed = getDomain(name.value, { allowPrivateDomains: isOwn, validateHostname: false }) ?? name.value;
  const why = written === undefined ? "the file does not name its zone" : `it is not in the zone ${printable(written)}`;
  notes.assumed(line, `${name.value}: ${why}; ${assumed} is assumed`);
  const inside = ownerOf(name.value, assumed);
  return inside === undefined ? undefined : { name: inside, zone: assumed };
}

const longest = 86_400;

function intervalOf(period: number | undefined, notes: Notes): string {
  if (period === undefined) return "30s";
  if (period > longest) notes.assumed(1, "moor checks at least once a day: `interval: 24h`");
  const seconds = Math.min(longest, period);
  if (seconds % 3_600 === 0) return `${seconds / 3_600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

/** For messages: the hosts of a config. */
export const hostsOf = ({ names }: Setup): readonly string[] => names.map(({ name, zone }) => absoluteName(name, zone));

import { type Family, families } from "../../core/addresses/address.ts";
import { nearest } from "../../core/names/nearest.ts";
import { mapping, needed } from "../../lib/settings/mapping.ts";
import {
  integer,
  missing,
  oneOrMore,
  orShort,
  refined,
  type Setting,
  type SettingPlace,
  text,
} from "../../lib/settings/setting.ts";
import { quoted } from "../../lib/settings/yaml-reader.ts";
import type { FamilyConfig, OwnFamily, Sources } from "./family.ts";
import type { ConfigReferences } from "./kinds.ts";

/** The name of a source or target. */
export const reference = (
  kind: "source" | "target",
  references: readonly string[],
  description: string,
): Setting<string> =>
  refined(text(description, kind === "source" ? "home" : "dns"), (name, { fault }) => {
    if (references.includes(name)) return name;
    const meant = nearest(name, references);
    return fault({
      code: `unknown-${kind}`,
      message: `there is no ${kind} "${name}"`,
      todo: `${thereAre(kind, references)}${meant ? `; did you mean "${meant}"?` : ""}`,
    });
  });

export const noReference = (kind: string, references: readonly string[]) =>
  missing(`this name has no ${kind}`, `add \`${kind}: …\`; ${thereAre(kind, references)}`);

const thereAre = (kind: string, references: readonly string[]) =>
  references.length === 0 ? `there are no ${kind}s yet` : `the ${kind}s are ${references.join(", ")}`;

/** `source: home`, `source: [fibre, mobile]`, or `source: { agree: [web, dns, router], atLeast: 2 }`. */
export function sourcesSetting(references: readonly string[], description: string): Setting<Sources> {
  const listed = (words: string) =>
    refined(oneOrMore(reference("source", references, words), "name at least one source"), (names, place) => {
      const twice = names.find((name, at) => names.indexOf(name) !== at);
      if (twice === undefined) return names;
      return place.fault({ code: "same-source", message: `the source ${twice} is listed twice`, todo: "list it once" });
    });
  const compared = listed("The sources to compare.");
  const agreeing = mapping(
    {
      agree: needed(
        { ...compared, schema: { ...compared.schema, examples: [["web", "dns"]] } },
        "list the sources: `agree: [web, dns]`",
      ),
      atLeast: integer({ from: 2, to: 20 }, "How many of them must report the same address.", 2, { default: 2 }),
    },
    {
      title: "Agreement",
      description: "Sources of which at least `atLeast` must report the same address.",
      transform({ agree: names, atLeast = 2 }, { fault }): Sources | undefined {
        if (names.length >= atLeast) return { names, agree: atLeast };
        const message = `${atLeast} sources must agree, but only ${names.length} are listed`;
        return fault({ code: "too-few", message, todo: "list more sources" }, "agree");
      },
    },
  );
  return orShort(agreeing, listed(description), (names): Sources => ({ names }));
}

const factsOf = (source: string, { sources, kinds }: ConfigReferences) =>
  kinds.sources.facts[sources.get(source) ?? ""];
const onlyOf = (source: string, references: ConfigReferences) => factsOf(source, references)?.only;

/** Drops the sources that cannot report this family. */
function knowing(family: Family, { names, ...rest }: Sources, references: ConfigReferences): Sources {
  const familiesOf = (source: string) => factsOf(source, references)?.families ?? families;
  return { names: names.filter((source) => familiesOf(source).includes(family)), ...rest };
}

/**
 * Devices are needed if a source knows several. If all sources know only one connection, a device would be a mistake.
 */
export function checkDevices(
  family: Family,
  config: OwnFamily | undefined,
  references: ConfigReferences,
  usual: Sources | undefined,
  { fault }: SettingPlace,
  key: string = family,
): void {
  const all = config?.source ?? usual;
  if (!config || !all?.names.every((source) => factsOf(source, references))) return;
  const sources = knowing(family, all, references);
  const { agree = 1 } = all;
  if (sources.names.length < agree) {
    const unable = all.names.find((source) => !sources.names.includes(source)) ?? "";
    const message = `a source of kind ${references.sources.get(unable)} does not know ${family === "ipv4" ? "IPv4" : "IPv6"} addresses`;
    const other = `name another source for ${family}`;
    const todo = key === family ? `${other}, or leave out \`${family}:\`` : `${other} in \`source:\``;
    fault({ code: "unknown-family", message, todo }, family);
    return;
  }
  const isOnly = sources.names.every((source) => onlyOf(source, references) !== undefined);
  if (!isOnly && config.devices === undefined) {
    const todo = "add `interface: DEVICE`; `moor interfaces` lists the devices";
    fault(missing(`${family} has no interface`, todo), key);
  }
  const [first = ""] = sources.names;
  const wrong = isOnly ? config.devices?.find((device) => device !== onlyOf(first, references)) : undefined;
  if (wrong === undefined) return;
  const of = `a source of kind ${references.sources.get(first)} knows only one connection`;
  const message = `${family} names the device ${quoted(wrong)}, but ${of}`;
  const todo = key === family ? `write \`${family}: true\`` : `leave out \`${key}:\``;
  fault({ code: "one-connection", message, todo }, key);
}

/** `devices` applies only to sources that know several; any other source has exactly one. */
export function withSources(
  family: Family,
  config: OwnFamily,
  references: ConfigReferences,
  usual: Sources | undefined,
): FamilyConfig {
  const { source: own, devices = [], ...rest } = config;
  const { names, agree } = knowing(family, own ?? usual ?? { names: [] }, references);
  const origins = names.map((source) => {
    const only = onlyOf(source, references);
    return { source, devices: only === undefined ? devices : [only] };
  });
  const [first = { source: "", devices }, ...others] = origins;
  return {
    ...rest,
    ...first,
    ...(others.length > 0 && { others }),
    agree,
  };
}

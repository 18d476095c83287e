import { isScalar } from "yaml";
import { families } from "../../../core/addresses/address.ts";
import { createYamlReader, type Spot, type YamlReader } from "../../../lib/settings/yaml-reader.ts";
import {
  type Imported,
  type ImportedName,
  type ImportedPart,
  type ImportedSource,
  type Notes,
  part,
} from "./imported.ts";
import { fromCommand, fromInterface, fromWeb, oneAddressPerLine, severalServices } from "./origins.ts";
import { type ImportedTarget, noTarget, presetOf, withToken } from "./services.ts";

type Fault = { readonly line: number; readonly message: string };

/** ddns-go's .ddns_go_config.yaml in the settings of moor. */
export function importDdnsGo(text: string, notes: Notes): Imported | Fault {
  const reader = createYamlReader(text, "");
  const [wrong] = reader.faults;
  if (wrong) return { line: Number(wrong.where.split(":")[1]), message: "this is not valid YAML" };
  const file = createReading(reader);
  for (const { name, key } of reader.pairs(reader.root) ?? [])
    if (!used.includes(name))
      notes.lost(file.lineOf(key), `${name}: ${unused[name] ?? "moor does not know this setting"}`);
  // Older versions had one account, without a list.
  const list = file.at(reader.root, "dnsconf");
  const accounts = (list && reader.items(list)) ?? [reader.root];
  return { names: accounts.flatMap((account) => namesOf(account, file, notes)), onlyPublic: true, creates: () => true };
}

type Reading = ReturnType<typeof createReading>;

function createReading(reader: YamlReader) {
  const at = (spot: Spot | undefined, name: string): Spot | undefined =>
    spot && reader.pairs(spot)?.find((pair) => pair.name === name)?.value;
  const textOf = (spot: Spot | undefined): string => {
    const value: unknown = isScalar(spot?.node) ? spot.node.value : undefined;
    return ["string", "number", "boolean"].includes(typeof value) ? `${value as string | number | boolean}`.trim() : "";
  };
  return {
    at,
    textOf,
    text: (spot: Spot | undefined, name: string) => textOf(at(spot, name)),
    items: (spot: Spot | undefined) => (spot && reader.items(spot)) ?? [],
    lineOf: (spot: Spot) => Number(reader.where(spot).split(":")[1]),
  };
}

function namesOf(account: Spot, file: Reading, notes: Notes): readonly ImportedName[] {
  const dns = file.at(account, "dns");
  const target = targetOf((name) => file.text(dns, name));
  const ttl = Number(file.text(account, "ttl").replace(/s$/, "") || Number.NaN);
  const names = new Map<string, ImportedName>();
  for (const family of families) {
    const part = file.at(account, family);
    if (part === undefined || file.text(part, "enable") !== "true") continue;
    const origin = originOf(part, file, notes);
    for (const item of file.items(file.at(part, "domains"))) {
      const [written, line] = [file.textOf(item), file.lineOf(item)];
      if (written === "") continue;
      const { host, zone } = placeOf(written);
      if (typeof target === "string") notes.lost(line, `${host}: ${target}`);
      else if (origin)
        names.set(host, {
          host,
          zone,
          line,
          target,
          ttl,
          origins: { ...names.get(host)?.origins, [family]: origin },
        });
    }
  }
  return [...names.values()];
}

/** `www.example.org`, or `www:example.org`, which names the zone; parameters may follow. */
function placeOf(written: string): { readonly host: string; readonly zone: string | undefined } {
  const [name = "", zone] = written.replace(/\?.*$/, "").split(":");
  if (zone === undefined) return { host: name.replace(/^@\./, ""), zone };
  return { host: name === "" || name === "@" ? zone : `${name}.${zone}`, zone };
}

function originOf(spot: Spot, file: Reading, notes: Notes): ImportedSource | undefined {
  const [way, line] = [file.text(spot, "gettype"), file.lineOf(spot)];
  const pick = file.text(spot, "ipv6reg");
  if (pick !== "")
    notes.assumed(
      line,
      `ipv6reg ${pick}: moor chooses the address itself; see \`host:\` and \`prefix:\` in docs/config.md`,
    );
  if (way === "netInterface") {
    const device = file.text(spot, "netinterface");
    if (device !== "") return fromInterface(device);
    notes.lost(line, "it names no network interface");
    return undefined;
  }
  if (way === "cmd") {
    notes.assumed(line, `cmd: ${oneAddressPerLine}`);
    return fromCommand(file.text(spot, "cmd"));
  }
  notes.assumed(line, `url: ${severalServices}`);
  return fromWeb;
}

function targetOf(text: (name: string) => string): ImportedTarget {
  const [name, id, secret] = [text("name").toLowerCase(), text("id"), text("secret")];
  const both = (api: string): ImportedPart | string =>
    id && secret ? part(api, {}, { key: id, secret }) : "it has no id or no secret";
  switch (name) {
    case "cloudflare":
    case "namecheap":
      return withToken(name, secret);
    case "godaddy":
    case "porkbun":
    case "spaceship":
      return both(name);
    case "name_com":
      return id && secret ? part("namecom", { user: id }, { token: secret }) : "it has no id or no secret";
    case "callback":
      return "moor cannot read the request of a callback; write `api: http` by hand (docs/targets.md)";
    default:
      return presetOf(name, { user: id, password: secret }) ?? noTarget(name);
  }
}

const used = ["dnsconf", "ipv4", "ipv6", "dns", "ttl", "lang", "user", "notallowwanaccess"];
const unused: Readonly<Record<string, string>> = {
  webhook: "`notify:` in the config sends messages about failures, `run:` starts a program after a change",
};

import { parseAddress } from "../../core/addresses/address.ts";
import { mostChangesPerHour } from "../../core/updates/plan-update.ts";
import type { NameRules } from "./config.ts";
import { readChoice } from "./read-choice.ts";
import { readDuration } from "./read-duration.ts";
import { missing } from "./read-endpoint.ts";
import type { Fields, Spot, YamlReader } from "./yaml-reader.ts";

/** Settings that a name may have, and that the config may have for all names. */
export const ruleKeys = [
  "public",
  "holdDown",
  "changesPerHour",
  "verify",
  "compare",
  "confirm",
  "when",
  "vhid",
] as const;
type RuleKey = (typeof ruleKeys)[number];

/** What a name does not say is as the config says for all. */
export function readRules(yaml: YamlReader, fields: Fields<RuleKey>, fallback: NameRules = {}): NameRules {
  const read = <T>(key: RuleKey, reader: (at: Spot) => T | undefined): T | undefined => {
    const at = fields.get(key);
    return at && reader(at);
  };
  const carpMaster = readWhen(yaml, fields);
  const given = {
    public: read("public", (at) => readChoice(yaml, at, "public", ["warn", "require"])),
    holdDown: read("holdDown", (at) => readDuration(yaml, at, "holdDown")),
    changesPerHour: read("changesPerHour", (at) =>
      yaml.integer(at, "changesPerHour", { min: 1, max: mostChangesPerHour }),
    ),
    verify: read("verify", (at) => readDuration(yaml, at, "verify")),
    compare: read("compare", (at) => readChoice(yaml, at, "compare", ["state", "record"])),
    confirm: read("confirm", (at) => readConfirm(yaml, at)),
    carpMaster: carpMaster ?? undefined,
  };
  const told = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const rules: NameRules = { ...fallback, ...told };
  if (carpMaster !== null) return rules;
  const { carpMaster: _, ...always } = rules;
  return always;
}

/** `when: carp-master` with the VHID beside it; null for `when: always`, which overrules what holds for all. */
function readWhen(yaml: YamlReader, fields: Fields<RuleKey>): string | null | undefined {
  const at = fields.get("when");
  const vhidSpot = fields.get("vhid");
  const vhid = vhidSpot && yaml.integer(vhidSpot, "vhid", { min: 1, max: 255 });
  if (!at) {
    if (vhidSpot) yaml.fault(vhidSpot, missing("vhid without when", "add `when: carp-master`"));
    return undefined;
  }
  const when = readChoice(yaml, at, "when", ["always", "carp-master"]);
  if (when !== "carp-master") return when && null;
  if (!vhidSpot) yaml.fault(at, missing("when: carp-master does not say of what", "add `vhid: 1` beside it"));
  return vhid === undefined ? undefined : String(vhid);
}

/** `confirm: dns`, or `confirm: { dns: [192.0.2.53, "192.0.2.54:5353"] }` for servers that the zone does not name. */
function readConfirm(yaml: YamlReader, at: Spot): NameRules["confirm"] | undefined {
  if (!yaml.isMapping(at)) return readChoice(yaml, at, "confirm", ["dns"]) && { servers: [] };
  const list = yaml.fields(at, "confirm", ["dns"])?.get("dns");
  if (!list) return yaml.fault(at, missing("confirm has no dns", "write `confirm: dns`"));
  const servers = yaml.items(list, "dns of confirm").flatMap((spot) => {
    const text = yaml.text(spot, "a server of confirm");
    if (text === undefined) return [];
    const [, host = text, port = "53"] =
      /^\[(.*)\](?::(\d{1,5}))?$/.exec(text) ?? /^(\d[\d.]*):(\d{1,5})$/.exec(text) ?? [];
    if (parseAddress(host) && Number(port) >= 1 && Number(port) <= 65_535) return [text];
    yaml.fault(spot, {
      code: "bad-server",
      message: `${text} is no address`,
      todo: "write 192.0.2.53 or [2001:db8::53]:53",
    });
    return [];
  });
  return { servers };
}

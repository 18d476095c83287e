import { dirname } from "node:path";
import { mostChangesPerHour, type UpdateRules } from "../../core/updates/plan-update.ts";
import type { Program } from "../../lib/kernel/run-program.ts";
import { mapping, needed, shared, type ValueOf } from "../../lib/settings/mapping.ts";
import {
  choice,
  duration,
  integer,
  listOf,
  missing,
  oneOrMore,
  orShort,
  refined,
  type Setting,
  type SettingPlace,
  text,
} from "../../lib/settings/setting.ts";
import { dnsServer } from "./endpoint.ts";

export type NameRules = UpdateRules & {
  /** Milliseconds between two reads of the record itself. */
  readonly verify?: number;
  /** After a write, check that these DNS servers return the address; without any, the zone's own. */
  readonly confirm?: { readonly servers: readonly string[] };
  /** Update only while the firewall is the master of this VHID. */
  readonly carpMaster?: string;
};

export const vhid = (description: string): Setting<string> =>
  refined(integer({ from: 1, to: 255 }, description, 1), String);

const confirm = orShort(
  mapping(
    { dns: needed(listOf(dnsServer, "DNS servers to ask instead of the zone's own."), "write `confirm: dns`") },
    { title: "Confirm", transform: ({ dns }) => ({ servers: dns }) },
  ),
  choice(
    ["dns"],
    "After a write, check that DNS returns the new address: ask the zone's own servers, or the listed ones.",
  ),
  () => ({ servers: [] }),
);

/** Settings for one name, or at the top level for all names. */
export const ruleFields = shared("Rules", {
  public: choice(
    ["warn", "require"],
    "Private, carrier NAT, unique local, documentation and reserved addresses: `warn` publishes them with a warning, `require` never publishes them.",
    "warn",
  ),
  holdDown: duration("How long a new address must be present before it is written.", "10s"),
  changesPerHour: integer(
    { from: 1, to: mostChangesPerHour },
    "The maximum number of changes to one record per hour.",
    30,
  ),
  verify: duration("How often to read the record itself, and correct it if someone else changed it.", "1h"),
  compare: choice(
    ["state", "record"],
    "What to compare an address with: the stored address (`state`), or the record itself (`record`), if another client writes it too.",
    "state",
  ),
  confirm,
  when: choice(
    ["always", "carp-master"],
    "Update always, or only while the firewall is the master of `vhid`.",
    "always",
  ),
  vhid: vhid("The VHID for `when: carp-master`."),
});

export type RuleValues = ValueOf<typeof ruleFields>;

/** `when` and `vhid` need each other. */
export function checkWhen({ when }: Partial<RuleValues>, { has, fault }: SettingPlace): void {
  if (has("vhid") && !has("when")) fault(missing("vhid is set without when", "add `when: carp-master`"), "vhid");
  if (when === "carp-master" && !has("vhid"))
    fault(missing("when: carp-master needs a VHID", "add it, such as `vhid: 1`"), "when");
}

/** A name's own rules override those for all names; `when: always` overrides a `carp-master` for all. */
export function rulesOf({ when, vhid, ...own }: RuleValues, forAll: NameRules = {}): NameRules {
  const { carpMaster: _, ...others } = forAll;
  if (when === undefined) return { ...forAll, ...own };
  return { ...others, ...own, ...(when === "carp-master" && vhid !== undefined && { carpMaster: vhid }) };
}

/** A program, or a list of a program and its arguments. A path is relative to the config's folder, in which it runs. */
export const program = (description: string, example: string): Setting<Program> =>
  refined(
    oneOrMore(text(description, example), "give a program"),
    ([file = "", ...args], { reading }): Program => ({
      file: file.includes("/") ? reading.resolve(file) : file,
      args,
      folder: dirname(reading.resolve("moor.yaml")),
    }),
  );

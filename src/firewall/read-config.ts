import { fail, ok, type Result } from "../core/result.ts";
import { isUtf16 } from "../core/utf8-text.ts";
import { mapping, usually } from "../lib/settings/mapping.ts";
import { byKey, flag, readText, refined, text } from "../lib/settings/setting.ts";
import { type FirewallConfig, type InterfaceSettings } from "./config.ts";

const settings = mapping({
  hidden: usually(flag("Whether it is left out of all responses."), false),
  description: text("A name for people.", "WAN"),
  identifier: text("As in OPNsense's own configuration: wan, lan, opt1.", "wan"),
});

/** Some responses are keyed by identifier: of two interfaces with the same one, only the last would be included. */
const interfaces = refined(
  byKey<InterfaceSettings>(settings, (name) => `interface ${name}`, "The interfaces by name; * matches anything."),
  (all, { fault }) => {
    const holders = new Map<string, string>();
    for (const [name, { identifier }] of all) {
      if (identifier === undefined) continue;
      const holder = holders.get(identifier);
      if (name.includes("*")) fault({ code: "shared", message: `a pattern cannot have an identifier`, todo }, name);
      else if (holder !== undefined)
        fault({ code: "shared", message: `${holder} already is ${identifier}`, todo }, name);
      holders.set(identifier, name);
    }
    return [...all];
  },
);

const todo = "leave it out, or choose another: identifiers must be unique";

const whole = mapping({ interfaces });

/** An empty file has no settings. */
const root: typeof whole = { ...whole, read: (at, ...rest) => (at.node === null ? {} : whole.read(at, ...rest)) };

/** Reads the text of `firewall.yaml`. */
export function readFirewallConfig(content: string, file: string): Result<FirewallConfig> {
  if (isUtf16(content))
    return fail({ code: "not-utf-8", where: file, message: "it is not UTF-8", todo: "save it as UTF-8" });
  const read = readText(root, content, file);
  return read.ok ? ok({ interfaces: read.value.interfaces ?? [] }) : read;
}

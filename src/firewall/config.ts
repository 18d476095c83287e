import { isObject } from "../core/is-object.ts";

/** The operator's settings for an interface. */
export type InterfaceSettings = {
  /** Left out of all responses. */
  readonly hidden: boolean;
  /** A name for people. */
  readonly description?: string;
  /** `wan`, `lan`, `opt1`: as in OPNsense's own configuration. */
  readonly identifier?: string;
};

export type FirewallConfig = { readonly interfaces: readonly (readonly [pattern: string, InterfaceSettings])[] };

export const noConfig: FirewallConfig = { interfaces: [] };

/** The first matching line applies; `*` matches anything. */
export function settingsOf({ interfaces }: FirewallConfig, device: string): InterfaceSettings {
  return interfaces.find(([pattern]) => fits(pattern, device))?.[1] ?? { hidden: false };
}

function fits(pattern: string, device: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return pattern === device;
  if (!device.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const partAt = device.indexOf(part, at);
    if (partAt < 0) return false;
    at = partAt + part.length;
  }
  return device.length - last.length >= at && device.endsWith(last);
}

/** OPNsense shows the description, or the identifier in capitals if there is none. */
export const describe = (config: FirewallConfig, device: string, flags: readonly string[]): string =>
  descriptionOf(config, device, flags) ?? identify(config, device).toUpperCase();

/** OPNsense's Network Insight shows the identifier unchanged. */
export const describeShortly = (config: FirewallConfig, device: string, flags: readonly string[]): string =>
  descriptionOf(config, device, flags) ?? identify(config, device);

const descriptionOf = (config: FirewallConfig, device: string, flags: readonly string[]): string | undefined =>
  settingsOf(config, device).description ?? (flags.includes("loopback") ? "Loopback" : undefined);

export const identify = (config: FirewallConfig, device: string): string =>
  settingsOf(config, device).identifier ?? device;

/** `at` is the path of keys to the fault. */
export type ConfigFault = { readonly at: readonly string[]; readonly message: string };

/** The config, or all its faults. */
export type ReadConfig =
  | { readonly kind: "config"; readonly config: FirewallConfig }
  | { readonly kind: "faults"; readonly faults: readonly ConfigFault[] };

const settingNames = ["hidden", "description", "identifier"];

/** `content` is the parsed file. */
export function readConfig(content: unknown): ReadConfig {
  if (content === null || content === undefined) return { kind: "config", config: noConfig };
  if (!isObject(content)) {
    return {
      kind: "faults",
      faults: [{ at: [], message: "the file must contain `interfaces:` with settings below it" }],
    };
  }
  const faults: ConfigFault[] = Object.keys(content)
    .filter((key) => key !== "interfaces")
    .map((key) => ({ at: [key], message: "unknown setting; the only one is interfaces" }));
  const listed = content.interfaces ?? {};
  if (!isObject(listed)) {
    faults.push({
      at: ["interfaces"],
      message: "must have one line per interface, such as `eth0: { description: WAN }`",
    });
  }
  const interfaces = Object.entries(isObject(listed) ? listed : {}).map(([name, value]) => {
    faults.push(...faultsOf(name, value));
    return [
      name,
      isObject(value) ? { hidden: false, ...(value as Partial<InterfaceSettings>) } : { hidden: false },
    ] as const;
  });
  faults.push(...sharedIdentifiers(interfaces));
  return faults.length > 0 ? { kind: "faults", faults } : { kind: "config", config: { interfaces } };
}

function faultsOf(name: string, value: unknown): ConfigFault[] {
  if (!isObject(value))
    return [{ at: ["interfaces", name], message: `must have settings: ${settingNames.join(", ")}` }];
  return Object.entries(value).flatMap(([key, setting]) => {
    const at = ["interfaces", name, key];
    if (!settingNames.includes(key)) return [{ at, message: `unknown setting; use one of ${settingNames.join(", ")}` }];
    const fitting = key === "hidden" ? typeof setting === "boolean" : typeof setting === "string" && setting !== "";
    return fitting ? [] : [{ at, message: `must be ${key === "hidden" ? "true or false" : "text"}` }];
  });
}

/** Some responses are keyed by identifier: of two interfaces with the same one, only the last would be included. */
function sharedIdentifiers(interfaces: FirewallConfig["interfaces"]): ConfigFault[] {
  const holders = new Map<string, string>();
  return interfaces.flatMap(([name, { identifier }]) => {
    if (typeof identifier !== "string") return [];
    const at = ["interfaces", name, "identifier"];
    if (name.includes("*"))
      return [{ at, message: "a pattern cannot have an identifier, which must be unique; leave it out" }];
    const holder = holders.get(identifier);
    if (holder !== undefined) return [{ at, message: `${holder} already uses it; choose another` }];
    holders.set(identifier, name);
    return [];
  });
}

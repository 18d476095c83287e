import { isObject } from "../core/is-object.ts";

/** What the operator says about this machine's interfaces. */
export type InterfaceSettings = {
  /** Not in any answer. */
  readonly hidden: boolean;
  /** What people call it. */
  readonly description?: string;
  /** `wan`, `lan`, `opt1`: what OPNsense's own configuration would call it. */
  readonly identifier?: string;
};

export type FirewallConfig = { readonly interfaces: readonly (readonly [pattern: string, InterfaceSettings])[] };

export const noConfig: FirewallConfig = { interfaces: [] };

/** The first line that fits counts; `*` in it stands for anything. */
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
    const found = device.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return device.length - last.length >= at && device.endsWith(last);
}

/** OPNsense shows the description, and the identifier in capitals where there is none. */
export const describe = (config: FirewallConfig, device: string, flags: readonly string[]): string =>
  descriptionOf(config, device, flags) ?? identify(config, device).toUpperCase();

/** Its Network Insight shows the identifier as it is. */
export const describeShortly = (config: FirewallConfig, device: string, flags: readonly string[]): string =>
  descriptionOf(config, device, flags) ?? identify(config, device);

const descriptionOf = (config: FirewallConfig, device: string, flags: readonly string[]): string | undefined =>
  settingsOf(config, device).description ?? (flags.includes("loopback") ? "Loopback" : undefined);

export const identify = (config: FirewallConfig, device: string): string =>
  settingsOf(config, device).identifier ?? device;

/** `at` are the keys that lead to what is wrong. */
export type ConfigFault = { readonly at: readonly string[]; readonly message: string };

/** What a config file says, or everything that is wrong with it. */
export type ReadConfig =
  | { readonly kind: "config"; readonly config: FirewallConfig }
  | { readonly kind: "faults"; readonly faults: readonly ConfigFault[] };

const known = ["hidden", "description", "identifier"];

/** `content` is the file's, as data. */
export function readConfig(content: unknown): ReadConfig {
  if (content === null || content === undefined) return { kind: "config", config: noConfig };
  if (!isObject(content)) {
    return { kind: "faults", faults: [{ at: [], message: "the file must hold `interfaces:` and what is below it" }] };
  }
  const faults: ConfigFault[] = Object.keys(content)
    .filter((key) => key !== "interfaces")
    .map((key) => ({ at: [key], message: "there is no such setting; there is interfaces" }));
  const listed = content.interfaces ?? {};
  if (!isObject(listed)) {
    faults.push({ at: ["interfaces"], message: "must have a line for each name, as `eth0: { description: WAN }`" });
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
  if (!isObject(value)) return [{ at: ["interfaces", name], message: `must have settings: ${known.join(", ")}` }];
  return Object.entries(value).flatMap(([key, setting]) => {
    const at = ["interfaces", name, key];
    if (!known.includes(key)) return [{ at, message: `there is no such setting; there are ${known.join(", ")}` }];
    const fitting = key === "hidden" ? typeof setting === "boolean" : typeof setting === "string" && setting !== "";
    return fitting ? [] : [{ at, message: `must be ${key === "hidden" ? "true or false" : "a text"}` }];
  });
}

/** Some answers are keyed by identifier: of two interfaces with one, only the last would be in them. */
function sharedIdentifiers(interfaces: FirewallConfig["interfaces"]): ConfigFault[] {
  const holders = new Map<string, string>();
  return interfaces.flatMap(([name, { identifier }]) => {
    if (typeof identifier !== "string") return [];
    const at = ["interfaces", name, "identifier"];
    if (name.includes("*")) return [{ at, message: "many interfaces cannot have one; leave it out" }];
    const holder = holders.get(identifier);
    if (holder !== undefined) return [{ at, message: `${holder} has it already; choose another` }];
    holders.set(identifier, name);
    return [];
  });
}

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

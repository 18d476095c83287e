import { parseNetwork } from "../../core/addresses/network.ts";
import { comesFrom } from "../../core/addresses/peer-address.ts";

/**
 * The privileges of users, with OPNsense's display names. `all` is OPNsense's "All pages";
 * `interface-status` is a narrow one that OPNsense lacks; the others are OPNsense's, under names that say what
 * they allow.
 */
export const displayNames = {
  all: "All pages",
  "interface-status": "Diagnostics: Interface configuration",
  "interface-names": "Diagnostics: Logs: Firewall: Live View",
  "interface-statistics": "Diagnostics: Netstat",
  traffic: "Reporting: Traffic",
  overview: "Status: Interfaces",
  gateways: "System: Gateways",
  "arp-table": "Diagnostics: ARP Table",
  "routing-tables": "Diagnostics: Routing tables",
  activity: "Diagnostics: System Activity",
  firmware: "System: Firmware",
  dashboard: "Lobby: Dashboard",
} as const;
export type Privilege = keyof typeof displayNames;

export const privileges = Object.keys(displayNames) as readonly Privilege[];

export const isPrivilege = (text: string): text is Privilege => Object.hasOwn(displayNames, text);

/**
 * The endpoints, by their names in OPNsense's documentation (`events` is moor's own), and the privilege that each needs
 * unless the caller has `all`. Whoever can create keys for others can do what they can, so that needs `all`.
 */
export const endpoints = {
  "diagnostics/activity/get_activity": "activity",
  "diagnostics/interface/get_arp": "arp-table",
  "diagnostics/interface/search_arp": "arp-table",
  "diagnostics/interface/get_routes": "routing-tables",
  "diagnostics/interface/get_interface_config": "interface-status",
  "diagnostics/interface/events": "interface-status",
  "diagnostics/interface/get_interface_names": "interface-names",
  "diagnostics/interface/get_interface_statistics": "interface-statistics",
  "diagnostics/networkinsight/get_interfaces": "interface-names",
  "diagnostics/system/system_information": "dashboard",
  "diagnostics/traffic/interface": "traffic",
  "interfaces/overview/export": "overview",
  "interfaces/overview/get_interface": "overview",
  "interfaces/overview/interfaces_info": "overview",
  "routes/gateway/status": "gateways",
  "routing/settings/search_gateway": "gateways",
  "core/firmware/info": "firmware",
  "core/firmware/status": "firmware",
  "core/system/status": "dashboard",
  "auth/user/add_api_key": "all",
  "auth/user/search_api_key": "all",
  "auth/user/del_api_key": "all",
  "auth/priv/search": "all",
} as const satisfies Readonly<Record<string, Privilege>>;
export type EndpointName = keyof typeof endpoints;

export const endpointNames = Object.keys(endpoints) as readonly EndpointName[];

/** Checked for the resolved endpoint, never for the text of the path. */
export const mayCall = (privileges: readonly Privilege[], endpoint: EndpointName): boolean =>
  privileges.includes("all") || privileges.includes(endpoints[endpoint]);

/** Usual kinds of users. `withKey`: such a user needs a key rather than a password. */
export type Preset = {
  readonly name: string;
  readonly purpose: string;
  readonly privileges: readonly Privilege[];
  readonly withKey: boolean;
};

export const presets: readonly Preset[] = [
  {
    name: "Updater",
    purpose: "Reads the addresses of the interfaces, for moor update or another dynamic DNS client.",
    privileges: ["interface-status"],
    withKey: true,
  },
  {
    name: "Dashboard",
    purpose: "Reads everything that this service reports, and changes nothing.",
    privileges: privileges.filter((each) => each !== "all"),
    withKey: true,
  },
  {
    name: "Administrator",
    purpose: "Can do everything, including managing users.",
    privileges: ["all"],
    withKey: false,
  },
];

/** What decides what a user and their keys may do. */
export type PrivilegeHolder = {
  readonly disabled: boolean;
  readonly expires?: Date;
  readonly privileges: readonly Privilege[];
  /** The privileges apply only to calls from these networks; empty means from anywhere. */
  readonly networks: readonly string[];
};

/** Where a call comes from, and when. Without `from`, the caller is in no network. */
export type CallOrigin = { readonly from?: string; readonly now: Date };

/** Why a user's password and keys are not accepted now. */
export type ShutOut = "disabled" | "expired";

export function shutOut(
  { disabled, expires }: Pick<PrivilegeHolder, "disabled" | "expires">,
  now: Date,
): ShutOut | undefined {
  if (disabled) return "disabled";
  return expires !== undefined && now.getTime() >= expires.getTime() ? "expired" : undefined;
}

export const isInForce = (holder: Pick<PrivilegeHolder, "disabled" | "expires">, now: Date): boolean =>
  shutOut(holder, now) === undefined;

/** What a key allows: the privileges that its user has here, within the key's own limit if it has one. */
export const rightsOf = (
  holder: PrivilegeHolder,
  limit: readonly Privilege[] | undefined,
  { from }: Pick<CallOrigin, "from">,
): readonly Privilege[] => (isFrom(from, holder.networks) ? privilegesOf(holder, limit) : []);

/** The privileges of a holder, wherever a call comes from. */
export function privilegesOf(
  { privileges: ownPrivileges }: Pick<PrivilegeHolder, "privileges">,
  limit: readonly Privilege[] = ["all"],
): readonly Privilege[] {
  const covers = (list: readonly Privilege[], each: Privilege) => list.includes("all") || list.includes(each);
  const both = privileges.filter((each) => covers(ownPrivileges, each) && covers(limit, each));
  return both.includes("all") ? ["all"] : both;
}

export const isFrom = (from: string | undefined, networks: readonly string[]): boolean =>
  networks.length === 0 ||
  comesFrom(
    from,
    networks.flatMap((text) => parseNetwork(text) ?? []),
  );

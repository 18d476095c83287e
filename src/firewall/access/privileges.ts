import { parseNetwork } from "../../core/addresses/network.ts";
import { comesFrom } from "../../core/addresses/peer-address.ts";

/**
 * The privileges of users and groups, with OPNsense's display names. `all` is OPNsense's "All pages";
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
  "user-management": "System: Access: Management",
} as const;
export type Privilege = keyof typeof displayNames;

export const privileges = Object.keys(displayNames) as readonly Privilege[];

export const isPrivilege = (text: string): text is Privilege => Object.hasOwn(displayNames, text);

/**
 * The endpoints, by their names in OPNsense's documentation (`events` is moor's own), and the privilege that each needs
 * unless the caller has `all`.
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
  "auth/user/add_api_key": "user-management",
  "auth/user/search_api_key": "user-management",
  "auth/user/del_api_key": "user-management",
  "auth/priv/search": "user-management",
} as const satisfies Readonly<Record<string, Privilege>>;
export type EndpointName = keyof typeof endpoints;

export const endpointNames = Object.keys(endpoints) as readonly EndpointName[];

/** Checked for the resolved endpoint, never for the text of the path. */
export const mayCall = (held: readonly Privilege[], endpoint: EndpointName): boolean =>
  held.includes("all") || held.includes(endpoints[endpoint]);

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
    privileges: privileges.filter((each) => each !== "all" && each !== "user-management"),
    withKey: true,
  },
  {
    name: "Administrator",
    purpose: "Can do everything, including managing users.",
    privileges: ["all"],
    withKey: false,
  },
];

/** The user of a key, with the privileges they have directly and through groups. */
export type Holder = {
  readonly disabled: boolean;
  readonly expires?: Date;
  readonly privileges: readonly Privilege[];
  readonly groups: readonly Grant[];
};

/** Privileges that apply only to calls from these networks; without networks, from anywhere. */
export type Grant = { readonly privileges: readonly Privilege[]; readonly networks: readonly string[] };

/** Where a call comes from, and when; an unknown address is in no network. */
export type Caller = { readonly from?: string; readonly now: Date };

/** Why a user's password and keys are not accepted now. */
export type ShutOut = "disabled" | "expired";

export function shutOut({ disabled, expires }: Pick<Holder, "disabled" | "expires">, now: Date): ShutOut | undefined {
  if (disabled) return "disabled";
  return expires !== undefined && now.getTime() >= expires.getTime() ? "expired" : undefined;
}

export const isInForce = (holder: Pick<Holder, "disabled" | "expires">, now: Date): boolean =>
  shutOut(holder, now) === undefined;

/** What a key allows: the privileges that its user has here and now, within the key's own limit if it has one. */
export function rightsOf(holder: Holder, limit: readonly Privilege[] | undefined, caller: Caller): Privilege[] {
  const counting = new Set(grantsFrom(grantsOf(holder, limit), caller).flatMap((grant) => grant.privileges));
  return counting.has("all") ? ["all"] : privileges.filter((each) => counting.has(each));
}

/** All grants of a holder, for any network, within a key's limit if there is one. */
export const grantsOf = (holder: Pick<Holder, "privileges" | "groups">, limit?: readonly Privilege[]): Grant[] =>
  [{ privileges: holder.privileges, networks: [] }, ...holder.groups].map((grant) => ({
    privileges: limit === undefined ? grant.privileges : inBoth(grant.privileges, limit),
    networks: grant.networks,
  }));

export const grantsFrom = (grants: readonly Grant[], { from }: Pick<Caller, "from">): Grant[] =>
  grants.filter(({ networks }) => networks.length === 0 || isFrom(from, networks));

function inBoth(a: readonly Privilege[], b: readonly Privilege[]): readonly Privilege[] {
  const covers = (list: readonly Privilege[], each: Privilege) => list.includes("all") || list.includes(each);
  return privileges.filter((each) => (a.includes(each) && covers(b, each)) || (b.includes(each) && covers(a, each)));
}

const isFrom = (from: string | undefined, networks: readonly string[]): boolean =>
  comesFrom(
    from,
    networks.flatMap((text) => parseNetwork(text) ?? []),
  );

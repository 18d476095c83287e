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

/**
 * What a user or a group may hold, with the original's display name where it has the privilege. `all` is the original's "All
 * pages"; `interface-status` is the narrow one that the original lacks; the others are the original's, under names that say
 * what they open.
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
 * What the service can be asked, by the name it has in the original's documentation (`events` is moor's own), and the privilege
 * that each asks for, beside `all`.
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

/** Asked about the resolved endpoint, never about the text of the path. */
export const mayCall = (held: readonly Privilege[], endpoint: EndpointName): boolean =>
  held.includes("all") || held.includes(endpoints[endpoint]);

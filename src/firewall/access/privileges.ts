import type { EndpointName } from "./resolve-endpoint.ts";

/**
 * What a user or a group may hold. `all` is the original's "All pages"; `interface-status` is the narrow one that the
 * original lacks; the others are the original's, under names that say what they open.
 */
export const privileges = [
  "all",
  "interface-status",
  "interface-names",
  "interface-statistics",
  "traffic",
  "overview",
  "gateways",
  "arp-table",
  "routing-tables",
  "activity",
  "firmware",
  "dashboard",
  "user-management",
] as const;
export type Privilege = (typeof privileges)[number];

export const isPrivilege = (text: string): text is Privilege => (privileges as readonly string[]).includes(text);

/** The original's display names, where it has the privilege. */
export const displayNames: Readonly<Record<Privilege, string>> = {
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
};

/** What each endpoint asks for, beside `all`. */
export const wanted: Readonly<Record<EndpointName, Privilege>> = {
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
};

/** Asked about the resolved endpoint, never about the text of the path. */
export const mayCall = (held: readonly Privilege[], endpoint: EndpointName): boolean =>
  held.includes("all") || held.includes(wanted[endpoint]);

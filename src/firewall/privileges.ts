import type { EndpointName } from "./resolve-endpoint.ts";

/** `all` is the original's "All pages"; `interface-status` is the narrow one that the original lacks. */
export const privileges = ["all", "interface-status"] as const;
export type Privilege = (typeof privileges)[number];

const wanted: Readonly<Record<EndpointName, Privilege>> = {
  "diagnostics/interface/get_interface_config": "interface-status",
};

/** Asked about the resolved endpoint, never about the text of the path. */
export const mayCall = (held: readonly Privilege[], endpoint: EndpointName): boolean =>
  held.includes("all") || held.includes(wanted[endpoint]);

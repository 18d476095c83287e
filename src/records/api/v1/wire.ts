import type { Pagination, WirePrimaryServer, WireRecord, WireZone } from "../../../contract/records-v1.ts";
import type { Instant } from "../../../core/instant.ts";
import { utcText } from "../../../core/utc-text.ts";
import type { ServerInZone } from "../../commands/requests.ts";
import type { RecordInZone, Zone } from "../../model.ts";
import { shownV1Text } from "./text.ts";

/** Objects of the v1 API. Their key order is part of the contract: some clients read them with grep. */

export function zoneToWire(zone: Zone, nameservers: readonly string[]): WireZone {
  return {
    id: zone.id,
    name: zone.name,
    ttl: zone.settings.ttl,
    registrar: "",
    legacy_dns_host: "",
    legacy_ns: [],
    ns: nameservers.map((server) => `${server}.`),
    created: timeText(zone.created),
    verified: "",
    modified: timeText(zone.modified),
    project: "",
    owner: "",
    permission: "",
    zone_type: { id: "", name: "", description: "", prices: null },
    status: "verified",
    paused: false,
    is_secondary_dns: zone.settings.mode === "secondary",
    txt_verification: { name: "", token: "" },
    records_count: zone.recordCount,
  };
}

export function recordToWire({ zone, type, ttl, record }: RecordInZone): WireRecord {
  return {
    id: record.id,
    type,
    name: record.name,
    value: type === "TXT" ? shownV1Text(record) : record.value,
    ...(ttl !== null && { ttl }),
    zone_id: zone.id,
    created: timeText(record.created),
    modified: timeText(record.modified),
  };
}

export function primaryServerToWire({ zone, server }: ServerInZone): WirePrimaryServer {
  return {
    id: `${zone.id}${serverMark}${server.id}`,
    port: server.port,
    created: timeText(server.created),
    modified: timeText(server.modified),
    zone_id: zone.id,
    address: server.address,
  };
}

/** The id contains the zone's id, so that a server is found without searching all zones. */
export function primaryServerPlace(id: string): { readonly zone: string; readonly server: string } {
  const cut = id.indexOf(serverMark);
  return cut < 0 ? { zone: "", server: id } : { zone: id.slice(0, cut), server: id.slice(cut + serverMark.length) };
}

const serverMark = "-";

/** Sent in place of the object in an error answer. */
export const zeroZone: WireZone = {
  id: "",
  name: "",
  ttl: 0,
  registrar: "",
  legacy_dns_host: "",
  legacy_ns: null,
  ns: null,
  created: "",
  verified: "",
  modified: "",
  project: "",
  owner: "",
  permission: "",
  zone_type: { id: "", name: "", description: "", prices: null },
  status: "",
  paused: false,
  is_secondary_dns: false,
  txt_verification: { name: "", token: "" },
  records_count: 0,
};

export const zeroRecord: WireRecord = {
  id: "",
  type: "",
  name: "",
  value: "",
  zone_id: "",
  created: "",
  modified: "",
};

export const zeroPrimaryServer: WirePrimaryServer = {
  id: "",
  port: 0,
  created: "",
  modified: "",
  zone_id: "",
  address: "",
};

export const zeroPagination: Pagination = {
  page: 0,
  per_page: 0,
  previous_page: 0,
  next_page: 0,
  last_page: 0,
  total_entries: 0,
};

/** The previous and next page are clamped, never null: on page 1 of 1 both are 1. */
export function paginationToWire(page: number, perPage: number, total: number): Pagination {
  const last = Math.max(1, Math.ceil(total / perPage));
  return {
    page,
    per_page: perPage,
    previous_page: Math.max(1, page - 1),
    next_page: Math.min(last, page + 1),
    last_page: last,
    total_entries: total,
  };
}

/** Go's default time format, always with milliseconds: `2021-02-05 12:57:21.941 +0000 UTC`. */
export function timeText(instant: Instant): string {
  const { day, time, milliseconds } = utcText(instant);
  return `${day} ${time}.${milliseconds} +0000 UTC`;
}

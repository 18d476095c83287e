import type { Family } from "../../core/addresses/address.ts";
import type { InterfaceReport } from "../../core/addresses/interface-report.ts";
import type { HttpClient } from "../../lib/http-client/client.ts";
import type { Endpoint } from "../../lib/http-client/endpoint.ts";
import type { Mapping } from "../../lib/settings/mapping.ts";

/** The device name in the reports of all sources that know only one connection. */
export const onlyDevice = "internet";

/** A kind of source: the settings of its config entry, and how to open it. `connect` is for those that use HTTP. */
export type SourceKind<Config> = Mapping<Partial<Endpoint>> & {
  readonly can: SourceAbilities;
  /** What it can do with these settings, if that differs. */
  canWith?(config: Config): SourceAbilities;
  /** The device name in its reports, if it knows only one connection. Its names need no device: `ipv4: true`. */
  readonly only?: typeof onlyDevice;
  /** The families that it can know; both if undefined. */
  readonly families?: readonly Family[];
  /** What messages call it. */
  readonly kindLabel?: "firewall";
  /**
   * `wanted`: the families that names use; the others need not be read. `interval`: milliseconds within which a change
   * has to be noticed, even if a push is lost.
   */
  open(
    config: Config,
    connect: (endpoint: Endpoint) => Promise<HttpClient>,
    wanted: readonly Family[],
    interval?: number,
  ): Promise<AddressSource>;
};

/**
 * `push`: it can report changes itself, if its version supports that. `prefix`, `lifetimes`: it reports those of IPv6
 * addresses.
 */
export type SourceAbilities = { readonly push: boolean; readonly prefix: boolean; readonly lifetimes: boolean };

export function abilitiesInWords({ push, prefix, lifetimes }: SourceAbilities): string {
  const detailNames = [prefix && "prefixes", lifetimes && "lifetimes"].filter(Boolean).join(" and ");
  const reports = detailNames === "" ? "addresses without prefixes or lifetimes" : `addresses with ${detailNames}`;
  return `${push ? "can push changes" : "is polled"} and reports ${reports}`;
}

/** A place that knows addresses. `unavailable` is not an empty report: nothing is known, so nothing is done. */
export type AddressSource = {
  read(signal: AbortSignal): Promise<SourceReading>;
  /** Passes on every report that the source pushes, the first one immediately; returns when the stream ends. */
  follow(reading: (reading: SourceReading) => void, signal: AbortSignal): Promise<FollowEnd>;
  close(): void;
  /** Milliseconds between two polls, if it must not be polled more often. */
  readonly every?: number;
};

export type SourceReading =
  | {
      readonly kind: "report";
      readonly report: InterfaceReport;
      readonly unknown?: UnknownFamilies;
      readonly gatewayFault?: GatewayFault;
    }
  | ({ readonly kind: "unavailable" } & WhyUnknown);

/** Families about which the report says nothing, although the other one was read. */
export type UnknownFamilies = Readonly<Partial<Record<Family, WhyUnknown>>>;

/**
 * The state of the gateways could not be read, or of one that is down the line is not known. `isUnknown`: nothing is
 * known about them, so that no interface can be preferred to another.
 */
export type GatewayFault = WhyUnknown & { readonly isUnknown?: true };

export type WhyUnknown = { readonly because: string; readonly todo: string };

export const unavailable = (because: string, todo: string): SourceReading => ({ kind: "unavailable", because, todo });

/** `follow` of a source that has no stream. */
export const neverPushes = async (): Promise<FollowEnd> => ({ kind: "not-offered" });

export type FollowEnd =
  /** This source has no stream. */
  | { readonly kind: "not-offered" }
  /** May be opened again; `retry` is how long the source wants us to wait, in milliseconds. */
  | { readonly kind: "ended"; readonly retry?: number | undefined };

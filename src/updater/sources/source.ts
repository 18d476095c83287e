import type { InterfaceReport } from "../../core/addresses/interface-report.ts";
import type { Mapping } from "../../process/settings/mapping.ts";
import type { HttpClient } from "../http/client.ts";
import type { Endpoint } from "../http/endpoint.ts";

/** What the rest of the program knows of an entry of `sources:`; its other settings are for its kind alone. */
export type SourceConfig = Partial<Endpoint> & { readonly name: string; readonly kind: string };

/** A kind of source: what its entry in the config may say, and how it is opened. `connect` is for those that are asked over HTTP. */
export type SourceKind<Config> = Mapping<Partial<Endpoint>> & {
  open(config: Config, connect: (endpoint: Endpoint) => Promise<HttpClient>): Promise<AddressSource>;
};

/** A place that knows addresses. `unavailable` is not an empty report: nothing is known, so nothing is done. */
export type AddressSource = {
  read(signal: AbortSignal): Promise<SourceReading>;
  /** Hands on every report that the source pushes, the first of them at once; returns when there will be no more. */
  follow(reading: (reading: SourceReading) => void, signal: AbortSignal): Promise<FollowEnd>;
  close(): void;
};

export type SourceReading =
  | { readonly kind: "report"; readonly report: InterfaceReport }
  | { readonly kind: "unavailable"; readonly because: string; readonly todo: string };

export type FollowEnd =
  /** This source does not push, and will not tomorrow. */
  | { readonly kind: "not-offered" }
  /** It may be tried again; `retry` is how long the source wants us to wait, in milliseconds. */
  | { readonly kind: "ended"; readonly retry?: number };

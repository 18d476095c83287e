import type { InterfaceReport } from "../../core/addresses/interface-report.ts";
import type { Mapping } from "../../process/settings/mapping.ts";
import type { HttpClient } from "../http/client.ts";
import type { Endpoint } from "../http/endpoint.ts";

/** What the rest of the program knows about an entry of `sources:`; its other settings are private to its kind. */
export type SourceConfig = Partial<Endpoint> & { readonly name: string; readonly kind: string };

/** A kind of source: the settings of its config entry, and how to open it. `connect` is for those that use HTTP. */
export type SourceKind<Config> = Mapping<Partial<Endpoint>> & {
  open(config: Config, connect: (endpoint: Endpoint) => Promise<HttpClient>): Promise<AddressSource>;
};

/** A place that knows addresses. `unavailable` is not an empty report: nothing is known, so nothing is done. */
export type AddressSource = {
  read(signal: AbortSignal): Promise<SourceReading>;
  /** Passes on every report that the source pushes, the first one immediately; returns when the stream ends. */
  follow(reading: (reading: SourceReading) => void, signal: AbortSignal): Promise<FollowEnd>;
  close(): void;
};

export type SourceReading =
  | { readonly kind: "report"; readonly report: InterfaceReport }
  | { readonly kind: "unavailable"; readonly because: string; readonly todo: string };

export type FollowEnd =
  /** This source has no stream. */
  | { readonly kind: "not-offered" }
  /** May be opened again; `retry` is how long the source wants us to wait, in milliseconds. */
  | { readonly kind: "ended"; readonly retry?: number };

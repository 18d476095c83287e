import type { InterfaceReport } from "../../core/addresses/interface-report.ts";

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

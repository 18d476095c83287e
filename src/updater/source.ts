import type { InterfaceReport } from "../core/interface-report.ts";

/** A place that knows addresses. `unavailable` is not an empty report: nothing is known, so nothing is done. */
export type AddressSource = {
  read(signal: AbortSignal): Promise<SourceReading>;
  close(): void;
};

export type SourceReading =
  | { readonly kind: "report"; readonly report: InterfaceReport }
  | { readonly kind: "unavailable"; readonly because: string; readonly todo: string };

import type { InterfaceReport } from "../../core/addresses/interface-report.ts";
import { onlyDevice } from "./source.ts";

/** The report of a source that knows only one connection: its addresses, as the source wrote them. */
export const reportConnection = (ipv4: readonly string[], ipv6: readonly string[]): InterfaceReport =>
  new Map([
    [
      onlyDevice,
      {
        device: onlyDevice,
        ipv4: ipv4.map((text) => ({ text })),
        ipv6: ipv6.map((text) => ({ text, linkLocal: false, deprecated: false, tentative: false, detached: false })),
      },
    ],
  ]);

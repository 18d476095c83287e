import type { WireInterface } from "../../src/contract/interfaces.ts";
import type { ReadableInterface } from "../../src/contract/interfaces-client.ts";
import { type Family, families } from "../../src/core/address.ts";
import { type Considered, chooseAddress } from "../../src/core/choose-address.ts";
import type { InterfaceReport } from "../../src/core/interface-report.ts";

export type WireReport = Readonly<Record<string, WireInterface>>;

/** One address of an interface, with what an updater would make of it. */
export type ShownAddress = {
  readonly family: Family;
  readonly text: string;
  readonly bits: number | undefined;
  readonly verdict: Considered["verdict"];
};

export type ShownInterface = {
  readonly device: string;
  readonly up: boolean;
  readonly wire: WireInterface;
  readonly addresses: readonly ShownAddress[];
};

/** Chosen by the rules that the updating client has. */
export function interfacesIn(wire: WireReport): readonly ShownInterface[] {
  const report = toReport(wire);
  return Object.entries(wire).map(([device, each]) => ({
    device,
    up: each.flags.includes("up"),
    wire: each,
    addresses: families.flatMap((family) =>
      chooseAddress(report, { device, family }).considered.map(({ text, verdict }, i) => ({
        ...{ family, text, verdict },
        bits: each[family][i]?.subnetbits,
      })),
    ),
  }));
}

function toReport(wire: Readonly<Record<string, ReadableInterface>>): InterfaceReport {
  return new Map(
    Object.entries(wire).map(([device, { flags, ipv4 = [], ipv6 = [] }]) => [
      device,
      {
        device,
        up: flags?.includes("up") ?? false,
        ipv4: ipv4.map(({ ipaddr }) => ({ text: ipaddr })),
        ipv6: ipv6.map((entry) => ({
          text: entry.ipaddr,
          linkLocal: entry["link-local"] ?? false,
          deprecated: entry.deprecated ?? false,
          tentative: entry.tentative ?? false,
          detached: entry.detached ?? false,
          ...(Number(entry.vltime) > 0 && { validLifetime: Number(entry.vltime) }),
        })),
      },
    ]),
  );
}

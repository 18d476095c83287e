import type { WireInterface } from "../../src/contract/interfaces.ts";
import { reportFromWire } from "../../src/contract/interfaces-client.ts";
import { type Family, families } from "../../src/core/addresses/address.ts";
import { type Considered, chooseAddress } from "../../src/core/addresses/choose-address.ts";

export type WireReport = Readonly<Record<string, WireInterface>>;

/** One address of an interface, and whether an updater would use it. */
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

/** Addresses are chosen by the updater's own rules. */
export function interfacesIn(wire: WireReport): readonly ShownInterface[] {
  const report = reportFromWire(wire);
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

import type { WireInterface } from "../../src/contract/interfaces.ts";
import { reportFromWire } from "../../src/contract/interfaces-client.ts";
import { type Family, families } from "../../src/core/addresses/address.ts";
import { type Considered, chooseAddress } from "../../src/core/addresses/choose-address.ts";
import { warningOf } from "./refusal-words.ts";

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
  readonly state: "up" | "no carrier" | "down";
  readonly isLoopback: boolean;
  /** Carries a default route, so an updater should read its addresses. */
  readonly isFollowed: boolean;
  readonly wire: WireInterface;
  readonly addresses: readonly ShownAddress[];
};

/**
 * Addresses are chosen by the updater's own rules. The interface that leads to the internet comes first: the one with a
 * default route, otherwise those with an address that can be published.
 */
export function interfacesIn(wire: WireReport, defaultRoutes: readonly string[] = []): readonly ShownInterface[] {
  const report = reportFromWire(wire);
  const shown = Object.entries(wire).map(([device, each]): ShownInterface => {
    const addresses = families.flatMap((family) =>
      chooseAddress(report, { device, family }).considered.map(({ text, verdict }, i) => ({
        family,
        text,
        verdict,
        bits: each[family][i]?.subnetbits,
      })),
    );
    const isLoopback = each.flags.includes("loopback");
    return {
      device,
      state: stateOf(each),
      isLoopback,
      isFollowed: defaultRoutes.includes(device),
      wire: each,
      addresses,
    };
  });
  return shown.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/**
 * Of each family, the address that an updater would publish from this machine; the interfaces are in the order of use.
 */
export const publishedFrom = (interfaces: readonly ShownInterface[]) =>
  families.flatMap((family) => {
    const found = interfaces
      .filter(({ isLoopback }) => !isLoopback)
      .flatMap(({ device, addresses }) => addresses.map((address) => ({ device, ...address })))
      .find((address) => address.family === family && address.verdict === "taken");
    return found ? [found] : [];
  });

/** Nothing is connected to it, and nothing is configured on it. */
export const isUnused = ({ state, isFollowed, addresses }: ShownInterface): boolean =>
  state !== "up" && !isFollowed && addresses.length === 0;

function stateOf({ flags, status }: WireInterface): ShownInterface["state"] {
  if (!flags.includes("up")) return "down";
  return status === "no carrier" ? "no carrier" : "up";
}

function rankOf({ isFollowed, isLoopback, state, addresses }: ShownInterface): number {
  if (isFollowed) return 0;
  if (isLoopback) return 4;
  if (addresses.some(({ text, verdict }) => verdict === "taken" && warningOf(text) === undefined)) return 1;
  return state === "up" ? 2 : 3;
}

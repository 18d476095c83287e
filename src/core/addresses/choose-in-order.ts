import { type AddressPolicy, type Choice, type Choosing, type Considered, chooseAddress } from "./choose-address.ts";
import type { InterfaceReport } from "./interface-report.ts";

export type OrderedPolicy = Omit<AddressPolicy, "device"> & {
  /** In order of preference: the first that is up and has a fit address is taken. */
  readonly devices: readonly string[];
};

export type OrderedChoosing = {
  readonly choice: Choice;
  /** The interface that the choice speaks about: the taken one, or the first when none was. */
  readonly device: string;
  readonly considered: readonly Considered[];
  /** Those before the taken one, and why each was passed over. */
  readonly passedOver: readonly PassedOver[];
};

export type PassedOver = {
  readonly device: string;
  readonly because: "not-there" | "down" | "no-fit-address";
  readonly considered: readonly Considered[];
};

export function chooseInOrder(report: InterfaceReport, { devices, ...policy }: OrderedPolicy): OrderedChoosing {
  const [first = "", ...others] = devices;
  // Alone it is taken as it is, up or not: spec 4.7 asks for its address and for nothing else.
  if (others.length === 0)
    return { ...chooseAddress(report, { ...policy, device: first }), device: first, passedOver: [] };
  const passedOver: PassedOver[] = [];
  const tried: Choosing[] = [];
  for (const device of devices) {
    const choosing = chooseAddress(report, { ...policy, device });
    tried.push(choosing);
    const because = reasonAgainst(choosing.choice, report.get(device)?.up);
    if (!because) return { ...choosing, device, passedOver };
    passedOver.push({ device, because, considered: choosing.considered });
  }
  // Knowing that one of them has nothing is more than knowing nothing about any.
  const index = Math.max(
    0,
    passedOver.findIndex(({ because }) => because !== "not-there"),
  );
  const { choice, considered } = tried[index] ?? chooseAddress(report, { ...policy, device: first });
  const none: Choice = choice.kind === "address" ? { kind: "none", because: "no-fit-address" } : choice;
  return { choice: none, device: passedOver[index]?.device ?? first, considered, passedOver };
}

function reasonAgainst(choice: Choice, up: boolean | undefined): PassedOver["because"] | undefined {
  if (choice.kind === "unknown-interface") return "not-there";
  if (up === false) return "down";
  return choice.kind === "address" ? undefined : "no-fit-address";
}

import type { Address, Family } from "./address.ts";
import type { Choice } from "./choose-address.ts";
import type { Instant } from "./instant.ts";
import { gate, type WarnedScope } from "./publish-gate.ts";

/** What to do about one name and one family; spec 4.7. */
export type Plan =
  | { readonly kind: "nothing"; readonly because: "same-as-stored" | "no-address" | "unknown" | "not-publishable" }
  | { readonly kind: "wait"; readonly until: Instant; readonly address: Address }
  | { readonly kind: "replace"; readonly address: Address; readonly warning?: WarnedScope };

export type UpdateFacts = {
  readonly family: Family;
  readonly choice: Choice;
  /** The address of the last successful write, as canonical text. */
  readonly stored: string | undefined;
  /** From the record service's Retry-After, or from our own back-off after a failed write. */
  readonly notBefore: Instant | undefined;
  readonly now: Instant;
};

export function planUpdate({ family, choice, stored, notBefore, now }: UpdateFacts): Plan {
  switch (choice.kind) {
    case "unknown":
    case "unknown-interface":
      return { kind: "nothing", because: "unknown" };
    case "none":
      return { kind: "nothing", because: "no-address" };
    case "address":
      break;
    default:
      return choice satisfies never;
  }
  const { address } = choice;
  const verdict = gate(address, family);
  if (verdict.kind === "refuse") return { kind: "nothing", because: "not-publishable" };
  if (address.text === stored) return { kind: "nothing", because: "same-as-stored" };
  if (notBefore !== undefined && now < notBefore) return { kind: "wait", until: notBefore, address };
  return verdict.kind === "warn" ? { kind: "replace", address, warning: verdict.scope } : { kind: "replace", address };
}

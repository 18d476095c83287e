import type { Attention } from "../../../src/contract/overview.ts";
import { counted } from "../../shared/counted.ts";

export type Unpublished = Extract<Attention, { readonly kind: "not-published" }>;

/** What is wrong with a zone at its provider, as sentences: the worst first. */
export function unpublishedInWords({ service, refused, drifted, waiting, trouble }: Unpublished): string {
  const sets = (count: number): string => `${counted(count, "record set")} ${count === 1 ? "is" : "are"}`;
  return [
    trouble && `changes cannot be sent to ${service}: ${trouble.text}.`,
    drifted > 0 && `${counted(drifted, "record set")} ${drifted === 1 ? "was" : "were"} changed at ${service}.`,
    refused > 0 && `${sets(refused)} refused by ${service}.`,
    waiting > 0 && `${sets(waiting)} not yet at ${service}.`,
  ]
    .filter((sentence) => typeof sentence === "string")
    .join(" ");
}

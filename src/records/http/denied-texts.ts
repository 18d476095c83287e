import type { Refusal } from "../../core/may.ts";

/** Why a token does not open something, in the words of every face. */
export const deniedTexts: Readonly<Record<Refusal, string>> = {
  expired: "this token has expired: make a new one",
  "network-not-in-scope": "this token may not be used from this address",
  "zone-not-in-scope": "this token is not for this zone",
  "set-not-in-scope": "this token is not for this name and type",
  "account-not-in-scope": "this token is not for the whole account",
  "read-only": "this token may read but not write",
};

import type { Refusal } from "../../../core/may.ts";

/** Why a token was refused. All APIs use these texts. */
export const deniedTexts: Readonly<Record<Refusal, string>> = {
  expired: "this token has expired; create a new one",
  "network-not-in-scope": "this token may not be used from this address",
  "zone-not-in-scope": "this token does not cover this zone",
  "set-not-in-scope": "this token does not cover this name and type",
  "account-not-in-scope": "this token does not cover the whole account",
  "read-only": "this token is read-only",
};

import { base64OrHyphen } from "../fields/bytes.ts";
import { plainType, type TypeDefinition } from "../fields/field.ts";
import { u8, u16, u32 } from "../fields/number.ts";
import { characterString, characterStrings, textToEnd } from "../fields/text.ts";

const texts = (example: string) => plainType(example, ["texts", characterStrings]);

/** Types that are texts, or point to one. */
export const textTypes = {
  SPF: texts('"v=spf1 mx -all"'),
  AVC: texts('"app-name:WOLFGANG|app-class:OAM"'),
  RESINFO: texts('"qnamemin" "exterr=15-17"'),
  WALLET: texts('"ETH" "0x0123456789"'),
  CLA: texts('"TCP-v4-v6"'),
  /** RFC 7553 section 4.4: the target has at least one byte. */
  URI: {
    ...plainType('10 1 "https://www.example.org/"', ["priority", u16], ["weight", u16], ["target", textToEnd]),
    check: ({ target }) => (target === "" ? "the target is empty" : undefined),
  },
  DOA: plainType(
    '0 1 2 "text/plain" aGVsbG8=',
    ["enterprise", u32],
    ["type", u32],
    ["location", u8],
    ["mediaType", characterString],
    ["data", base64OrHyphen],
  ),
} satisfies Record<string, TypeDefinition>;

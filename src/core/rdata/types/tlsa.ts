import { fieldRows, type TypeDefinition } from "../fields/field.ts";
import { hexToEnd } from "../fields/hex.ts";
import { u8 } from "../fields/number.ts";

/** RFC 6698 section 2. */
export const tlsa = {
  fields: fieldRows(["usage", u8], ["selector", u8], ["matchingType", u8], ["data", hexToEnd]),
  todo:
    "a TLSA record takes usage, selector, matching type and hexadecimal data, such as " +
    "3 1 1 0b9fa5a59eed715c26c1020c711b4f6ec42d58b0015e14337a39dad301c5afc3",
} satisfies TypeDefinition;

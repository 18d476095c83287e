import { fieldRows, type TypeDefinition } from "../fields/field.ts";
import { u8 } from "../fields/number.ts";
import { tag, textToEnd } from "../fields/text.ts";

/** RFC 8659 section 4. */
export const caa = {
  fields: fieldRows(["flags", u8], ["tag", tag], ["value", textToEnd]),
  todo: 'a CAA record takes flags, a tag and a text, such as 0 issue "ca.example.org"',
} satisfies TypeDefinition;

/** IANA's registry of certification authority restriction properties, without those that are only reserved. */
export const caaTags: readonly string[] = [
  "issue",
  "issuewild",
  "iodef",
  "issuemail",
  "issuevmc",
  "contactemail",
  "contactphone",
];

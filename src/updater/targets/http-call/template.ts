import { recordTypeOf } from "../../../core/addresses/address.ts";
import { absoluteName } from "../../../core/names/name.ts";
import type { ReplaceRequest } from "../target.ts";

/** The placeholders of every template: `{name}`. A secret has the name that its owner gives it. */
export const orderPlaceholders = ["name", "label", "zone", "address", "family", "type", "ipv4", "ipv6", "addresses"];

const placeholder = /\{([A-Za-z][A-Za-z0-9_]*)\}/g;

export const placeholdersIn = (template: string): readonly string[] =>
  [...template.matchAll(placeholder)].map(([, name = ""]) => name);

/** What the placeholders stand for. An absent one has no value for this request. */
export type Values = Readonly<Record<string, string | undefined>>;

/** `beside` is sent only to a service that takes both addresses in one call. */
export function valuesOf(request: ReplaceRequest, together: boolean): Values {
  const { zone, name, family, value } = request;
  const other = together ? request.otherAddress : undefined;
  const [ipv4, ipv6] = family === "ipv4" ? [value, other] : [other, value];
  return {
    name: absoluteName(name, zone),
    label: name,
    zone,
    address: value,
    family,
    type: recordTypeOf(family),
    ipv4,
    ipv6,
    addresses: [ipv4, ipv6].filter((each) => each !== undefined).join(","),
  };
}

export const fill = (template: string, values: Values, encode = (text: string) => text): string =>
  template.replaceAll(placeholder, (written, name: string) => (name in values ? encode(values[name] ?? "") : written));

/** Path and query, or a form. A parameter that contains an absent value is left out. */
export function fillQuery(template: string, values: Values): string {
  const start = template.indexOf("?") + 1;
  return fill(template.slice(0, start), values, encoded) + fillForm(template.slice(start), values);
}

export const fillForm = (template: string, values: Values): string =>
  template
    .split("&")
    .filter((part) => placeholdersIn(part).every((name) => !(name in values) || values[name] !== undefined))
    .map((part) => fill(part, values, encoded))
    .join("&");

/** Addresses stay readable: a colon and a comma may stand in a path and in a query (RFC 3986, section 3.3). */
const encoded = (text: string) => encodeURIComponent(text).replaceAll("%3A", ":").replaceAll("%2C", ",");

/** As the inside of a JSON string. */
export const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

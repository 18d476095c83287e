export type Credentials =
  | { readonly kind: "missing" }
  | { readonly kind: "unusable" }
  | { readonly kind: "given"; readonly key: string; readonly secret: string };

/**
 * As the original reads it: the word after the first blank is base64 of `key:secret`. The scheme is not looked at, a second
 * blank leaves nothing to decode, and whatever follows a second colon is dropped.
 */
export function readCredentials(header: string | undefined): Credentials {
  if (header === undefined) return { kind: "missing" };
  const encoded = header.split(" ")[1] ?? "";
  const [key, secret] = Buffer.from(encoded, "base64").toString("utf8").split(":");
  return key === undefined || secret === undefined ? { kind: "unusable" } : { kind: "given", key, secret };
}

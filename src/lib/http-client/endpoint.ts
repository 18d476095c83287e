import type { Family } from "../../core/addresses/address.ts";

/** A service to talk to, and how its certificate is checked. */
export type Endpoint = {
  readonly url: URL;
  readonly trust: HttpTrust;
  readonly serverName?: string;
  /** Connects only over this family, so that the other side sees an address of it. */
  readonly family?: Family;
  /** Milliseconds that one request may take. */
  readonly timeout?: number;
};

/** Like `url.origin`, which is "null" for a scheme that browsers do not know. */
export const originOf = ({ protocol, host }: URL): string => `${protocol}//${host}`;

/** Why the other side's certificate is trusted. */
export type HttpTrust =
  | { readonly kind: "system" }
  /** Only these certificates, not even the well-known authorities. */
  | { readonly kind: "ca"; readonly pem: string }
  /** Exactly this certificate, regardless of its issuer and name: `AB:CD:…`. */
  | { readonly kind: "fingerprint"; readonly sha256: string }
  | { readonly kind: "insecure" };

export type HttpLimits = { readonly timeoutMs: number; readonly maxBytes: number };

/** A service that is talked to, and how its answer is believed. */
export type Endpoint = {
  readonly url: URL;
  readonly trust: HttpTrust;
  readonly serverName?: string;
  /** Milliseconds that one request may take. */
  readonly timeout?: number;
};

/** Why the other side's certificate is believed. */
export type HttpTrust =
  | { readonly kind: "system" }
  /** These certificates and no other, not even the well-known ones. */
  | { readonly kind: "ca"; readonly pem: string }
  /** This very certificate, whoever signed it and whatever name it carries: `AB:CD:…`. */
  | { readonly kind: "fingerprint"; readonly sha256: string }
  | { readonly kind: "insecure" };

export type HttpLimits = { readonly timeoutMs: number; readonly maxBytes: number };

import type { HttpTrust } from "../../lib/http-client/endpoint.ts";
import type { OidcRule } from "./rules.ts";

export type { OidcRule };

/** The identity provider, and what its users may do here. */
export type OidcSettings = {
  /** On the sign-in button. */
  readonly name: string;
  readonly issuer: URL;
  readonly client: string;
  readonly secret: () => string;
  /** Those that the provider does not list are left out. */
  readonly scopes: readonly string[];
  /** The first that matches counts. */
  readonly allow: readonly OidcRule[];
  readonly trust: HttpTrust;
  /** Milliseconds per request. */
  readonly timeout?: number | undefined;
};

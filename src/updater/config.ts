import type { Family } from "../core/address.ts";
import type { HttpTrust } from "./http-client.ts";

/** A config file after every check: files are read, references hold, nothing is left to default. */
export type UpdaterConfig = {
  readonly file: string;
  readonly stateFile: string;
  /** Milliseconds. */
  readonly interval: number;
  readonly sources: ReadonlyMap<string, SourceConfig>;
  readonly targets: ReadonlyMap<string, TargetConfig>;
  readonly names: readonly NameConfig[];
  /** Said at every start: what works but is not safe. */
  readonly warnings: readonly string[];
};

/** A function, so that a config that is printed or logged by mistake shows no secret. */
export type Secret = () => string;

export type Endpoint = {
  readonly url: URL;
  readonly trust: HttpTrust;
  readonly serverName?: string;
};

export type SourceConfig = Endpoint & {
  readonly name: string;
  readonly kind: string;
  readonly key: Secret;
  readonly secret: Secret;
};

export type TargetConfig = Endpoint & {
  readonly name: string;
  readonly api: string;
  readonly token: Secret;
};

export type NameConfig = {
  /** Relative to the zone; `@` for the zone itself. */
  readonly name: string;
  readonly zone: string;
  readonly source: string;
  readonly target: string;
  readonly ttl?: number;
  readonly families: ReadonlyMap<Family, FamilyConfig>;
};

export type FamilyConfig = { readonly device: string; readonly recordId?: string };

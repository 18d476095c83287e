import type { Family } from "../../core/addresses/address.ts";
import type { Endpoint } from "../../lib/http-client/endpoint.ts";
import type { Setting } from "../../lib/settings/setting.ts";
import type { Secret } from "./secret.ts";

/**
 * What a config has to know about the kinds of sources and targets; they are registered from above
 * (`updater/read-config.ts`).
 */
export type ConfigKinds = {
  readonly sources: KindsOf<Omit<SourceConfig, "name">, SourceFacts>;
  readonly targets: KindsOf<Omit<TargetConfig, "name">, TargetFacts>;
};

type KindsOf<Config, Facts> = {
  /** An entry of `sources:` or `targets:`. */
  readonly settings: Setting<Config>;
  readonly facts: Readonly<Record<string, Facts>>;
  /** The kind of an entry that names none. */
  readonly usual: string;
};

type SourceFacts = {
  /** The device name in its reports, if it knows only one connection. */
  readonly only?: string;
  /** The families that it can know; both if undefined. */
  readonly families?: readonly Family[];
};

type TargetFacts = {
  readonly can: {
    readonly create: boolean;
    readonly ttl: boolean;
    readonly lowestTtl?: number;
    readonly ipv6?: false;
    readonly remove?: true;
  };
};

/** What the rest of the program knows about an entry of `sources:`; its other settings are private to its kind. */
export type SourceConfig = Partial<Endpoint> & {
  readonly name: string;
  readonly kind: string;
  /** Milliseconds between two polls, if it has an interval of its own. */
  readonly every?: number;
};

/** What the rest of the program knows about an entry of `targets:`; its other settings are private to its API. */
export type TargetConfig = Partial<Endpoint> & {
  /** A server without a web address is `dns://host:port`. The state file's keys contain it. */
  readonly url: URL;
  readonly name: string;
  readonly api: string;
  /** Targets with the same service and the same token share a quota. */
  readonly token?: Secret;
  /** Differs when the credentials differ: then a wait that the service asked for is over. */
  readonly account?: string;
  /** The options with which `moor record list` and others use this target; absent if they do so by default. */
  readonly flags?: string;
  /** The command to type instead of `moor`, for example in a clone. */
  readonly program?: string;
};

/** What names can refer to, including entries with faults: those are reported at the entry, not again at each name. */
export type ConfigReferences = {
  /** With the kind of each. */
  readonly sources: ReadonlyMap<string, string>;
  /** With the API of each. */
  readonly targets: ReadonlyMap<string, string>;
  readonly kinds: ConfigKinds;
};

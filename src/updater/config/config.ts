import type { Family } from "../../core/addresses/address.ts";
import type { HostPart } from "../../core/addresses/host-part.ts";
import type { UpdateRules } from "../../core/updates/plan-update.ts";
import type { Endpoint } from "../http/endpoint.ts";

/** A config file after every check: files are read, references hold, nothing is left to default. */
export type UpdaterConfig = {
  readonly file: string;
  readonly stateFile: string;
  /** Milliseconds. */
  readonly interval: number;
  readonly sources: ReadonlyMap<string, SourceConfig>;
  readonly targets: ReadonlyMap<string, TargetConfig>;
  readonly names: readonly NameConfig[];
  /** File, line and column of `names:`, where it is there. */
  readonly namesAt?: string;
  readonly historyFile: string;
  /** Where this process answers about itself; nowhere without it. */
  readonly control?: ControlConfig;
  readonly notify: readonly NotifyConfig[];
  readonly heartbeats: readonly HeartbeatConfig[];
  /** The config itself and every file it names, each as it looked before it was read: when one changes, all are read again. */
  readonly files: ReadonlyMap<string, string>;
  /** Said at every start: what works but is not safe. */
  readonly warnings: readonly string[];
};

/** A function, so that a config that is printed or logged by mistake shows no secret. */
export type Secret = () => string;

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
  /** With which `moor list` and the like ask this one too; left out where they do so by themselves. */
  readonly flags?: string;
  /** What is typed for moor where that does not do, as in a clone. */
  readonly program?: string;
};

export type NameConfig = {
  /** Relative to the zone; `@` for the zone itself. */
  readonly name: string;
  readonly zone: string;
  readonly target: string;
  readonly ttl?: number;
  /** Make the record where there is none yet; only some APIs can. */
  readonly create: boolean;
  readonly rules: NameRules;
  readonly families: ReadonlyMap<Family, FamilyConfig>;
};

export type FamilyConfig = {
  readonly source: string;
  /** In order of preference. */
  readonly devices: readonly string[];
  readonly recordId?: string;
  readonly vhid?: string;
  readonly host?: HostPart;
};

export type NameRules = UpdateRules & {
  /** Milliseconds between two looks at the record itself. */
  readonly verify?: number;
  /** After a write, ask these DNS servers (those of the zone when there are none) whether they answer with it. */
  readonly confirm?: { readonly servers: readonly string[] };
  /** Act only while the firewall is the master of this VHID. */
  readonly carpMaster?: string;
};

export type ControlConfig = { readonly host: string; readonly port: number; readonly token: Secret };

export type NotifyConfig =
  | { readonly kind: "webhook"; readonly endpoint: Endpoint; readonly token?: Secret }
  | { readonly kind: "ntfy"; readonly endpoint: Endpoint; readonly token?: Secret }
  | MailConfig;

export type MailConfig = {
  readonly kind: "mail";
  /** `smtp:` (with STARTTLS where it is offered) or `smtps:`. */
  readonly server: URL;
  readonly user?: string;
  readonly password?: Secret;
  readonly from: string;
  readonly to: readonly string[];
};

export type HeartbeatConfig = {
  readonly kind: "healthchecks" | "uptime-kuma";
  readonly endpoint: Endpoint;
  /** Milliseconds. */
  readonly every: number;
};

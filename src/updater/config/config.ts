import { mapping, usually } from "../../lib/settings/mapping.ts";
import { duration, named, path, type SettingPlace } from "../../lib/settings/setting.ts";
import { hostsSettings } from "./hosts.ts";
import type { ConfigReferences, SourceConfig, TargetConfig } from "./kinds.ts";
import { entrySettings, type NameConfig, namesSettings } from "./names.ts";
import {
  type ControlConfig,
  controlSettings,
  type HeartbeatConfig,
  heartbeatSettings,
  type NotifyConfig,
  notifySettings,
  type RunConfig,
  runSettings,
} from "./outlets.ts";
import { checkWhen, ruleFields } from "./rules.ts";

/**
 * Every setting of the config file. The checks (`read.ts`) and the types are derived from it.
 * `scripts/describe-config.ts` generates the schema for editors and the reference page from it.
 */
export function configSettings(
  references: ConfigReferences,
  checkKept: (named: KeptNames, place: SettingPlace) => void,
) {
  const entry = entrySettings(references);
  return mapping(
    {
      state: path("The file that stores the last written addresses. Default: next to the config.", "moor-state.json"),
      history: path(
        "The file that stores the last thousand updates and failures, for `moor history`. Default: next to the config.",
        "moor-history.jsonl",
      ),
      interval: usually(duration("How often to poll a source that does not push its changes.", "1m"), "30s"),
      sources: named(
        references.kinds.sources.settings,
        (name) => `source ${name}`,
        "Where to read addresses. You choose the names.",
      ),
      targets: named(
        references.kinds.targets.settings,
        (name) => `target ${name}`,
        "Where to write records. You choose the names.",
      ),
      names: namesSettings(entry),
      hosts: hostsSettings(entry),
      control: controlSettings,
      notify: notifySettings,
      run: runSettings,
      heartbeat: heartbeatSettings,
      ...ruleFields,
    },
    {
      title: "moor update",
      description: "The config file of moor's updater. `moor update --check` lists every fault with its line.",
      of: "",
      schema: { required: ["sources", "targets"], anyOf: [{ required: ["names"] }, { required: ["hosts"] }] },
      check(right, place) {
        checkWhen(right, place);
        checkKept(right, place);
      },
    },
  );
}

type KeptNames = { readonly state?: string; readonly history?: string };

/** A config file after all checks: files are read, references are resolved, defaults are filled in. */
export type UpdaterConfig = {
  readonly file: string;
  readonly stateFile: string;
  /** Milliseconds. */
  readonly interval: number;
  readonly sources: ReadonlyMap<string, SourceConfig>;
  readonly targets: ReadonlyMap<string, TargetConfig>;
  /** Those of `names:` and of `hosts:`. */
  readonly names: readonly NameConfig[];
  /** File, line and column of `names:`, if it is set. */
  readonly namesAt?: string;
  readonly historyFile: string;
  /** Where the status page is served; absent if there is none. */
  readonly control?: ControlConfig | undefined;
  readonly notify: readonly NotifyConfig[];
  /** Programs to start when something happens. */
  readonly run: readonly RunConfig[];
  readonly heartbeats: readonly HeartbeatConfig[];
  /**
   * The config and every file it names, each with its `fingerprintOf` from before it was read. When one changes, all
   * are read again.
   */
  readonly files: ReadonlyMap<string, string>;
  /** Shown at every start: what works but is not safe. */
  readonly warnings: readonly string[];
};

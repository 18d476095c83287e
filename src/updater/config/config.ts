import { mapping, usually } from "../../process/settings/mapping.ts";
import { duration, named, type Place, path } from "../../process/settings/setting.ts";
import type { SourceConfig } from "../sources/source.ts";
import { sourceSettings } from "../sources/sources.ts";
import type { TargetConfig } from "../targets/target.ts";
import { targetSettings } from "../targets/targets.ts";
import { type Known, type NameConfig, namesSettings } from "./names.ts";
import {
  type ControlConfig,
  controlSettings,
  type HeartbeatConfig,
  heartbeatSettings,
  type NotifyConfig,
  notifySettings,
} from "./outlets.ts";
import { checkWhen, ruleFields } from "./rules.ts";

/**
 * All that a config file can say. From it come the checks (`read.ts`), the types, and by `scripts/describe-config.ts` the schema
 * for editors and the reference page.
 */
export const configSettings = (known: Known, checkKept: (named: KeptNames, place: Place) => void) =>
  mapping(
    {
      state: path("The file that stores the last written addresses. Default: next to the config.", "moor-state.json"),
      history: path(
        "The file that stores the last thousand decisions, for `moor history`. Default: next to the config.",
        "moor-history.jsonl",
      ),
      interval: usually(duration("How often to poll a source that does not push its changes.", "1m"), "30s"),
      sources: named(sourceSettings, (name) => `source ${name}`, "Where to read addresses. You choose the names."),
      targets: named(targetSettings, (name) => `target ${name}`, "Where to write records. You choose the names."),
      names: namesSettings(known),
      control: controlSettings,
      notify: notifySettings,
      heartbeat: heartbeatSettings,
      ...ruleFields,
    },
    {
      title: "moor update",
      description: "The config file of moor's updating client. `moor update --check` lists every fault with its line.",
      of: "",
      schema: { required: ["sources", "targets", "names"] },
      check(right, place) {
        checkWhen(right, place);
        checkKept(right, place);
      },
    },
  );

type KeptNames = { readonly state?: string; readonly history?: string };

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

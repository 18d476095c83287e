import type { Result } from "../core/result.ts";
import type { ReadingContext } from "../lib/settings/setting.ts";
import type { UpdaterConfig } from "./config/config.ts";
import type { ConfigKinds } from "./config/kinds.ts";
import { readConfigOf } from "./config/read.ts";
import { sourceKinds, sourceSettings, usualKind } from "./sources/sources.ts";
import { targetKinds, targetSettings, usualApi } from "./targets/targets.ts";

/** Every kind of source and target that a config may name. */
export const configKinds: ConfigKinds = {
  sources: { settings: sourceSettings, facts: sourceKinds, usual: usualKind },
  targets: { settings: targetSettings, facts: targetKinds, usual: usualApi },
};

/** Reads a config and all files it names. `instead`: what the file would contain, to check it before it is written. */
export const readConfig = (
  file: string,
  env: ReadingContext["env"],
  cwd: string,
  instead?: string,
): Result<UpdaterConfig> => readConfigOf(configKinds, file, env, cwd, instead);

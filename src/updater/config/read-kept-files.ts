import type { UpdaterConfig } from "./config.ts";
import type { Surroundings } from "./read-secret.ts";
import type { Fields, YamlReader } from "./yaml-reader.ts";

type KeptFiles = Pick<UpdaterConfig, "stateFile" | "historyFile">;

/** The files that the updater writes: `state:` and `history:`, beside the config where they are not named. */
export function readKeptFiles(
  yaml: YamlReader,
  fields: Fields<"state" | "history">,
  base: string,
  { resolve }: Pick<Surroundings, "resolve">,
  filesRead: UpdaterConfig["files"],
): KeptFiles {
  const read = (key: "state" | "history", usual: string) => {
    const at = fields.get(key);
    const path = resolve((at && yaml.text(at, key)) ?? usual);
    if (at && filesRead.has(path)) {
      const message = `${key} is a file that this config reads, and would be overwritten`;
      yaml.fault(at, { code: "kept-file-taken", message, todo });
    }
    return path;
  };
  const stateFile = read("state", `${base}-state.json`);
  const historyFile = read("history", `${base}-history.jsonl`);
  if (stateFile === historyFile) {
    // Beside the config each has a name of its own: one of them was named.
    const [key, other] = fields.get("history") ? (["history", "state"] as const) : (["state", "history"] as const);
    const message = `${key} is the file of the ${other} too`;
    yaml.fault(fields.get(key) ?? fields.self, { code: "kept-file-taken", message, todo });
  }
  return { stateFile, historyFile };
}

const todo = "name another file, or leave it out: then it is made beside the config";

import { type Stats, statSync } from "node:fs";
import type { UpdaterConfig } from "./config.ts";
import { linkTarget } from "./link-target.ts";
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
  const targetsRead = new Set([...filesRead.keys()].map(linkTarget));
  const read = (key: "state" | "history", usual: string) => {
    const at = fields.get(key);
    const path = resolve((at && yaml.text(at, key)) ?? usual);
    const kind = oddKind(path);
    if (kind) {
      const message = `${key} is ${kind}: ${path}`;
      yaml.fault(at ?? fields.self, { code: "kept-file-odd", message, todo });
    }
    if (at && targetsRead.has(linkTarget(path))) {
      const message = `${key} is a file that this config reads, and would be overwritten`;
      yaml.fault(at, { code: "kept-file-taken", message, todo });
    }
    return path;
  };
  const stateFile = read("state", `${base}-state.json`);
  const historyFile = read("history", `${base}-history.jsonl`);
  if (linkTarget(stateFile) === linkTarget(historyFile)) {
    // Beside the config each has a name of its own: one of them was named.
    const [key, other] = fields.get("history") ? (["history", "state"] as const) : (["state", "history"] as const);
    const message = `${key} is the file of the ${other} too`;
    yaml.fault(fields.get(key) ?? fields.self, { code: "kept-file-taken", message, todo });
  }
  return { stateFile, historyFile };
}

const todo = "name another file, or leave it out: then it is made beside the config";

/** What is there instead of a plain file. Reading a pipe would wait for ever, and writing would put a file in its place. */
function oddKind(path: string): string | undefined {
  let found: Stats | undefined;
  try {
    found = statSync(path, { throwIfNoEntry: false });
  } catch {
    // It is said when the file is opened why it cannot be looked at.
    return undefined;
  }
  if (!found || found.isFile()) return undefined;
  if (found.isDirectory()) return "a folder";
  if (found.isFIFO()) return "a pipe";
  return found.isSocket() ? "a socket" : "a device";
}

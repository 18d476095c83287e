import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { init } from "../../../src/cli/init/init.ts";
import { openTerminal } from "./terminal.ts";

/** What `moor init --from` made of a config. */
export type ImportResult = {
  readonly code: number;
  /** The new config, without what every config has; undefined if none was written. */
  readonly config: Readonly<Record<string, unknown>> | undefined;
  /** By path, without the line break at their ends. */
  readonly secrets: Readonly<Record<string, string>>;
  /** `LINE: what is missing`. */
  readonly lost: readonly string[];
  /** `LINE: what was assumed`. */
  readonly assumed: readonly string[];
  readonly said: string;
};

/** Imports a config in a separate folder, with the other files that it names. */
export async function importConfig(text: string, files: Readonly<Record<string, string>> = {}): Promise<ImportResult> {
  const folder = mkdtempSync(join(tmpdir(), "moor-import-"));
  try {
    for (const [name, content] of Object.entries({ ...files, old: text })) writeFileSync(join(folder, name), content);
    const { io, printed } = openTerminal(folder);
    const code = await init({ from: "old", config: "new/moor.yaml", control: "none", yes: true }, io);
    if (readFileSync(join(folder, "old"), "utf8") !== text) throw new Error("the old config was changed");
    const said = printed.out + printed.err;
    const notes = (title: string) =>
      (said.split(`${title}\n`)[1]?.split("\n\n")[0] ?? "").matchAll(/^ {2}old:(\d+: .*)$/gm).toArray();
    const listed = (title: string) => notes(title).map(([, note = ""]) => note);
    return {
      ...{ code, said, ...(code === 0 ? written(join(folder, "new")) : { config: undefined, secrets: {} }) },
      ...{ lost: listed("Not carried over:"), assumed: listed("Assumed, or different in moor; please check:") },
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function written(folder: string): Pick<ImportResult, "config" | "secrets"> {
  const {
    changesPerHour: _,
    verify: __,
    ...config
  } = parse(readFileSync(join(folder, "moor.yaml"), "utf8")) as Record<string, unknown>;
  const files = readdirSync(folder).includes("secrets") ? readdirSync(join(folder, "secrets")) : [];
  const secrets = files.map((file) => [`secrets/${file}`, readFileSync(join(folder, "secrets", file), "utf8").trim()]);
  return { config, secrets: Object.fromEntries(secrets) as Record<string, string> };
}

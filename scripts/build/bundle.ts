import { join } from "node:path";
import {
  type CodeSplittingNameFunction,
  type OutputBundle,
  type OutputOptions,
  type RolldownOptions,
  type RolldownOutput,
  rolldown,
} from "rolldown";
import { builtinModules } from "./builtin-modules.ts";

/** Optional dependencies of libraries, which work without them. */
const notInstalled = ["pg-native", "pg-cloudflare"];

export type Built = Pick<RolldownOutput, "output">;

/**
 * Bundles the program with its libraries: `moor.js`, and next to it the parts that commands load on first use. With one
 * file, V8 would read all of it at every start and keep its text: `moor update` takes 62 MB in parts and 95 MB in one
 * file. Each thread is a single file, because the single executable starts threads from their text.
 */
export async function bundle(repository: string, folder: string, commit: string): Promise<readonly Built[]> {
  const options: RolldownOptions = {
    cwd: repository,
    platform: "node",
    external: notInstalled,
    plugins: [builtinModules(), { name: "latin1", generateBundle: (_options, files) => escapeBeyondLatin1(files) }],
    treeshake: { propertyReadSideEffects: false },
    transform: { define: { "process.env.MOOR_COMMIT": JSON.stringify(commit) } },
    onLog: (level, log, handler) => handler(level === "warn" ? "error" : level, log),
  };
  const write = async (entry: string, output: OutputOptions) => {
    const build = await rolldown({ ...options, input: join(repository, "bin", `${entry}.ts`) });
    // Names and lines stay as they are, so that a stack trace can be read without the source map.
    const written = await build.write({ ...output, sourcemap: true, comments: false });
    await build.close();
    return written;
  };
  return [
    await write("moor", {
      ...{ dir: folder, format: "esm", entryFileNames: "moor.js", chunkFileNames: "[name]-[hash].js" },
      codeSplitting: { groups: [{ debugName: "program", name: neededByAll(join(repository, "src/cli/program.ts")) }] },
    }),
    await write("single-file", { file: join(folder, "single-file.js"), format: "esm", codeSplitting: false }),
    await write("dns-worker", { file: join(folder, "dns-worker.cjs"), format: "cjs", codeSplitting: false }),
  ];
}

/** Everything that all commands load is one part, not thirty: each file costs about a millisecond. */
function neededByAll(program: string): CodeSplittingNameFunction {
  let needed: Set<string> | undefined;
  return (module, context) => {
    if (needed === undefined) {
      needed = new Set([program]);
      // Iterating over a set includes what is added meanwhile.
      for (const each of needed)
        for (const imported of context.getModuleInfo(each)?.importedIds ?? []) needed.add(imported);
    }
    return needed.has(module) ? "program" : null;
  };
}

/** V8 keeps a text with one byte per character if it can, and with two if a single character needs it. */
function escapeBeyondLatin1(files: OutputBundle): void {
  for (const file of Object.values(files)) {
    if (file.type !== "chunk") continue;
    file.code = file.code.replaceAll(
      /[\u0100-\uffff]/g,
      (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  }
}

/** The source files in a bundle. */
export const modulesOf = ({ output }: Built): readonly string[] =>
  output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));

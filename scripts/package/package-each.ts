import { mkdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Architecture, readArchitectures } from "./architecture.ts";
import { repository } from "./reproducible.ts";

type Where = { readonly architecture: Architecture; readonly dist: string; readonly output: string };
type Values = Readonly<Record<string, string | undefined>>;

/** Reads the common options of the scripts, and builds one file per processor. */
export function packageEach(
  more: Readonly<Record<string, { readonly type: "string" }>>,
  make: (given: Where & { readonly values: Values }) => string,
): void {
  const { values } = parseArgs({
    options: {
      dist: { type: "string", default: join(repository, "dist") },
      output: { type: "string", default: join(repository, "release") },
      architecture: { type: "string", multiple: true },
      ...more,
    },
  });
  const { dist, output, architecture: given, ...others } = values;
  process.umask(0o022);
  mkdirSync(output, { recursive: true });
  for (const architecture of readArchitectures(given)) {
    const file = make({ architecture, dist: resolve(dist), output: resolve(output), values: others as Values });
    console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB`);
  }
}

import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "vite";
import { type Built, bundle, modulesOf } from "./build/bundle.ts";
import { licencesOf } from "./build/licences.ts";
import pagesToRead from "./build/pages-to-read.json" with { type: "json" };

/**
 * Builds the package that users install, in `dist` or the given folder: the program with its libraries, the pages, the
 * licences of everything in them, and a manifest without dependencies. `npm pack ./dist` packs it.
 */
const repository = resolve(import.meta.dirname, "..");
const folder = resolve(process.argv[2] ?? join(repository, "dist"));

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const program = await bundle(repository, join(folder, "program"), commit());
const pages = await build({
  configFile: join(repository, "vite.config.ts"),
  logLevel: "warn",
  build: { outDir: join(folder, "console") },
});
const all = [...program, pages as Built];
writeFileSync(join(folder, "licences.txt"), licencesOf(all.flatMap(modulesOf)));
for (const name of [...pagesToRead, "LICENSE", "moor.schema.json", "packaging"])
  cpSync(join(repository, name), join(folder, name), { recursive: true });
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
chmodSync(join(folder, "program/moor.js"), 0o755);

function manifest(): object {
  const { name, version, description, license } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
  return {
    ...{ name, version, description, license },
    type: "module",
    bin: { moor: "program/moor.js" },
    man: ["packaging/man/moor.1"],
    // The source maps are larger than everything else, and useful only with the sources.
    files: ["*", "!program/*.map"],
    engines: { node: ">=24" },
  };
}

/** The commit, for `moor --version`. Without git, it comes from the environment. */
function commit(): string {
  const given = process.env.MOOR_COMMIT;
  if (given !== undefined) return given;
  const git = (...words: string[]) =>
    execFileSync("git", words, { cwd: repository, encoding: "utf8", stdio: "pipe" }).trim();
  try {
    return `${git("rev-parse", "--short=12", "HEAD")}${git("status", "--porcelain") === "" ? "" : ", changed"}`;
  } catch {
    return "unknown";
  }
}

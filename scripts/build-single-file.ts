import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";

/**
 * Puts the package in `dist` and Node into one file that runs on a machine without Node. Run `npm run build` first,
 * then: node scripts/build-single-file.ts [--dist FOLDER] [--node FILE] [--output FILE]
 *
 * The licences of everything in it go into a file next to it, which must be distributed with it.
 *
 * `--node`: the Node binary to put into it as it is, for another processor. It must have the same version as the Node
 * that runs this script.
 */
const repository = resolve(import.meta.dirname, "..");
const { values } = parseArgs({
  options: {
    dist: { type: "string", default: join(repository, "dist") },
    node: { type: "string", default: process.execPath },
    output: { type: "string", default: join(repository, "moor") },
  },
});
const dist = resolve(values.dist);
const output = resolve(values.output);
if (!existsSync(join(dist, "program/single-file.js"))) {
  console.error(`${dist} is not built; run first: npm run build`);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), "moor-single-file-"));
try {
  const executable = join(folder, "node");
  copyFileSync(values.node, executable);
  if (values.node === process.execPath) strip(executable);
  const assets = globSync(["program/*.js", "program/*.cjs", "console/**/*"], { cwd: dist })
    .filter((file) => statSync(join(dist, file)).isFile())
    .sort();
  const config = {
    main: join(dist, "program/single-file.js"),
    mainFormat: "module",
    executable,
    output,
    disableExperimentalSEAWarning: true,
    assets: Object.fromEntries(assets.map((file) => [file, join(dist, file)])),
  };
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  execFileSync(process.execPath, ["--build-sea", join(folder, "config.json")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
} finally {
  rmSync(folder, { recursive: true });
}
const licences = [join(dist, "licences.txt"), licenceOfNode(values.node)].map((file) => readFileSync(file, "utf8"));
writeFileSync(`${output}.licences.txt`, licences.join(`\n${"=".repeat(100)}\n\nNode.js\n\n`));
console.log(`${output}: ${(statSync(output).size / 1e6).toFixed(0)} MB`);

/** npm's Node packages have the licence next to `bin`; the package `node` contains one of those packages. */
function licenceOfNode(node: string): string {
  const folder = join(dirname(realpathSync(node)), "..");
  const [found] = globSync(["LICENSE", "node_modules/node-*/LICENSE"], { cwd: folder });
  if (found === undefined) throw new Error(`the licence of Node is not beside ${node}`);
  return join(folder, found);
}

/** A fifth of Node is debug symbols. */
function strip(file: string): void {
  try {
    execFileSync("strip", [file], { stdio: "pipe" });
  } catch {
    console.error("not stripped, so the file is larger: binutils are not installed");
  }
}

import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { architectures } from "./package/architecture.ts";
import { buildDeb } from "./package/deb.ts";
import { buildImage } from "./package/image.ts";
import { nodeBinary } from "./package/node-binary.ts";
import { printProvenance } from "./package/provenance.ts";
import { gzip, progress, repository, run, sha256, sourceDate, version } from "./package/reproducible.ts";
import { debianComponent, nodeComponent, printSbom } from "./package/sbom.ts";

/**
 * Builds all files of a release from the commit with the tag of this version: npm run release [-- --output FOLDER]
 * [--untagged]
 *
 * `--untagged` builds whatever is checked out, as a trial.
 */
const { values } = parseArgs({
  options: { output: { type: "string", default: join(repository, "release") }, untagged: { type: "boolean" } },
});
const output = resolve(values.output);
const tag = `v${version}`;
if (!values.untagged) expectTag();
expectPackages();

process.umask(0o022);
process.env.SOURCE_DATE_EPOCH = String(sourceDate());
rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), "moor-release-"));
try {
  const dist = join(folder, "dist");
  const at = (name: string) => join(output, name);
  progress("making the package");
  run(process.execPath, join(repository, "scripts/build.ts"), dist);
  run("npm", "pack", "--silent", "--pack-destination", output, dist);
  writeFileSync(at(`moor-${version}.cdx.json`), printSbom(dist, []));
  const system = new Map<string, readonly string[]>();
  for (const architecture of architectures) {
    progress(`making the Debian package for ${architecture}`);
    buildDeb({ architecture, dist, output });
    progress(`making the single file for ${architecture}`);
    const single = at(`moor-${version}-linux-${architecture}`);
    const script = join(repository, "scripts/build-single-file.ts");
    run(process.execPath, script, "--dist", dist, "--node", nodeBinary(architecture).program, "--output", single);
    gzip(single);
    progress(`making the image for ${architecture}`);
    const { file, packages } = buildImage(architecture, dist, output);
    const components = [nodeComponent(), ...packages.map((one) => debianComponent(one, architecture))];
    writeFileSync(file.replace(/\.tar$/, ".cdx.json"), printSbom(dist, components));
    system.set(
      architecture,
      packages.map(({ name, version }) => `${name} ${version}`),
    );
  }
  writeFileSync(at("PROVENANCE.md"), printProvenance(values.untagged ? undefined : tag, system));
} finally {
  rmSync(folder, { recursive: true });
}
const files = globSync("*", { cwd: output }).sort();
const sums = files.map((name) => `${sha256(readFileSync(join(output, name)))}  ${name}\n`);
writeFileSync(join(output, "SHA256SUMS"), sums.join(""));
for (const name of files)
  console.log(`${(statSync(join(output, name)).size / 1e6).toFixed(1).padStart(6)} MB  ${name}`);

function expectTag(): void {
  const changed = run("git", "-C", repository, "status", "--porcelain");
  if (changed !== "") refuse(`the checkout has changes that are not committed:\n${changed}`);
  const tags = run("git", "-C", repository, "tag", "--points-at", "HEAD").split("\n");
  if (!tags.includes(tag))
    refuse(
      `the tag ${tag} does not point at this commit; check it out, or try without one: npm run release -- --untagged`,
    );
}

/** npm lists the components of a clone only if nothing is missing in it, and does not say so here. */
function expectPackages(): void {
  const { devDependencies } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
  const isMissing = (name: string) => !existsSync(join(repository, "node_modules", name));
  if (Object.keys(devDependencies).some(isMissing))
    refuse("packages are missing, which the list of components needs; run `npm ci` without --omit=dev first");
}

function refuse(why: string): never {
  console.error(why);
  process.exit(1);
}

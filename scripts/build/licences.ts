import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

type Manifest = { readonly name: string; readonly version: string; readonly license?: string };

/** The licences of all packages that have a file among the modules, as one text. Throws if a package has none. */
export function licencesOf(modules: readonly string[], notices: string): string {
  const packages = new Map<string, { readonly folder: string; readonly manifest: Manifest }>();
  for (const module of modules) {
    const folder = packageOf(module);
    if (folder === undefined) continue;
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
    packages.set(`${manifest.name} ${manifest.version}`, { folder, manifest });
  }
  const parts = [...packages].sort(([a], [b]) => (a < b ? -1 : 1)).map(([title, found]) => licenceOf(title, found));
  return [`moor contains code of these packages.\n`, ...parts, notices].join(`\n${"=".repeat(100)}\n\n`);
}

/** The innermost package that contains the file. Undefined for our own files, and for those that the bundler generates. */
function packageOf(module: string): string | undefined {
  const file = module.replace(/^\0/, "").replace(/\?.*$/, "");
  const [, folder] = /^(\/.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
  return folder !== undefined && existsSync(join(folder, "package.json")) ? folder : undefined;
}

function licenceOf(title: string, { folder, manifest }: { folder: string; manifest: Manifest }): string {
  const file = readdirSync(folder).find((name) => /^(?:licen[cs]e|copying)\b/i.test(name));
  if (file === undefined && manifest.license === undefined)
    throw new Error(`${title} has no licence: ${dirname(folder)}`);
  const text = file === undefined ? "" : `\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  return `${title} (${manifest.license ?? "see below"})\n${text}`;
}

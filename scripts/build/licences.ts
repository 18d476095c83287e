import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

type Manifest = { readonly name: string; readonly version: string; readonly license?: string };

/** The licences of all packages that have a file among the modules, as one text. Throws if a package has none. */
export function licencesOf(modules: readonly string[]): string {
  const packages = new Map<string, { readonly manifest: Manifest; readonly texts: Set<string> }>();
  for (const module of modules) {
    const file = module.replace(/^\0/, "").replace(/\?.*$/, "");
    const folder = packageOf(file);
    if (folder === undefined) continue;
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
    const title = `${manifest.name} ${manifest.version}`;
    const found = packages.get(title) ?? { manifest, texts: new Set(legalTexts(folder)) };
    packages.set(title, found);
    // A file that is itself a bundle lists the licences of its parts beside it.
    if (existsSync(`${file}.LICENSE.txt`)) found.texts.add(`${file}.LICENSE.txt`);
  }
  const parts = [...packages].sort(([a], [b]) => (a < b ? -1 : 1)).map(([title, found]) => licenceOf(title, found));
  return [`moor contains code of these packages.\n`, ...parts].join(`\n${"=".repeat(100)}\n\n`);
}

/**
 * The innermost package that contains the file. Undefined for our own files, and for those that the bundler generates.
 */
function packageOf(file: string): string | undefined {
  const [, folder] = /^(\/.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
  return folder !== undefined && existsSync(join(folder, "package.json")) ? folder : undefined;
}

function legalTexts(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => /^(?:licen[cs]e|copying|notice)\b/i.test(name));
  return names.map((name) => join(folder, name));
}

function licenceOf(title: string, { manifest, texts }: { manifest: Manifest; texts: Set<string> }): string {
  if (texts.size === 0 && manifest.license === undefined) throw new Error(`${title} has no licence`);
  const paragraphs = [...texts].map((file) => `\n${readFileSync(file, "utf8").trim()}\n`);
  return `${title} (${manifest.license ?? "see below"})\n${paragraphs.join("")}`;
}

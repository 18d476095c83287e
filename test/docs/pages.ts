import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../rig/namespace.ts";

/** A Markdown page of ours. Paths start at the repository. */
export type Page = {
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** The text with its code blocks blanked out; line numbers stay. */
  readonly prose: string;
};

export type Block = {
  readonly language: string;
  /** What stands after the language: a file name, or a name for tests. */
  readonly title: string;
  readonly text: string;
  /** Of its first fence. */
  readonly line: number;
};

const markdownIn = (folder: string): readonly string[] =>
  readdirSync(join(repository, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));

export const pages: readonly Page[] = [...markdownIn("."), ...markdownIn("docs"), ...markdownIn("docs/decisions")].map(
  (path) => readPage(path, readFileSync(join(repository, path), "utf8")),
);

/** Blocks may be indented, as in a list. */
export function readPage(path: string, text: string): Page {
  const fence = /^( *)```(\w*) *(\S*)\n([\s\S]*?)^\1```$/gm;
  const blocks = [...text.matchAll(fence)].map(
    ({ index, 1: indent, 2: language = "", 3: title = "", 4: body = "" }) => ({
      ...{ language, title, line: lineAt(text, index) },
      text: body.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    }),
  );
  const prose = text.replaceAll(fence, (block) => block.replaceAll(/[^\n]/g, ""));
  return { path, text, blocks, prose };
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { repository } from "../rig/namespace.ts";
import { lineAt, type Page, pages, readPage } from "./pages.ts";

/** As GitHub and Forgejo make them. */
function anchorsOf({ prose }: Page): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const headings = [...prose.matchAll(/^#{1,6} +(.*)$/gm)].map(([, heading = ""]) => {
    const plain = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}_ -]/gu, "");
    const anchor = plain.trim().replaceAll(" ", "-");
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
  return new Set(headings);
}

const anchors = new Map(pages.map((page) => [page.path, anchorsOf(page)]));

/** What every package has for people to read, so that links work where moor is installed. */
const pagesToRead: readonly string[] = JSON.parse(
  readFileSync(join(repository, "scripts/build/pages-to-read.json"), "utf8"),
);
const isShipped = (path: string) => pagesToRead.some((one) => path === one || path.startsWith(`${one}/`));

/** Relative links that lead nowhere, here or where moor is installed. */
function deadLinks({ path, prose }: Page): readonly string[] {
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].filter(([, target = ""]) => !/^[a-z]+:/.test(target));
  return links.flatMap(({ 1: target = "", index }) => {
    const [file = "", anchor] = target.split("#");
    const to = file === "" ? path : normalize(join(dirname(path), file));
    const at = `${path}:${lineAt(prose, index)}: ${target}`;
    if (!existsSync(join(repository, to))) return [`${at}: no such file`];
    if (isShipped(path) && !isShipped(to)) return [`${at}: not in the packages`];
    return anchor === undefined || anchors.get(to)?.has(anchor) ? [] : [`${at}: no such heading`];
  });
}

describe("links between pages", () => {
  it.each(pages)("of $path lead somewhere", (page) => expect(deadLinks(page)).toEqual([]));

  it("that lead nowhere are noticed", () => {
    const page = readPage(
      "docs/x.md",
      "[a](../README.md#try-it) [b](gone.md)\n[c](../README.md#gone) [d](https://x.test)",
    );
    expect(deadLinks(page)).toEqual([
      "docs/x.md:1: gone.md: no such file",
      "docs/x.md:2: ../README.md#gone: no such heading",
    ]);
  });

  it("every page of docs is reached from the README", () => {
    const reached = new Set(["README.md"]);
    for (const path of reached) {
      const page = pages.find((each) => each.path === path);
      for (const [, target = ""] of page?.prose.matchAll(/\]\(([^)#\s]+)/g) ?? [])
        if (target.endsWith(".md") && !target.includes(":")) reached.add(normalize(join(dirname(path), target)));
    }
    const missed = pages.map(({ path }) => path).filter((path) => !reached.has(path) && !path.includes("decisions/"));
    expect(missed).toEqual([]);
  });
});

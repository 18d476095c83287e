import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { verbsAt } from "../rig/cli/verbs.ts";
import { repository } from "../rig/namespace.ts";

const page = readFileSync(join(repository, "packaging", "man", "moor.1"), "utf8").replaceAll("\\-", "-");
const version = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")).version as string;

const [, ...verbs] = await verbsAt();
const sections = new Map(
  page.split(/^\.S[SH] /m).map((text) => [/^moor ((?:[a-z-]+ ?)+)/.exec(text)?.[1]?.trim() ?? "", text]),
);

describe("the man page", () => {
  it("is for this version", () => {
    expect(page).toContain(`"moor ${version}"`);
  });

  it("has exactly the verbs of the program", () => {
    expect([...sections.keys()].filter((verb) => verb !== "")).toEqual(
      expect.arrayContaining(verbs.map(({ verb }) => verb)),
    );
    expect(sections.size - 1).toBe(verbs.length);
  });

  it.each(verbs)("moor $verb: exactly the options of its help", ({ verb, options }) => {
    const described = [...(sections.get(verb) ?? "").matchAll(/^\.B (--[a-z0-9-]+)/gm)].map(([, option]) => option);
    expect(described).toEqual(options.map(({ name }) => name));
  });
});

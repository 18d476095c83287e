import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { verbsAt } from "../rig/cli/verbs.ts";
import { repository } from "../rig/namespace.ts";

const source = readFileSync(join(repository, "packaging/man/moor.1"), "utf8");
const page = source.replaceAll("\\-", "-");
const version = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")).version as string;

const [, ...verbs] = await verbsAt();
const sections = new Map(
  page.split(/^\.S[SH] /m).map((text) => [/^moor ((?:[a-z-]+ ?)+)/.exec(text)?.[1]?.trim() ?? "", text]),
);

describe("the man page", () => {
  it("is up to date with the help texts", () => {
    const made = mkdtempSync(join(tmpdir(), "moor-man-page-"));
    execFileSync(process.execPath, ["scripts/describe-commands.ts", made], { cwd: repository });
    // Stale? Run: npx node scripts/describe-commands.ts
    expect(source).toBe(readFileSync(join(made, "packaging/man/moor.1"), "utf8"));
  });

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

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { messagesIn } from "../../scripts/find-messages.ts";
import { repository } from "../rig/namespace.ts";
import { pages } from "./pages.ts";

/** Phrases that a native engineer would not use, or that say less than another one. Add to them freely. */
const avoidable: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\btold\b/i, "notified, reported, configured"],
  [/\bhad\b/i, "the usual verb: transferred, stored, received"],
  [/\bso (?:many|long|often)\b/i, "the number; for that time"],
  [/\bwhoever\b/i, "name the person or program: a client, a caller"],
  [/\bby (?:it|them)sel(?:f|ves)\b/i, "automatically; alone"],
  [/\bat once\b/i, "immediately, or at the same time"],
  [/\bof (?:its|their|your|one's|our|his) own\b/i, "its own …, a separate …"],
  [/\b(?:is|are|be) kept from\b/i, "cannot; is not allowed to"],
  [/\bshall\b/i, "must, should, will"],
  [/\b(?:he|him|his|himself)\b/i, "they, their"],
  [/\beach an?\b/i, "one per …"],
  [/\bone an? (?!day|time|moment|more)/i, "one per …"],
  [/\banew\b/i, "again"],
  [/\blikewise\b/i, "also, in the same way"],
  [/\bas ever\b/i, "as before"],
  [/\bwhose word\b/i, "which is trusted"],
  [/\bin step\b/i, "up to date"],
  [/\bmends?\b|\bmended\b/i, "repair, correct"],
];

/** Where such a phrase is right, and why. The text is a part of its line. */
const right: readonly (readonly [file: string, text: string, reason: string])[] = [];

/** Switch this on when the messages of the program are plain English too. */
const checksMessages = false;

type Line = { readonly file: string; readonly line: number; readonly text: string };

const linesOf = (file: string, text: string): readonly Line[] =>
  text.split("\n").map((each, index) => ({ file, line: index + 1, text: each }));

/** What is code in a page, a URL or a command is not a sentence of ours. */
const sentences = (prose: string): string =>
  prose.replaceAll(/`[^`\n]*`|\]\([^)]*\)/g, (code) => "x".repeat(code.length));

function faultsIn(lines: readonly Line[]): readonly string[] {
  return lines.flatMap(({ file, line, text }) =>
    avoidable.flatMap(([phrase, instead]) => {
      const found = phrase.exec(text)?.[0];
      const isRight = right.some(([where, part]) => where === file && text.includes(part));
      return found === undefined || isRight ? [] : [`${file}:${line}: "${found}": say ${instead}`];
    }),
  );
}

/** Others are editing it; take it out of here when they are done. */
const later = ["docs/architecture.md"];

const otherFiles = ["moor.sample.yaml", "packaging/man/moor.1"];

describe("plain English", () => {
  it.each(pages.filter(({ path }) => !later.includes(path)))("$path", ({ path, prose }) =>
    expect(faultsIn(linesOf(path, sentences(prose)))).toEqual([]),
  );

  it.each(otherFiles)("%s", (file) => {
    expect(faultsIn(linesOf(file, readFileSync(join(repository, file), "utf8")))).toEqual([]);
  });

  it.runIf(checksMessages)("what the program says", () => {
    const files = ["bin", "src", "console"]
      .flatMap((folder) =>
        readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
      )
      .filter((name) => /\.tsx?$/.test(name) && !/\.(test|d)\.tsx?$/.test(name));
    const messages = files.flatMap((file) => messagesIn(file, readFileSync(join(repository, file), "utf8")));
    expect(faultsIn(messages)).toEqual([]);
  });

  it("phrases to avoid are noticed", () => {
    expect(faultsIn([{ file: "x.md", line: 7, text: "It is told at once." }])).toEqual([
      'x.md:7: "told": say notified, reported, configured',
      'x.md:7: "at once": say immediately, or at the same time',
    ]);
  });

  it("every exception is still needed", () => {
    const all = [
      ...pages.flatMap(({ path, text }) => linesOf(path, text)),
      ...otherFiles.flatMap((file) => linesOf(file, readFileSync(join(repository, file), "utf8"))),
    ];
    const unused = right.filter(([file, part]) => !all.some((line) => line.file === file && line.text.includes(part)));
    expect(unused).toEqual([]);
  });
});

describe("the messages of the program", () => {
  const kinds = (source: string, file = "src/x.ts") =>
    messagesIn(file, source).map(({ kind, text }) => `${kind}: ${text}`);

  it.each([
    ['log.warn({ because }, "the disk is full");', ["log: the disk is full"]],
    ["io.err(`there is no $" + "{kind} yet\\n`);", ["output: there is no {…} yet"]],
    ['program.command("x").description("Does this.\\n" + "And that.");', ["help: Does this. And that."]],
    ['const o = ["--a <b>", "what it is for"] as const;', ["help: what it is for"]],
    [
      'const f = { code: "bad-x", message: "x is wrong", todo: isOld ? "write it anew" : undefined };',
      ["fault: x is wrong", "fault: write it anew"],
    ],
    ['throw new Error("no such thing", { cause });', ["fault: no such thing"]],
    ['const s = { summary: "List all zones" };', ["api: List all zones"]],
    [
      'import { a } from "some where"; type T = "one two"; if (x === "one two") f(sql`SELECT a FROM b`, "SELECT c FROM d");',
      [],
    ],
    ['const because = "none was stored";', ["other: none was stored"]],
  ])("are found by what they are for: %s", (source, found) => expect(kinds(source)).toEqual(found));

  it("are found on pages, without what is for the browser", () => {
    const source = 'const a = <Button title="Try it" className="big red">Check {n} names now</Button>;';
    expect(kinds(source, "console/x.tsx")).toEqual(["page: Try it", "page: Check", "page: names now"]);
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repository } from "../rig/namespace.ts";
import { allMessages, messagesIn } from "./find-messages.ts";
import { lineAt, pages } from "./pages.ts";

/**
 * Phrases that a native engineer would not use, or that say less than another one; in upper and lower case. Add to them
 * freely.
 */
const avoidable: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\btold\b/, "notified, reported, configured"],
  [/\bhad\b/, "the usual verb: transferred, stored, received"],
  [/\bso (?:many|long|often)\b/, "the number; for that time"],
  [/\bwhoever\b/, "name the person or program: a client, a caller"],
  [/\bby (?:it|them)sel(?:f|ves)\b/, "automatically; alone"],
  [/\bat once\b/, "immediately, or at the same time"],
  [/\bof (?:its|their|your|one's|our|his) own\b/, "its own …, a separate …"],
  [/\b(?:is|are|be) kept from\b/, "cannot; is not allowed to"],
  [/\bshall\b/, "must, should, will"],
  [/\b(?:he|him|his|himself)\b/, "they, their"],
  [/\beach an?\b/, "one per …"],
  [/\bone an? (?!day|time|moment|more)/, "one per …"],
  [/\banew\b/, "again"],
  [/\blikewise\b/, "also, in the same way"],
  [/\bas ever\b/, "as before"],
  [/\bwhose word\b/, "which is trusted"],
  [/\bin step\b/, "up to date"],
  [/\bmends?\b|\bmended\b/, "repair, correct"],
];

/** Where such a phrase is right, and why. The text is a part of its line. */
const right: readonly (readonly [file: string, text: string, reason: string])[] = [];

/** A phrase may continue on the next line. */
const phrases = avoidable.map(
  ([phrase, instead]) => [new RegExp(phrase.source.replaceAll(" ", "\\s+"), "gi"), instead] as const,
);

type Text = { readonly file: string; readonly line: number; readonly text: string };

/** Blanks out code and URLs in a page: they are not sentences of ours. */
const sentences = (prose: string): string =>
  prose.replaceAll(/`[^`\n]*`|\]\([^)]*\)/g, (code) => "x".repeat(code.length));

function faultsIn(texts: readonly Text[]): readonly string[] {
  return texts.flatMap(({ file, line, text }) =>
    phrases.flatMap(([phrase, instead]) =>
      [...text.matchAll(phrase)].flatMap(({ 0: found, index }) => {
        const around = text.slice(0, index).split("\n").at(-1) + text.slice(index).replace(/\n[\s\S]*/, "");
        if (right.some(([where, part]) => where === file && around.includes(part))) return [];
        return [`${file}:${line + lineAt(text, index) - 1}: "${found}": say ${instead}`];
      }),
    ),
  );
}

const otherFiles = ["moor.sample.yaml", "packaging/man/moor.1"];

const texts: readonly Text[] = [
  ...pages.map(({ path, prose }) => ({ file: path, text: sentences(prose) })),
  ...otherFiles.map((file) => ({ file, text: readFileSync(join(repository, file), "utf8") })),
].map((each) => ({ ...each, line: 1 }));

describe("plain English", () => {
  it.each(texts)("$file", (text) => expect(faultsIn([text])).toEqual([]));

  it("what the program says", () => expect(faultsIn(allMessages(repository))).toEqual([]));

  it("phrases to avoid are noticed", () => {
    expect(faultsIn([{ file: "x.md", line: 7, text: "Now\nit is told at\nonce." }])).toEqual([
      'x.md:8: "told": say notified, reported, configured',
      'x.md:8: "at\nonce": say immediately, or at the same time',
    ]);
  });

  it("every exception is still needed", () => {
    const all = [...texts, ...allMessages(repository)];
    expect(right.filter(([file, part]) => !all.some((each) => each.file === file && each.text.includes(part)))).toEqual(
      [],
    );
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

/** Messages that the pages quote, such as `a zone could not be loaded`: three words or more that are no command. */
const quoted = pages
  .filter(({ path }) => /^docs\/[a-z-]+\.md$/.test(path) && path !== "docs/architecture.md")
  .flatMap(({ path, prose }) =>
    [...prose.matchAll(/`([a-z]+(?: [\w().]+){2,}[^`\n]*)`/g)]
      .filter(
        ({ 1: text = "" }) =>
          !/^(?:moor|npm|npx|apt|docker|git|ls|cat|sed|curl|dig|chmod|chgrp|openssl|systemctl|journalctl|iostat|keymgr|protocol)\b/.test(
            text,
          ),
      )
      .map(({ 1: text = "", index }) => ({
        at: `${path}:${lineAt(prose, index)}`,
        text: text.replace(/[:…\s]+$/, ""),
      })),
  );

/** Where a page shows an example, the program has a value: `has no interface wan`. */
const forms = (text: string): readonly string[] => [
  text,
  ...[/\S+$/, /^\S+/, /\d+/].map((example) => text.replace(example, "{…}")),
];

describe("messages that the pages quote", () => {
  it("are those of the program", () => {
    const messages = allMessages(repository).map(({ text }) => text);
    const unknown = quoted.filter(
      ({ text }) => !messages.some((message) => forms(text).some((form) => message.includes(form))),
    );
    expect(quoted.length).toBeGreaterThan(10);
    expect(unknown.map(({ at, text }) => `${at}: ${text}`)).toEqual([]);
  });
});

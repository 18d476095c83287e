import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { doorFaults } from "./rig/doors.ts";
import { faultsIn, importsAmong, type SourceFile } from "./rig/house-rules.ts";
import { importsOf } from "./rig/read-imports.ts";

const root = join(import.meta.dirname, "..");

/** Every source file of ours, tracked or about to be. */
function sourceFiles(folder = ""): readonly SourceFile[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry): readonly SourceFile[] => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return /^\.|^node_modules$|^dist$|^moor-data$/.test(entry.name) ? [] : sourceFiles(path);
    return /\.[cm]?tsx?$/.test(entry.name) ? [{ path, text: readFileSync(join(root, path), "utf8") }] : [];
  });
}

describe("the architecture", () => {
  const files = sourceFiles();

  it("is checked in every folder", () => {
    const rooms = new Set(files.map(({ path }) => path.split("/").slice(0, 2).join("/")));
    for (const room of ["bin/moor.ts", "src/core", "src/cli", "src/updater", "test/rig"]) expect(rooms).toContain(room);
    expect(files.length).toBeGreaterThan(200);
  });

  it("follows the rules for imports, sizes and names", () => expect(faultsIn(files)).toEqual([]));

  it("has rooms with few doors, all of them in use", () => expect(doorFaults(importsAmong(files))).toEqual([]));

  it("exports no two types of one name, so that a name is right outside its file too", () => {
    const paths = new Map<string, string[]>();
    for (const { path, text } of files.filter((file) => /^src\/(?!.*\.test\.ts)/.test(file.path)))
      for (const [, name = ""] of text.matchAll(/^export (?:type|class|interface) (\w+)/gm))
        paths.set(name, [...(paths.get(name) ?? []), path]);
    expect(paths.size).toBeGreaterThan(500);
    expect([...paths].filter(([, all]) => all.length > 1)).toEqual([]);
  });

  it("has every file that the walkthroughs in docs/architecture.md name", () => {
    const text = readFileSync(join(root, "docs/architecture.md"), "utf8");
    const walks = text.slice(text.indexOf("## Walkthroughs"), text.indexOf("## The record service"));
    const passed = [...walks.matchAll(/`([a-z0-9/-]+\.ts)`/g)].map(([, path]) => `src/${path}`);
    const there = new Set(files.map(({ path }) => path));
    expect(passed.length).toBeGreaterThan(50);
    expect(passed.filter((path) => !there.has(path))).toEqual([]);
  });
});

/** One bad file per row, and what is reported about it. */
const bad: [path: string, text: string, fault: RegExp][] = [
  ["src/core/a.ts", 'import { x } from "../records/store/port.ts";', /may not import from src\/records/],
  ["src/core/a.ts", 'import { readFileSync } from "node:fs";', /may not import a Node module: node:fs/],
  ["src/core/a.ts", 'import { x } from "fs";', /may not import the library fs/],
  ["src/core/rdata/a.ts", 'import { x } from "../../contract/records-v1.ts";', /may not import from src\/contract/],
  ["src/core/a.ts", 'export * from "fastify";', /may not import the library fastify/],
  ["src/core/a.ts", 'import "reflect-metadata";', /may not import the library reflect-metadata/],
  ["src/core/a.ts", "export const at = Date.now();", /must be pure, so it may not use Date\.now/],
  ["src/core/a.ts", "export const at = () => Math.random();", /must be pure, so it may not use Math\.random/],
  ["src/contract/a.ts", 'import type { x } from "../access/secret.ts";', /may not import from src\/access/],
  ["src/contract/a.ts", 'import { z } from "zod";', /may not import the library zod/],
  ["src/access/a.ts", 'import { x } from "../firewall/keys.ts";', /may not import from src\/firewall/],
  ["src/process/a.ts", 'import { x } from "../cli/up.ts";', /may not import from src\/cli/],
  ["src/updater/a.ts", 'import type { x } from "../records/store.ts";', /may not import from src\/records/],
  ["src/updater/a.ts", 'const x = await import("../firewall/start.ts");', /may not import from src\/firewall/],
  ["src/updater/a.ts", 'type X = import("../records/store.ts").RecordStore;', /may not import from src\/records/],
  ["src/updater/a.test.ts", 'import { x } from "../records/start.ts";', /may not import from src\/records/],
  ["src/nameserver/a.ts", 'import { x } from "../../test/rig/until.ts";', /may not import from test/],
  ["src/records/a.ts", "import {\n  x,\n  y,\n} from\n  '../nameserver/b.ts';", /may not import from src\/nameserver/],
  ["src/records/a.ts", "const x = await import(name);", /imports a computed path/],
  ["src/records/a.ts", 'import { x } from "../../console/page.ts";', /may not import from console/],
  ["console/a.tsx", 'import { x } from "../src/records/store/port.ts";', /may not import from src\/records/],
  ["console/a.tsx", 'import { x } from "node:path";', /may not import a Node module/],
  ["src/core/names/a.ts", 'import { x } from "../records/rrset.ts";', /src\/core\/names may not import from records/],
  ["src/records/commands/a.ts", 'import { x } from "../api/v1/wire.ts";', /commands may not import from api\/v1/],
  ["src/records/api/v1/a.ts", 'import { x } from "../rrsets/wire.ts";', /may not import from api\/rrsets/],
  ["src/records/api/v1/a.ts", 'import { x } from "../../store/sqlite/read.ts";', /may not import from store\/sqlite/],
  ["src/records/store/sqlite/a.ts", 'import { x } from "../postgres/read.ts";', /may not import from store\/postgres/],
  ["src/records/store/postgres/a.ts", 'import { x } from "../sqlite/read.ts";', /may not import from store\/sqlite/],
  [
    "src/records/store/a.ts",
    'import type { x } from "../queries/permitted-view.ts";',
    /store may not import from queries/,
  ],
  ["src/records/commands/a.ts", 'import { x } from "../start.ts";', /commands may not import from \.: start\.ts/],
  ["src/nameserver/wire/a.ts", 'import { x } from "../answer/respond.ts";', /wire may not import from answer/],
  ["src/nameserver/answer/a.ts", 'import { x } from "../transfer/out.ts";', /answer may not import from transfer/],
  ["src/nameserver/transfer/a.ts", 'import { x } from "../listen/udp.ts";', /transfer may not import from listen/],
  ["src/firewall/kernel/a.ts", 'import { x } from "../report/report.ts";', /kernel may not import from report/],
  ["src/updater/round/a.ts", 'import { x } from "../report/history.ts";', /round may not import from report/],
  ["src/updater/targets/a.ts", 'import { x } from "../round/plan.ts";', /targets may not import from round/],
  ["src/updater/sources/a.ts", 'import { x } from "../targets/target.ts";', /sources may not import from targets/],
  ["src/cli/io/a.ts", 'import { x } from "../records/records.ts";', /io may not import from records/],
  ["src/serving/a.ts", 'import { x } from "../cli/program.ts";', /may not import from src\/cli/],
  ["src/cli/a.ts", 'import { x } from "../records/store/sqlite/write.ts";', /is not a door of src\/records\/store;/],
  ["src/nameserver/a.ts", 'import { x } from "../lib/dns/read-name.ts";', /is not a door of src\/lib\/dns;/],
  ["src/updater/page/a.ts", 'import { x } from "../round/due.ts";', /is not a door of src\/updater\/round;/],
  ["src/serving/a.test.ts", 'import { x } from "../records/store/rows-x.ts";', /is not a door of src\/records\/store;/],
  ["test/e2e/a.ts", 'import { x } from "../../src/updater/round/due.ts";', /is not a door of src\/updater\/round;/],
  [
    "src/records/extras/a.ts",
    'import { x } from "../store/port.ts";',
    /no import rules for the folder src\/records\/extras;/,
  ],
  ["src/lib/dns/a.ts", 'import { x } from "../http/server.ts";', /may not import from src\/lib\/http/],
  ["src/lib/extras/a.ts", "", /no import rules for the folder src\/lib\/extras;/],
  ["src/extras/a.ts", "", /no import rules for the folder src\/extras;/],
  ["src/a.ts", "", /no import rules for the folder src;/],
  ["src/updater/a.ts", "const a = { ...(b === undefined ? {} : { b }) };", /spreads an empty object/],
  ["src/updater/a.ts", "const a = { ...(b ? { c: b } : {}) };", /spreads an empty object/],
  ["src/updater/a.ts", "const a = { ...{ b, c }, d };", /spreads an object literal/],
  ["src/updater/helpers.ts", "", /the name "helpers" does not say/],
  ["src/updater/http-utils.ts", "", /the name "utils" does not say/],
  ["src/updater/index.ts", "", /the name "index" does not say/],
  ["src/updater/common/a.ts", "", /the name "common" does not say/],
];

const good: [path: string, text: string][] = [
  ["src/core/a.ts", 'import type { x } from "./b.ts"; // import { y } from "node:fs";'],
  ["src/core/a.ts", '/* import { y } from "node:fs"; */\nexport const url = "https://example.org"; // Date.now()'],
  ["src/core/a.test.ts", 'import { b } from "../../test/rig/until.ts";'],
  ["src/core/a.ts", `export const text = 'import("node:fs")';`],
  ["src/core/a.test.ts", 'import { domainToASCII } from "node:url";\nimport fc from "fast-check";'],
  ["src/contract/a.ts", 'import { Type } from "typebox";\nimport { Value } from "typebox/value";'],
  ["src/process/a.ts", 'import { x } from "../core/address.ts";\nimport { y } from "node:fs";'],
  ["src/records/start.ts", 'import { x } from "./api/v1/routes.ts";\nimport { y } from "./store/port.ts";'],
  ["src/records/api/v1/a.ts", 'import { x } from "../../service.ts";'],
  ["src/records/store/sqlite/a.test.ts", 'import { x } from "../postgres/store.ts";'],
  ["src/updater/updater.ts", 'import { x } from "./round/due.ts";'],
  ["test/updater/a.ts", 'import { x } from "../../src/updater/round/due.ts";'],
  ["src/cli/a.ts", 'import { x } from "../records/start.ts";\nimport { y } from "../firewall/start.ts";'],
];

describe("the check of the rules", () => {
  test.each(bad)("reports %s: %s", (path, text, fault) => {
    expect(faultsIn([{ path, text }])).toEqual([expect.stringMatching(fault)]);
  });

  test.each(good)("reports nothing for %s: %s", (path, text) => expect(faultsIn([{ path, text }])).toEqual([]));

  it("counts lines", () => {
    const file = (lines: number) => [{ path: "src/updater/a.ts", text: "//\n".repeat(lines) }];
    expect(faultsIn(file(400))).toEqual([]);
    expect(faultsIn(file(401))).toEqual(["src/updater/a.ts: has 401 lines; the maximum is 400"]);
    expect(faultsIn([{ path: "src/updater/a.test.ts", text: "//\n".repeat(401) }])).toEqual([]);
  });

  it("finds comments beyond column 120", () => {
    const file = (line: string) => [{ path: "src/updater/a.test.ts", text: `\n${line}\n` }];
    const fault = "src/updater/a.test.ts: line 2 is a comment beyond column 120";
    for (const start of ["// ", "  /** ", "   * "]) {
      expect(faultsIn(file(start.padEnd(121, "x")))).toEqual([fault]);
      expect(faultsIn(file(start.padEnd(120, "x")))).toEqual([]);
    }
    expect(faultsIn(file("// oxlint-disable-next-line ".padEnd(130, "x")))).toEqual([]);
    expect(faultsIn(file('const a = "'.padEnd(130, "x")))).toEqual([]);
  });

  it("finds top folders that import from each other, types included", () => {
    const files = [
      { path: "src/access/a.ts", text: 'import { b } from "../lib/http/listen.ts";' },
      { path: "src/lib/http/listen.ts", text: 'import { c } from "./c.ts";' },
      { path: "src/lib/http/c.ts", text: 'import type { a } from "../../access/a.ts";' },
    ];
    expect(faultsIn(files)).toContain("import cycle: src/access → src/lib/http → src/access");
    expect(faultsIn(files.slice(0, 2))).toEqual([]);
  });

  it("finds files that import each other, types included", () => {
    const files = [
      { path: "src/updater/round/a.ts", text: 'import { b } from "./b.ts";' },
      { path: "src/updater/round/b.ts", text: 'import { c } from "./c.ts";' },
      { path: "src/updater/round/c.ts", text: 'import type { A } from "./a.ts";' },
    ];
    const circle = "src/updater/round/a.ts → src/updater/round/b.ts → src/updater/round/c.ts → src/updater/round/a.ts";
    expect(faultsIn(files)).toEqual([`import cycle: ${circle}`]);
    expect(faultsIn(files.slice(0, 2))).toEqual([]);
  });

  it("counts the files of a folder, without tests", () => {
    const files = (folder: string, count: number) =>
      Array.from({ length: count }, (_, number) => ({ path: `${folder}/file-${number}.ts`, text: "" }));
    const tests = [{ path: "src/updater/round/file-1.test.ts", text: "" }];
    expect(faultsIn([...files("src/updater/round", 20), ...tests])).toEqual([]);
    expect(faultsIn(files("src/updater/round", 21))).toEqual([
      "src/updater/round: has 21 source files; the maximum is 20",
    ]);
  });

  it("reads every form of import", () => {
    const text = [
      'import a from "a";',
      'import { type B } from "b";',
      'import type { C } from "c";',
      'import * as d from "d";',
      'import "e";',
      'export { f } from "f";',
      'export type * from "g";',
      'const h = await import("h");',
      'type I = import("i").I;',
      'export const from = "not this";',
      'const text = Array.from("nor this");',
    ].join("\n");
    expect(importsOf(text).toSorted()).toEqual(["a", "b", "c", "d", "e", "f", "g", "h", "i"]);
  });
});

import { posix } from "node:path";
import { mayEnter, roomWithDoors } from "./doors.ts";
import { innerArrows } from "./inner-rooms.ts";
import { computed, importsOf, stringsApart } from "./read-imports.ts";

/** The dependency and size rules of docs/architecture.md. Paths are relative to the repository, with slashes. */
export type SourceFile = { readonly path: string; readonly text: string };

type Room = {
  /** The rooms it may import from, besides itself. */
  readonly from: readonly string[];
  /** The libraries it may import; without a list, any dependency of the project. Tests may use others. */
  readonly libraries?: readonly string[];
  /** Pure rules: no Node APIs, no clock, no randomness, no log. */
  readonly pure?: boolean;
  /** Runs in a browser. */
  readonly browser?: boolean;
};

const lib = ["acme", "dns", "http", "http-client", "kernel", "limits", "postgres", "settings", "sqlite", "tls"].map(
  (name) => `src/lib/${name}`,
);
const below = ["src/core", "src/contract", "src/process", ...lib, "src/access"];
const features = ["src/records", "src/nameserver", "src/firewall", "src/updater"];

const house: Readonly<Record<string, Room>> = {
  "src/core": { from: [], libraries: [], pure: true, browser: true },
  "src/contract": { from: ["src/core"], libraries: ["typebox"], pure: true, browser: true },
  "src/process": { from: ["src/core"] },
  // Libraries, each for one protocol or file format; none of them knows a feature.
  "src/lib/limits": { from: ["src/core", "src/process"] },
  "src/lib/settings": { from: ["src/core"] },
  // DNS over TLS.
  "src/lib/dns": { from: ["src/core", "src/lib/limits", "src/lib/tls"] },
  "src/lib/kernel": { from: ["src/core", "src/process"] },
  "src/lib/sqlite": { from: ["src/process", "src/lib/limits"] },
  // The steps of a migration are written the same way for both databases.
  "src/lib/postgres": { from: ["src/core", "src/process", "src/lib/limits", "src/lib/sqlite"] },
  "src/lib/tls": { from: ["src/core", "src/process"] },
  "src/lib/http": { from: ["src/core", "src/process", "src/lib/limits", "src/lib/tls"] },
  "src/lib/http-client": { from: ["src/core", "src/process"] },
  "src/lib/acme": { from: ["src/core", "src/process", "src/lib/tls", "src/lib/http"] },
  "src/access": {
    from: ["src/core", "src/contract", "src/lib/http", "src/lib/http-client", "src/lib/limits", "src/lib/sqlite"],
  },
  // One file per DNS provider; two features write to them.
  "src/providers": { from: ["src/core", "src/contract", "src/process", ...lib] },
  ...Object.fromEntries(features.map((feature) => [feature, { from: below }])),
  "src/records": { from: [...below, "src/providers"] },
  "src/updater": { from: [...below, "src/providers"] },
  // Feeds the nameserver from the store: the only place where two features meet.
  "src/serving": { from: [...below, "src/providers", "src/records", "src/nameserver"] },
  "src/cli": { from: [...below, "src/providers", ...features, "src/serving"] },
  // moor itself, and the programs of its threads.
  bin: { from: ["src/cli", "src/process", "src/nameserver", "src/records"] },
  console: { from: ["src/core", "src/contract"], browser: true },
  // Benches start the same real processes as the tests.
  bench: { from: [...below, "src/providers", ...features, "src/serving", "src/cli", "bin", "test"] },
  scripts: { from: [...below, "src/providers", ...features, "src/serving", "src/cli", "bin", "test"] },
  test: { from: [...below, "src/providers", ...features, "src/serving", "src/cli", "bin", "bench", "console", "."] },
  ".": { from: [] },
};

const mostLines = 400;
const widest = 120;
const mostFiles = 20;

export function faultsIn(files: readonly SourceFile[]): readonly string[] {
  return [...files.flatMap(faultsInFile), ...roomCircles(files), ...fileCircles(files), ...crowdedFolders(files)];
}

function faultsInFile(file: SourceFile): readonly string[] {
  const room = house[roomOf(file.path)];
  if (room === undefined)
    return [
      `${file.path}: no import rules for the folder ${roomOf(file.path)}; add them to test/rig/house-rules.ts and docs/architecture.md`,
    ];
  return [
    ...sizeFaults(file),
    ...nameFaults(file.path),
    ...spreadFaults(file),
    ...importsOf(file.text).flatMap((specifier) => importFaults(file.path, room, specifier)),
    ...(room.pure && !isTest(file.path) ? impurities(file) : []),
  ].map((fault) => `${file.path}: ${fault}`);
}

function importFaults(path: string, room: Room, specifier: string): readonly string[] {
  if (!specifier.startsWith(".")) return libraryFaults(path, room, specifier);
  const target = roomOf(targetOf(path, specifier));
  const faults = arrowFaults(path, room, specifier, target);
  if (faults.length > 0 || mayEnter(path, targetOf(path, specifier))) return faults;
  const entered = roomWithDoors(targetOf(path, specifier));
  return [`${specifier} is not a door of ${entered}; see test/rig/doors.ts`];
}

function arrowFaults(path: string, room: Room, specifier: string, target: string): readonly string[] {
  if (target === roomOf(path) && !isTest(path)) return innerFaults(path, targetOf(path, specifier));
  const open = [
    roomOf(path),
    ...room.from,
    ...(isTest(path) ? ["test", ...(roomOf(path).startsWith("src/lib/") ? lib : [])] : []),
  ];
  return open.includes(target) ? [] : [`may not import from ${target}: ${specifier}`];
}

/** Within one feature: the rules of the file's inner room must name the target's inner room, or the target itself. */
function innerFaults(path: string, target: string): readonly string[] {
  const feature = roomOf(path);
  const arrows = innerArrows[feature];
  const [from, to] = [innerRoomOf(path), innerRoomOf(target)];
  if (arrows === undefined || from === "." || from === to) return [];
  const open = arrows[from];
  if (open === undefined)
    return [`no import rules for the folder ${feature}/${from}; add them to test/rig/inner-rooms.ts`];
  const file = posix.relative(feature, target);
  return open.includes(to) || open.includes(file) ? [] : [`${feature}/${from} may not import from ${to}: ${file}`];
}

const innerRoomOf = (path: string): string => posix.relative(roomOf(path), posix.dirname(path)) || ".";

function libraryFaults(path: string, room: Room, specifier: string): readonly string[] {
  if (isTest(path)) return [];
  if (specifier === computed) return ["imports a computed path; write it out"];
  if (room.browser && specifier.startsWith("node:")) return [`may not import a Node module: ${specifier}`];
  const known = room.libraries?.some((library) => specifier === library || specifier.startsWith(`${library}/`)) ?? true;
  return known ? [] : [`may not import the library ${specifier}`];
}

const worldly =
  /\b(?:Date\.now|new Date\(\)|Math\.random|performance\.\w+|process\.\w+|console\.\w+|setTimeout|setInterval|setImmediate|fetch\(|Buffer\b|crypto\.\w+)/g;

const impurities = ({ text }: SourceFile): readonly string[] =>
  [...new Set(stringsApart(text).code.match(worldly) ?? [])].map((what) => `must be pure, so it may not use ${what}`);

/** Tests are tables and stories: as long as they need to be. The formatter wraps code, but no comments. */
function sizeFaults({ path, text }: SourceFile): readonly string[] {
  const lines = text.split("\n");
  const wide = lines.flatMap((line, index) => (line.length > widest && isWrappable(line) ? [index + 1] : []));
  return [
    ...(lines.length - 1 > mostLines && !isTest(path)
      ? [`has ${lines.length - 1} lines; the maximum is ${mostLines}`]
      : []),
    ...wide.map((number) => `line ${number} is a comment beyond column ${widest}`),
  ];
}

/** A comment on a line of its own, but not a directive to the linter, which has to stay on one line. */
const isWrappable = (line: string): boolean => /^\s*(?:\/\/|\/?\*+)\s/.test(line) && !/oxlint-|biome-/.test(line);

/**
 * A value that may be undefined is written as it is; where its key must be absent, `...(value && { value })`. An object
 * is not spread only to have its members on one line.
 */
function spreadFaults({ path, text }: SourceFile): readonly string[] {
  const { code } = stringsApart(text);
  const spreads = (pattern: RegExp, what: string) =>
    (code.match(pattern) ?? []).map((spread) => `spreads an ${what}: ${spread}`);
  const empty = spreads(/\.\.\.\([^()]+ === undefined \? \{\} :/g, "empty object");
  if (!/^src\/(?!.*\.test\.ts$)/.test(path)) return empty;
  return [
    ...empty,
    ...spreads(/\.\.\.\([^()]+ \? \{[^{}]*\} : \{\}\)/g, "empty object"),
    ...spreads(/\.\.\.\{[^}]*/g, "object literal"),
  ];
}

/** A catch-all name says nothing about the content. */
const shelf = /^(?:utils?|helpers?|common|misc|manager|base|index)$/;

function nameFaults(path: string): readonly string[] {
  const folders = posix.dirname(path).split("/");
  const [stem = "", ...kinds] = posix.basename(path).split(".");
  const words = [...folders, stem, ...stem.split("-").filter((word) => word !== "base" && word !== "index"), ...kinds];
  return [...new Set(words)]
    .filter((word) => shelf.test(word))
    .map((word) => `the name "${word}" does not say what is inside`);
}

/** Two rooms that import from each other are one room. Imports of tests do not count. */
function roomCircles(files: readonly SourceFile[]): readonly string[] {
  const arrows = new Map<string, Set<string>>();
  for (const [path, targets] of arrowsAmong(files)) {
    const rooms = targets.map(roomOf).filter((room) => room !== roomOf(path));
    arrows.set(roomOf(path), new Set([...(arrows.get(roomOf(path)) ?? []), ...rooms]));
  }
  return circlesIn(arrows);
}

/** Files that import each other, directly or indirectly, can only be understood together. Type imports count. */
const fileCircles = (files: readonly SourceFile[]): readonly string[] =>
  circlesIn(new Map([...arrowsAmong(files)].map(([path, targets]) => [path, new Set(targets)])));

/** Of each file that is not a test, the files that it imports. */
function arrowsAmong(files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  return importsAmong(files.filter(({ path }) => !isTest(path)));
}

export const importsAmong = (files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> =>
  new Map(
    files.map(({ path, text }) => [
      path,
      importsOf(text)
        .filter((specifier) => specifier.startsWith("."))
        .map((specifier) => targetOf(path, specifier)),
    ]),
  );

function circlesIn(arrows: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const settled = new Set<string>();
  const visit = (place: string, trail: readonly string[]): readonly string[] => {
    if (trail.includes(place)) return [`import cycle: ${[...trail.slice(trail.indexOf(place)), place].join(" → ")}`];
    if (settled.has(place)) return [];
    const found = [...(arrows.get(place) ?? [])].flatMap((next) => visit(next, [...trail, place]));
    settled.add(place);
    return found;
  };
  return [...arrows.keys()].flatMap((place) => visit(place, []));
}

function crowdedFolders(files: readonly SourceFile[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { path } of files.filter((file) => !isTest(file.path))) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > mostFiles)
    .map(([folder, count]) => `${folder}: has ${count} source files; the maximum is ${mostFiles}`);
}

const targetOf = (path: string, specifier: string): string => posix.join(posix.dirname(path), specifier);

/**
 * `src/core` for everything below it, and `src/lib/dns` likewise: `src/lib` is a shelf of rooms. The first folder for
 * everything outside `src`; `.` for the root's own files.
 */
function roomOf(path: string): string {
  const [first = ".", second = "", third, fourth] = path.split("/");
  if (first !== "src") return second === "" ? "." : first;
  if (second === "lib" && fourth !== undefined) return `src/lib/${third}`;
  return third === undefined ? "src" : `src/${second}`;
}

/** Tests are beside the code; what only they use is in a folder `rig` or in a suite. */
const isTest = (path: string): boolean =>
  /\.(?:test|suite)\.tsx?$|(?:^|\/)(?:test|rig)\/|^vitest\.(?:packages\.)?config\.ts$/.test(path);

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { runMoor } from "../program.ts";

/** The account `main` has two zones; `exported` is a copy of them. */
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-zone-files-"));
  await moor("token add --new --data data --to unused");
  write("example.org.zone", [
    "$ORIGIN example.org.",
    "$TTL 600",
    "; moor: zone labels env=prod team=web",
    "; moor: zone protected",
    "; moor: www A labels owner=anna note=",
    "; moor: *.a TXT protected",
    "@ SOA ns1.example.net. h.example.net. 1 2 3 4 5",
    "@ NS ns1.example.net.",
    "www 300 A 192.0.2.1 ; first ; server",
    "www 300 A 192.0.2.2",
    'a TXT "; moor: www A protected"',
    '*.a TXT "x y" "\\255" ; moor: not a mark',
    "\\@x.zone 60 TYPE65280 \\# 1 ab",
    "host SSHFP 4 2 " + "22".repeat(32),
  ]);
  write("reverse.zone", ["$ORIGIN 0/25.2.0.192.in-addr.arpa.", "1 PTR www.example.org."]);
  for (const file of ["example.org.zone", "reverse.zone"])
    await moor(`zone import files/${file} --data data --file-nameservers --yes`);
});
afterAll(() => rmSync(folder, { recursive: true }));

const write = (name: string, lines: readonly string[]) => {
  mkdirSync(join(folder, "files"), { recursive: true });
  writeFileSync(join(folder, "files", name), `${lines.join("\n")}\n`);
};

async function moor(line: string) {
  const { io, printed } = openTerminal(folder);
  const code = await runMoor(line.split(" "), io);
  return { code, ...printed };
}

/** The files of an export, without serials, which count on. */
const filesIn = (name: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(join(folder, name)).map((file) => [
      file,
      readFileSync(join(folder, name, file), "utf8").replace(/(?<=\tSOA\t\S+ \S+ )\d+/, "N"),
    ]),
  );

let copies = 0;
const exported = async (account = "main") => {
  const name = `copy${copies++}`;
  expect(await moor(`zone export --all --to ${name} --data data --account ${account}`)).toMatchObject({
    code: 0,
    out: `${name}: 2 zones\n`,
    err: "",
  });
  return name;
};

describe("all zones", () => {
  let copy: string;
  beforeEach(async () => {
    copy = await exported();
  });

  it.each(["zone export --all", "zone export example.org"])("%s names the folder that is missing", async (command) => {
    const { code, err } = await moor(`${command} --to nowhere/x --data data`);
    expect([code, err]).toEqual([1, `moor: ${join(folder, "nowhere")} does not exist\n`]);
  });

  it("are files that say everything, and the same zones give the same bytes", async () => {
    const files = filesIn(copy);
    expect(Object.keys(files)).toEqual(["0%2f25.2.0.192.in-addr.arpa.zone", "example.org.zone"]);
    expect(files["example.org.zone"]).toBe(
      [
        "$ORIGIN\texample.org.",
        "$TTL\t600",
        "; moor: zone labels env=prod team=web",
        "; moor: zone protected",
        "",
        "@\tIN\tSOA\tns1.example.net. h.example.net. N 2 3 4 5",
        "",
        "@\tIN\tNS\tns1.example.net.",
        "; moor: www A labels note= owner=anna",
        "www\tIN\t300\tA\t192.0.2.1 ; first ; server",
        "www\tIN\t300\tA\t192.0.2.2",
        `host\tIN\tSSHFP\t4 2 ${"22".repeat(32)}`,
        "; moor: *.a TXT protected",
        '*.a\tIN\tTXT\t"x y" "\\255" ; moor: not a mark',
        'a\tIN\tTXT\t"; moor: www A protected"',
        "\\@x.zone\tIN\t60\tTYPE65280\t\\# 1 ab",
        "",
      ].join("\n"),
    );
    expect(filesIn(await exported())).toEqual(files);
  });

  it("imported elsewhere and exported again, are the same files; a second import changes nothing", async () => {
    const store = `fresh${copies}`;
    await moor(`token add --new --data ${store} --to unused-${store}`);
    const into = (flags: string) => moor(`zone import ${copy} --data ${store} --file-nameservers${flags}`);
    expect((await into("")).out).toMatch(/example\.org +new[\s\S]*Nothing was written/);
    expect(await into(" --yes")).toMatchObject({ code: 0, err: "" });
    expect((await into(" --yes --json")).out).toMatch(/"equal"[\s\S]*"equal"/);
    const again = `again-${store}`;
    expect(await moor(`zone export --all --to ${again} --data ${store}`)).toMatchObject({ code: 0 });
    expect(filesIn(again)).toEqual(filesIn(copy));
  });

  it("a change of labels alone is a difference, and other imports keep them", async () => {
    const change = (name: string, from: RegExp, to: string) => {
      const file = join(folder, copy, name);
      writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
    };
    const into = (flags: string) => moor(`zone import ${copy}/example.org.zone --data data --file-nameservers${flags}`);
    change("example.org.zone", /env=prod/, "env=test");
    // A set of the zone is protected, which only a merge leaves alone.
    expect((await into("")).out).toMatch(/not done: \*\.a TXT: .* protected/);
    const shown = await into(" --merge");
    expect(shown.out).toMatch(/example\.org +different/);
    expect(shown.out).toMatch(/the labels or the protection of the zone change/);
    change("example.org.zone", /env=test/, "env=prod");
    change("example.org.zone", /^; moor: .*\n/gm, "");
    expect((await into("")).out).toMatch(/is equal/);
    change("example.org.zone", /192\.0\.2\.2/, "192.0.2.3");
    expect((await into(" --merge --yes")).out).toMatch(/imported .*1 to replace/);
    expect(filesIn(await exported())["example.org.zone"]).toMatch(/A labels note= owner=anna\nwww.*192\.0\.2\.1/);
    change("example.org.zone", /192\.0\.2\.3/, "192.0.2.2");
    expect(await into(" --merge --yes")).toMatchObject({ code: 0 });
  });

  it("all faults of all files are listed, and nothing is imported", async () => {
    const file = (name: string, text: string) => writeFileSync(join(folder, copy, name), text);
    file("a.zone", "$ORIGIN a.example.\nwww A 192.0.2.1000\n; moor: www A guarded\n");
    file("b.zone", "www A 192.0.2.1\n");
    file("c.zone", "$ORIGIN example.org.\nwww A 192.0.2.1\n");
    const { code, err } = await moor(`zone import ${copy} --data data --yes`);
    expect(code).toBe(1);
    expect(err).toMatch(/a\.zone, line 2: .*192\.0\.2\.1000|a\.zone, line 2/);
    expect(err).toMatch(/a\.zone, line 3: .*labels/);
    expect(err).toMatch(/b\.zone, line 1: the file does not say which zone it is for/);
    expect(err).toMatch(/example\.org\.zone: another file is for the zone example\.org too/);
    expect(err).toMatch(/Nothing was imported: \S+ has 4 faults/);
    expect((await moor("zone list --data data")).out).not.toMatch(/a\.example/);
  });

  it.each([
    ["zone export --data data", 2, /Name a zone, .*--all --to/],
    ["zone export --all --data data", 2, /--all --to FOLDER/],
    ["zone export --all example.org --to new --data data", 2, /Name a zone/],
    ["zone export --all --to files --data data", 1, /files is not empty; give a new folder/],
    ["zone export --all --to unused --data data", 1, /unused is not a folder/],
    ["zone import --data data", 2, /Give a zone and its file/],
    ["zone import example.org --data data", 2, /or a folder of files/],
    ["zone import example.org files --data data", 2, /files is a folder/],
    ["zone import data --data data", 1, /data has no files that end in \.zone/],
  ])("says what is missing: moor %s", async (line, code, said) => {
    expect(await moor(line)).toMatchObject({ code, out: "", err: expect.stringMatching(said) });
  });
});

describe("a preview", () => {
  const lines = (name: string, more: readonly string[]) => {
    write(name, [`$ORIGIN ${name}.`, "$TTL 600", ...more]);
    return `zone import files/${name} --data data`;
  };

  it("of a change of the default TTL alone shows it, and the import makes it", async () => {
    const into = lines("ttl.example", ["www 300 A 192.0.2.1"]);
    expect((await moor(`${into} --yes`)).out).toMatch(/imported/);
    expect((await moor(into)).out).toMatch(/is equal/);
    const changed = lines("ttl.example", ["www 300 A 192.0.2.1"]);
    writeFileSync(join(folder, "files", "ttl.example"), "$ORIGIN ttl.example.\n$TTL 900\nwww 300 A 192.0.2.1\n");
    const { out } = await moor(changed);
    expect(out).toMatch(/ttl\.example +different/);
    expect(out).toMatch(/default TTL changes from 600 to 900/);
    expect((await moor(`${changed} --yes`)).out).toMatch(/imported/);
    expect((await moor("zone export ttl.example --data data")).out).toMatch(/^\$TTL\t900$/m);
  });

  it.each([
    ["clash.example", ["a CNAME b", "a A 192.0.2.1"], /clash\.example +not done: .*a (CNAME|A): .*/],
    ["moor.invalid", ["www A 192.0.2.1"], /moor\.invalid +not done: /],
    ["below.reverse.example", ["@ CNAME other.example."], /not done: .*@ CNAME: /],
  ])("says what the import would be refused for: %s", async (name, sets, said) => {
    const into = lines(name, sets);
    const [shown, written] = [await moor(into), await moor(`${into} --yes`)];
    expect(shown).toMatchObject({ code: 1, out: expect.stringMatching(said) });
    const because = (out: string) => /not done: [^\n]*/.exec(out)?.[0].trim();
    expect(because(shown.out)).toBe(because(written.out));
    expect(because(shown.out)).not.toMatch(/line \d/);
    expect((await moor("zone list --data data")).out).not.toContain(name);
  });

  it("names a set that is protected, and writes nothing", async () => {
    const into = lines("kept.example", ["; moor: www A protected", "www A 192.0.2.1"]);
    await moor(`${into} --yes`);
    write("kept.example", ["$ORIGIN kept.example.", "$TTL 600", "www A 192.0.2.2"]);
    for (const flag of ["", " --merge"]) {
      const { code, out } = await moor(`${into}${flag}`);
      expect([code, out]).toEqual([1, expect.stringMatching(/not done: .*protected/)]);
      expect((await moor(`${into}${flag} --yes`)).out).toMatch(/not done: .*protected/);
    }
  });
});

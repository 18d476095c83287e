import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import type { NameFields, NamesEdit } from "../../contract/updater-page.ts";
import { noZone } from "../../providers/answers/service-answer.ts";
import { readConfig } from "../read-config.ts";
import type { ReviewTools } from "./change-names.ts";
import { createNamesChanger } from "./change-names.ts";
import { readNamesEdit } from "./name-fields.ts";

type Held = Awaited<ReturnType<ReviewTools["published"]>>;

let folder: string;
let holds: Held;
let adopted: number;
const config = `# mine
notify: [{ kind: ntfy, url: "https://ntfy.sh/nobody-knows" }]
names:
  # the house
  - name: home # first
    zone: example.org
    ipv4: wan0
  - { name: vip, zone: example.org, ipv4: { interface: wan0, vhid: 1 }, holdDown: 5s }
heartbeat: { url: "https://hc-ping.com/nobody-knows" }
sources: { wall: { url: "https://192.0.2.1", keyFile: key } }
targets: { dns: { url: "https://192.0.2.2", api: rrsets, token: { file: token } } }
`;
const file = () => join(folder, "moor.yaml");
const text = () => readFileSync(file(), "utf8");
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-change-"));
  adopted = 0;
  holds = { kind: "later", because: "nobody answers", todo: "" };
  writeFileSync(join(folder, "key"), "key=a\nsecret=b\n", { mode: 0o600 });
  writeFileSync(join(folder, "token"), "t0ken", { mode: 0o600 });
  writeFileSync(file(), config, { mode: 0o640 });
});
afterEach(() => rmSync(folder, { recursive: true }));

function changer(path = file()) {
  const checkText = (instead?: string) => readConfig(path, {}, folder, instead);
  const read = readConfig(file(), {}, folder);
  if (!read.ok) throw new Error(JSON.stringify(read.faults));
  const devices = () =>
    new Map([
      [
        "wall",
        [
          { device: "lo", isDown: false },
          { device: "wan0", isDown: false },
          { device: "lan0", isDown: false },
          { device: "spare0", isDown: true },
        ],
      ],
    ]);
  const published = async () => holds;
  const adopt = () => {
    adopted += 1;
  };
  return createNamesChanger({ config: { ...read.value, file: path }, devices, published, checkText, adopt });
}

const nas: NameFields = {
  name: "nas",
  zone: "example.org",
  source: "",
  target: "",
  ttl: "60",
  create: false,
  paused: false,
  ipv4: { isOn: false, devices: "" },
  ipv6: { isOn: true, devices: "lan0, wan0" },
};
type UnversionedEdit = NamesEdit extends infer W ? (W extends NamesEdit ? Omit<W, "version"> : never) : never;
const withVersion = async (namesEdit: UnversionedEdit) =>
  ({ ...namesEdit, version: (await changer().list()).version }) as NamesEdit;
const write = async (namesEdit: UnversionedEdit) => changer().write(await withVersion(namesEdit));
const previewOf = async (namesEdit: UnversionedEdit) => {
  const outcome = await changer().preview(await withVersion(namesEdit));
  if (outcome.kind !== "preview") throw new Error(JSON.stringify(outcome));
  return outcome.preview;
};

describe("a name that is reviewed", () => {
  const namesEdit = (fields: Partial<NameFields> = {}) => previewOf({ kind: "add", fields: { ...nas, ...fields } });
  const found = { kind: "found", value: { values: [] } } as unknown as Held;

  it("may have interfaces that its source reports, even if they are down", async () => {
    holds = found;
    expect((await namesEdit()).faults).toEqual([]);
    expect((await namesEdit({ ipv6: { isOn: true, devices: "spare0" } })).faults).toEqual([]);
    expect((await namesEdit({ ipv6: { isOn: true, devices: "wan9, wan0" } })).faults).toEqual([
      { field: "ipv6", message: "wall reports no interface wan9", todo: "use one that it reports: wan0, lan0" },
    ]);
  });

  it("is not proposed an interface that is down, nor the loopback interface", async () => {
    expect((await changer().list()).sources.map(({ devices }) => devices)).toEqual([["wan0", "lan0"]]);
  });

  it("needs a zone that its target has", async () => {
    holds = noZone("example.org");
    expect((await namesEdit({ create: true })).faults).toMatchObject([{ field: "zone" }]);
  });

  it("needs a record, unless the updater creates it", async () => {
    holds = { kind: "missing", because: "there is no record nas.example.org AAAA", todo: "create it" };
    expect((await namesEdit()).faults).toMatchObject([{ field: "name", todo: "create it" }]);
    expect((await namesEdit({ create: true })).faults).not.toMatchObject([{ field: "name" }]);
  });

  it("has no fault if its target cannot be asked: that is unknown", async () => {
    holds = { kind: "later", because: "no answer", todo: "wait" };
    expect((await namesEdit()).faults).toEqual([]);
  });
});

describe("the names of a config", () => {
  it("are listed with their fields, and with what only the file can change", async () => {
    const { entries, sources } = await changer().list();
    expect(entries.map(({ title, records, others }) => [title, records, others])).toEqual([
      ["home.example.org", ["home.example.org A"], []],
      ["vip.example.org", ["vip.example.org A"], ["ipv4: { vhid: 1 }", "holdDown: 5s"]],
    ]);
    expect(entries[1]?.fields.ipv4).toEqual({ isOn: true, devices: "wan0" });
    expect(sources).toEqual([
      { name: "wall", called: "OPNsense, or moor firewall", isOne: false, devices: ["wan0", "lan0"] },
    ]);
  });

  it("are not changed by a preview, which shows the difference and nothing outside of `names:`", async () => {
    const { diff, faults } = await previewOf({ kind: "add", fields: nas });
    expect(diff.map(({ kind, line, text }) => `${line} ${kind} ${text}`)).toEqual([
      "7 same     ipv4: wan0",
      "8 same   - { name: vip, zone: example.org, ipv4: { interface: wan0, vhid: 1 }, holdDown: 5s }",
      "9 added   - { name: nas, zone: example.org, ipv6: [lan0, wan0], ttl: 60 }",
    ]);
    expect([faults, text()]).toEqual([[], config]);
    expect(JSON.stringify(await previewOf({ kind: "pause", index: 0, paused: true }))).not.toContain("nobody-knows");
  });

  const vip = "  - { name: vip, zone: example.org, ipv4: { interface: wan0, vhid: 1 }, holdDown: 5s }\n";
  test.each<[string, UnversionedEdit, string]>([
    [
      "add",
      { kind: "add", fields: nas },
      config.replace(vip, `${vip}  - { name: nas, zone: example.org, ipv6: [lan0, wan0], ttl: 60 }\n`),
    ],
    [
      "pause",
      { kind: "pause", index: 0, paused: true },
      config.replace("ipv4: wan0\n", "ipv4: wan0\n    paused: true\n"),
    ],
    ["remove", { kind: "remove", index: 1 }, config.replace(vip, "")],
  ])("can be written: %s", async (_, namesEdit, after) => {
    expect(await write(namesEdit)).toEqual({ kind: "written" });
    expect([text(), adopted]).toEqual([after, 1]);
    expect(statSync(file()).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder).toSorted()).toEqual(["key", "moor.yaml", "token"]);
  });

  it("keep what the form does not show when they are edited", async () => {
    const fields = (await changer().list()).entries[1]?.fields ?? nas;
    await write({ kind: "edit", index: 1, fields: { ...fields, ipv4: { isOn: true, devices: "lan0" } } });
    expect(text()).toBe(config.replace("interface: wan0", "interface: lan0"));
    await write({ kind: "edit", index: 1, fields });
    expect(text()).toBe(config);
  });
});

describe("a change that is refused leaves the file as it is:", () => {
  test.each<[string, Partial<NameFields>, string | undefined, number, RegExp]>([
    ["a TTL that is not a number", { ttl: "an hour" }, "ttl", 9, /ttl is not a whole number/],
    ["a name outside of its zone", { name: "nas.example.org" }, "name", 9, /repeats the zone/],
    ["an unknown target", { target: "dms" }, "target", 9, /no target "dms".*did you mean/],
    ["no address", { ipv6: { isOn: false, devices: "" } }, undefined, 9, /neither ipv4 nor ipv6/],
    ["no name", { name: "" }, undefined, 9, /has no name/],
    [
      "a name that is there already",
      { name: "home", ipv4: { isOn: true, devices: "wan0" } },
      "ipv4",
      9,
      /another entry/,
    ],
  ])("%s", async (_, wrong, field, line, message) => {
    const namesEdit = { kind: "add", fields: { ...nas, ...wrong } } as const;
    const { faults } = await previewOf(namesEdit);
    expect(faults[0]?.field).toBe(field);
    expect([faults[0]?.line, `${faults[0]?.message} ${faults[0]?.todo}`]).toEqual([
      line,
      expect.stringMatching(message),
    ]);
    expect((await write(namesEdit)).kind).toBe("preview");
    expect([text(), adopted]).toEqual([config, 0]);
  });

  it("the last name", async () => {
    await write({ kind: "remove", index: 1 });
    const { faults } = await previewOf({ kind: "remove", index: 0 });
    expect(faults).toMatchObject([{ message: "this is the last name" }]);
  });

  it("all but one of several for the same version at the same time", async () => {
    const namesEdits = await Promise.all(
      ["a", "b", "c", "d", "e"].map((name) => withVersion({ kind: "add", fields: { ...nas, name } })),
    );
    // After each write, the page uses the new config: the others may come to the old page or to the new one.
    const changers = [changer(), changer()] as const;
    const outcomes = await Promise.all(namesEdits.map((namesEdit, i) => changers[i % 2 ? 1 : 0].write(namesEdit)));
    const kinds = outcomes.map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(["outdated", "outdated", "outdated", "outdated", "written"]);
    const winner = namesEdits[kinds.indexOf("written")];
    const added = `  - { name: ${winner?.kind === "add" && winner.fields.name}, zone: example.org, ipv6: [lan0, wan0], ttl: 60 }\n`;
    expect([text(), adopted]).toEqual([config.replace("heartbeat:", `${added}heartbeat:`), 1]);
    expect(readdirSync(folder).toSorted()).toEqual(["key", "moor.yaml", "token"]);
  });

  it("one for a file that was changed in the meantime", async () => {
    const namesEdit = await withVersion({ kind: "remove", index: 1 });
    writeFileSync(file(), `${config}# by hand\n`);
    expect(await changer().write(namesEdit)).toEqual({ kind: "outdated" });
    expect(text()).toBe(`${config}# by hand\n`);
  });
});

describe("what the page receives", () => {
  const add = { kind: "add", version: "v", fields: nas };
  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["a list", [add]],
    ["no kind", { version: "v", index: 0 }],
    ["a kind that every object has", { version: "v", kind: "constructor", index: 0 }],
    ["no version", { kind: "remove", index: 0 }],
    ["the length of the list as an index", { kind: "remove", version: "v", index: "length" }],
    ["the index as text", { kind: "remove", version: "v", index: "0" }],
    ["half an index", { kind: "remove", version: "v", index: 0.5 }],
    ["an index below zero", { kind: "edit", version: "v", index: -1, fields: nas }],
    ["no index", { kind: "pause", version: "v", paused: true }],
    ["paused as text", { kind: "pause", version: "v", index: 0, paused: "no" }],
    ["no fields", { kind: "add", version: "v" }],
    ["a list of fields", { kind: "edit", version: "v", index: 0, fields: [] }],
  ])("is not an edit if it has %s", (_, wire) => expect(readNamesEdit(wire)).toBeUndefined());

  test.each<NamesEdit>([
    { kind: "add", version: "v", fields: nas },
    { kind: "edit", version: "v", index: 0, fields: nas },
    { kind: "pause", version: "v", index: 1, paused: false },
    { kind: "remove", version: "v", index: 1 },
  ])("is an edit otherwise: $kind", (namesEdit) => expect(readNamesEdit({ ...namesEdit, more: 1 })).toEqual(namesEdit));

  it("an index beyond the last name changes nothing", async () => {
    expect((await write({ kind: "remove", index: 2 })).kind).toBe("impossible");
    expect(text()).toBe(config);
  });
});

describe("the config file", () => {
  it("may be a link, which stays one", async () => {
    mkdirSync(join(folder, "real"));
    writeFileSync(join(folder, "real/moor.yaml"), config, { mode: 0o600 });
    rmSync(file());
    symlinkSync("real/moor.yaml", file());
    expect(await write({ kind: "remove", index: 1 })).toEqual({ kind: "written" });
    expect(readFileSync(join(folder, "real/moor.yaml"), "utf8")).not.toContain("vip");
    expect(
      readdirSync(folder, { withFileTypes: true })
        .find(({ name }) => name === "moor.yaml")
        ?.isSymbolicLink(),
    ).toBe(true);
  });

  it("cannot be changed if it is mounted like a secret of Kubernetes", async () => {
    mkdirSync(join(folder, "..2026_01_01"));
    writeFileSync(join(folder, "..2026_01_01/moor.yaml"), config);
    symlinkSync("..2026_01_01", join(folder, "..data"));
    rmSync(file());
    symlinkSync("..data/moor.yaml", file());
    expect((await changer().list()).cannot).toMatch(/is mounted from elsewhere .* Change it where it comes from/);
    expect((await write({ kind: "remove", index: 1 })).kind).toBe("impossible");
  });

  it("cannot be changed if it is standard input or another pipe", async () => {
    expect((await changer("/dev/stdin").preview({ kind: "remove", index: 0, version: "" })).kind).toBe("impossible");
  });

  it("cannot be changed in a folder that is read-only, except by root", async () => {
    chmodSync(folder, 0o500);
    const { cannot } = await changer().list();
    chmodSync(folder, 0o700);
    const refused = expect.stringMatching(
      /is not allowed to write .* \(EACCES\)\. Allow that, or edit the file yourself/,
    );
    expect(cannot).toEqual(process.getuid?.() === 0 ? undefined : refused);
    expect(existsSync(file())).toBe(true);
  });
});

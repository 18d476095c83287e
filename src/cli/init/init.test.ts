import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { type Loop, openLoop } from "../../../test/rig/updater/loop.ts";
import type { Reply } from "../../../test/rig/updater/services.ts";
import { update } from "../update/update.ts";
import { init } from "./init.ts";
import type { InitOptions } from "./options.ts";

let loop: Loop;
beforeEach(async () => {
  loop = await openLoop();
});
afterEach(() => loop.close());

const analyze = "systemd-analyze";
const terminal = () => openTerminal(loop.folder);

const options = (more: InitOptions = {}): InitOptions => ({
  config: "new/moor.yaml",
  firewall: loop.firewall.url,
  firewallKeyFile: "k",
  records: loop.service.url,
  api: "v1",
  tokenFile: "t",
  zone: "example.org",
  name: "home",
  ipv4: "wan0",
  ipv6: "wan0",
  yes: true,
  ...more,
});
const at = (file: string) => join(loop.folder, "new", file);

describe("the page of a new config", () => {
  it("is on this machine, its token is readable only by the owner, and its URL is printed", async () => {
    const { io, printed } = terminal();
    expect(await init(options(), io)).toBe(0);
    expect(printed.out).toContain("\nhttp://127.0.0.1:9053/\n");
    expect(readFileSync(at("moor.yaml"), "utf8")).toMatch(/^control: \{ listen: "127\.0\.0\.1:9053", token: \{ file:/m);
    const token = readFileSync(at("secrets/control-token"), "utf8").trim();
    expect(token).toMatch(/^\w{32}$/);
    expect(statSync(at("secrets/control-token")).mode & 0o077).toBe(0);
    expect(printed.out).not.toContain(token);
    expect(await update({ config: "new/moor.yaml", check: true }, terminal().io)).toBe(0);
  });

  it.for([
    ["[::1]:9999", /^control: \{ listen: "\[::1\]:9999"/m],
    ["none", /^(?!.*control:)/s],
  ] as const)("can be moved or switched off: %s", async ([control, written]) => {
    expect(await init(options({ control }), terminal().io)).toBe(0);
    expect(readFileSync(at("moor.yaml"), "utf8")).toMatch(written);
  });

  it("has a password if other machines can reach it", async () => {
    const { io, printed } = terminal();
    expect(await init(options({ control: "0.0.0.0:9053" }), io)).toBe(0);
    expect(printed.out).toMatch(/with the password in secrets\/page-password\nhttps:\/\/[^/]+:9053\/\n/);
    expect(statSync(at("secrets/page-password")).mode & 0o077).toBe(0);
    expect(await update({ config: "new/moor.yaml", check: true }, terminal().io)).toBe(0);
  });

  it("must have an address, not a name", async () => {
    const { io, printed } = terminal();
    expect(await init(options({ control: "nas:9053" }), io)).toBe(2);
    expect(printed.err).toContain("nas:9053 is not an address with a port");
    expect(printed.err).toContain(`${at("moor.yaml")}:`);
    expect(printed.err).not.toContain(".moor-init-");
  });
});

it("a key that may read only the overview is used for that", async () => {
  const row = {
    device: "wan0",
    status: "up",
    ipv4: [{ ipaddr: "9.9.9.9/24" }],
    ipv6: [{ ipaddr: "2a00::9/64" }],
    addr6: "2a00::9/64",
  };
  loop.says.firewall = ({ path }) =>
    path.startsWith("/api/interfaces/overview/export") ? { body: [row] } : { status: 403, body: {} };
  const first = terminal();
  expect([await init(options(), first.io), first.printed.err]).toEqual([0, ""]);
  expect(readFileSync(at("moor.yaml"), "utf8")).toMatch(/^ {4}report: "overview"$/m);
  loop.says.firewall = () => ({ status: 403, body: {} });
  const { io, printed } = terminal();
  expect(await init(options({ config: "other/moor.yaml" }), io)).not.toBe(0);
  expect(printed.err).toMatch(/may not read the interfaces \(403\)/);
});

describe("the unit that --unit writes", () => {
  it.for([
    ["it's moor", "it's moor", "it's moor"],
    ["100% of $HOME", "100%% of $$HOME", "100%% of $HOME"],
    [String.raw`a "\d" b`, String.raw`a \"\\d\" b`, String.raw`a \"\\d\" b`],
  ] as const)("runs a clone in a folder named %s", async ([name, word, path]) => {
    const folder = join(loop.folder, name);
    const unit = join(loop.folder, "moor-update.service");
    const given = options({ config: join(folder, "moor.yaml"), unit });
    expect(await init(given, { ...terminal().io, script: join(folder, "bin/moor") })).toBe(0);
    const text = readFileSync(unit, "utf8");
    const at = `${loop.folder}/${word}`;
    expect(text).toContain(`\nExecStart=/usr/bin/env "${at}/bin/moor" update --config "${at}/moor.yaml"\n`);
    expect(text).toContain(`\nReadWritePaths="${loop.folder}/${path}" `);
    const said = execFileSync(analyze, ["verify", "--man=no", unit], { encoding: "utf8", stdio: "pipe" });
    expect(said).toBe("");
  });
});

describe("a file that an option names", () => {
  it.for([
    ["a key file that is not there", { firewallKeyFile: "nowhere" }, "--firewall-key-file nowhere does not exist"],
    ["a key file without a key", { firewallKeyFile: "empty" }, "empty has no line key=…"],
    [
      "a key file in UTF-16",
      { firewallKeyFile: "utf-16" },
      "--firewall-key-file utf-16 is not UTF-8; save it as UTF-8",
    ],
    ["a marked key file without a secret", { firewallKeyFile: "marked" }, "marked has no line secret=…"],
    ["a token file that is not there", { tokenFile: "nowhere" }, "--token-file nowhere does not exist"],
  ] as const)("is named if it cannot be used: %s", async ([, more, said]) => {
    writeFileSync(join(loop.folder, "empty"), "");
    writeFileSync(join(loop.folder, "marked"), "\uFEFFkey=k\r\n");
    writeFileSync(join(loop.folder, "utf-16"), "\uFEFFkey=k\r\nsecret=s\r\n", "utf16le");
    const { io, printed } = terminal();
    expect(await init(options(more), io)).toBe(2);
    expect(printed.err).toContain(said);
  });
});

describe("without a terminal", () => {
  it.for([
    [
      {},
      "--firewall URL, --firewall-key-file FILE, --records URL, --api v1 or rrsets, --token-file FILE, --zone, --name",
    ],
    [
      {
        firewall: "https://192.0.2.1",
        firewallKeyFile: "k",
        records: "https://192.0.2.2",
        zone: "z",
        name: "n",
      },
      "missing options: --api v1 or rrsets, --token-file FILE, --ipv4, --ipv6\n",
    ],
    [{ kind: "any" }, "--kind any is not one of the choices. Choose from: web, firewall, "],
    [{ api: "any" }, "--api any is not one of the choices. Choose from: rrsets, hetzner, "],
  ] as const)("lists all missing options together, or the choices: %o", async ([given, said]) => {
    const { io, printed } = terminal();
    expect(await init(given, io)).toBe(2);
    expect(printed.err).toContain(said);
  });

  it("lists the choices if it knows the services", async () => {
    const { io, printed } = terminal();
    const { ipv4: _, ...others } = options();
    expect(await init(others, io)).toBe(2);
    expect(printed.err).toMatch(/for the A record\?.*wan0.*--ipv4/s);
  });
});

describe("an answer that does not work", () => {
  it.for([
    ["a host", { firewall: "192.0.2.1" }, "192.0.2.1 is not a URL; write https://192.0.2.1\n"],
    ["a host and port", { records: "dns.test:8053" }, "dns.test:8053 is not a URL; write https://dns.test:8053\n"],
    ["another kind of address", { firewall: "ftp://a" }, "ftp://a is not a URL; write https://192.168.1.1\n"],
    [
      "a name without a record",
      { name: "nas" },
      "example.org has no A or AAAA record nas; create one in the console, with any address, or let moor create it with --create",
    ],
    [
      "a token instead of its file",
      { tokenFile: "t".repeat(32) },
      "--token-file must be the path of a file, but looks like the secret itself",
    ],
  ] as const)("is reported with what was probably meant: %s", async ([, more, said]) => {
    const { io, printed } = terminal();
    expect(await init(options(more), io)).toBe(2);
    expect(printed.err).toContain(said);
  });
});

it("never prints a secret that was given instead of the path of its file", async () => {
  for (const more of [{ tokenFile: "S".repeat(64) }, { firewallKeyFile: "S".repeat(80) }]) {
    const { io, printed } = terminal();
    expect(await init(options(more), io)).toBe(2);
    expect(printed.out + printed.err).not.toContain("SSSS");
  }
});

it("leaves no empty folder if the round fails and nothing is written", async () => {
  const made = join(loop.folder, "new");
  // The service fails from the trial round on, which begins when the files have been written.
  loop.says.service = () => (existsSync(made) ? { status: 500, body: {} } : undefined);
  const { io, printed } = terminal();
  expect(await init(options({ config: "new/inner/moor.yaml" }), io)).not.toBe(0);
  expect(printed.err).toContain("The round failed, so nothing was written");
  expect(existsSync(made)).toBe(false);
});

describe("--create", () => {
  const serve = (answer: (body: string) => Reply) => {
    loop.says.service = ({ method, body }) => (method === "POST" ? answer(body) : undefined);
  };

  it("creates the records of a name without records, with the zone's TTL, and tries the config with them", async () => {
    serve((body) => {
      loop.records.push({ id: `n${loop.records.length}`, ...JSON.parse(body) });
      return { body: { record: loop.records.at(-1) } };
    });
    const { io, printed } = terminal();
    expect(await init(options({ name: "nas", create: true }), io)).toBe(0);
    expect(loop.writes().map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
      ["/api/v1/records", { zone_id: "z1", type: "A", name: "nas", value: "9.9.9.9" }],
      ["/api/v1/records", { zone_id: "z1", type: "AAAA", name: "nas", value: "2a00::9" }],
    ]);
    expect(printed.out).toContain("Created the A record nas.example.org, with 9.9.9.9.");
  });

  it.for<[string, Reply, string]>([
    [
      "a token that may only read",
      { status: 403, body: { message: "no" } },
      "The A record nas.example.org was not created: ",
    ],
    ["an answer without a record", { body: { record: {} } }, "reported success, but its answer contains no record"],
    ["no answer", { fault: "reset" }, "The A record nas.example.org was not created: "],
  ])("says what went wrong, and writes nothing: %s", async ([, reply, said]) => {
    serve(() => reply);
    const { io, printed } = terminal();
    expect(await init(options({ name: "nas", create: true }), io)).toBe(2);
    expect(printed.err).toContain(said);
  });

  it("writes nothing, at the service neither, until somebody confirms it", async () => {
    const { io, printed } = terminal();
    const { yes: _, ...unconfirmed } = options({ name: "nas", create: true });
    expect(await init(unconfirmed, io)).toBe(2);
    expect(printed.err).toMatch(
      /There is no A record nas\.example\.org yet\. Create it now, with 9\.9\.9\.9\? Confirm with --yes\./,
    );
    expect(loop.writes()).toEqual([]);
  });

  it("continues if the answer was lost but the record exists", async () => {
    serve((body) => {
      loop.records.push({ id: `n${loop.records.length}`, ...JSON.parse(body) });
      return { status: 200, body: "x", fault: "truncate" };
    });
    expect(await init(options({ name: "nas", create: true }), terminal().io)).toBe(0);
  });
});

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { type Loop, openLoop } from "../../../test/rig/updater/loop.ts";
import { wanWith } from "../../../test/rig/updater/services.ts";
import { readHistory } from "../../updater/report/history.ts";
import type { CommandIo } from "../io/command-io.ts";
import { list, show, zones } from "./ask-target.ts";
import { interfaces } from "./interfaces.ts";
import { update } from "./update.ts";

let loop: Loop;
beforeEach(async () => {
  loop = await openLoop();
});
afterEach(() => loop.close());

const terminal = (signal?: AbortSignal) => openTerminal(loop.folder, signal);

describe("moor update", () => {
  it("--check lists the names, and contacts nobody", async () => {
    const { io, printed } = terminal();
    expect(await update({ check: true }, io)).toBe(0);
    expect(printed.out).toMatch(
      /^ok: .*moor\.yaml\nhome\.example\.org A: from wan0 of home .*\n.* AAAA: .*\nchecks immediately when .*, otherwise every 30 s; last/,
    );
    expect([loop.firewall.asked.length, loop.service.asked.length]).toEqual([0, 0]);
  });

  it("--check finds a program of run: that is missing, or cannot be executed", async () => {
    const text = readFileSync(join(loop.folder, "moor.yaml"), "utf8");
    writeFileSync(join(loop.folder, "plain"), "");
    const run = "run: [{ command: ./missing }, { command: [./plain, -q] }, { command: sh }]";
    writeFileSync(join(loop.folder, "run.yaml"), `${run}\n${text}`);
    const { io, printed } = terminal();
    expect(await update({ config: "run.yaml", check: true }, io)).toBe(2);
    expect(printed.err.split("\n")).toEqual([
      expect.stringMatching(/the program \S+missing does not exist; correct the path/),
      expect.stringMatching(/the program \S+plain cannot be started \(EACCES\); make it executable/),
      "",
    ]);
  });

  it("reports faults with their line, and exits with 2", async () => {
    writeFileSync(join(loop.folder, "bad.yaml"), "names: []\ncolour: red\n");
    const { io, printed } = terminal();
    expect(await update({ config: "bad.yaml", once: true }, io)).toBe(2);
    expect(printed.err).toMatch(/^bad\.yaml:2:1: the config has no setting "colour"; the settings are state, .*\n$/);
  });

  it("does not wait for a pipe as its state file", async () => {
    execFileSync("mkfifo", [join(loop.folder, "pipe")]);
    const config = readFileSync(join(loop.folder, "moor.yaml"), "utf8");
    writeFileSync(join(loop.folder, "pipe.yaml"), `state: pipe\n${config}`);
    const { io, printed } = terminal();
    expect(await update({ config: "pipe.yaml", once: true }, io)).toBe(2);
    expect(printed.err).toMatch(/^pipe\.yaml:1:8: state is a pipe: .*\/pipe; choose another file/);
    expect(loop.service.asked).toEqual([]);
  });

  it("says how to create a config", async () => {
    const { io, printed } = terminal();
    expect(await update({ config: "missing.yaml" }, io)).toBe(2);
    expect(printed.err).toMatch(
      /^missing\.yaml: there is no such config file; create it with `moor init --config missing\.yaml`/,
    );
  });

  it("does not start without names", async () => {
    writeFileSync(join(loop.folder, "none.yaml"), "interval: 30s\n");
    const { io, printed } = terminal();
    expect(await update({ config: "none.yaml", once: true }, io)).toBe(2);
    expect(printed.err).toMatch(/^none\.yaml: there are no names to update/);
  });

  it.for(["names:", "names: []"])("says which line has no names: %s", async (line) => {
    writeFileSync(join(loop.folder, "none.yaml"), `interval: 30s\n${line}\n`);
    const { io, printed } = terminal();
    expect(await update({ config: "none.yaml", check: true }, io)).toBe(2);
    expect(printed.err).toMatch(/^none\.yaml:2:1: there are no names to update/);
  });

  it("--dry-run prints the plan and why; nothing is written or stored", async () => {
    const { io, printed } = terminal();
    const before = readdirSync(loop.folder);
    expect(await update({ dryRun: true }, io)).toBe(0);
    expect(printed.out).toBe(
      "home.example.org A: would be replaced by 9.9.9.9: it is the address of wan0; no address was stored yet\n" +
        "home.example.org AAAA: would be replaced by 2a00::9: it is the address of wan0; no address was stored yet\n",
    );
    expect(loop.writes()).toEqual([]);
    expect(readdirSync(loop.folder)).toEqual(before);
  });

  it("says that a machine behind the firewall shares only the prefix of the interface", async () => {
    await loop.close();
    loop = await openLoop('  - { name: home, zone: example.org, ipv6: { interface: wan0, host: "::5:6" } }');
    const planned = terminal();
    expect(await update({ dryRun: true }, planned.io)).toBe(0);
    expect(planned.printed.out).toBe(
      "home.example.org AAAA: would be replaced by 2a00::5:6: its prefix is that of wan0; no address was stored yet\n",
    );
    const seen = terminal();
    expect(await interfaces({}, seen.io)).toBe(0);
    expect(seen.printed.out).toContain("home.example.org AAAA: 2a00::5:6 with the prefix of wan0 would be used\n");
  });

  it.for([
    ["a missing record", "v1", "nope", "example.org", "", /no record nope\.example\.org A;.*`create: true`/],
    ["a missing zone", "v1", "home", "example.net", "", /no zone example\.net/],
    ["a missing set", "rrsets", "nope", "example.org", "", /no record nope\.example\.org A;.*`create: true`/],
    ["a set to create in a missing zone", "rrsets", "home", "example.net", ", create: true", /no zone example\.net/],
  ] as const)("--dry-run fails as the round would: %s", async ([, api, name, zone, more, said]) => {
    await loop.close();
    loop = await openLoop(`  - { name: ${name}, zone: ${zone}, ipv4: wan0${more} }`, undefined, { api });
    const { io, printed } = terminal();
    expect(await update({ dryRun: true }, io)).toBe(1);
    expect(printed.out).toMatch(said);
    expect(printed.out).toMatch(/A: not replaced: /);
    expect(loop.writes()).toEqual([]);
    const real = terminal();
    expect(await update({ once: true }, real.io)).toBe(1);
    expect(real.printed.out).toBe(printed.out);
  });

  it.for([
    [
      "creates what is missing",
      "",
      "nope",
      ", create: true",
      "would be replaced by 9.9.9.9: it is the address of wan0; no address was stored yet",
    ],
    [
      "replaces what differs",
      "192.0.2.1",
      "home",
      ", compare: record",
      "would be replaced by 9.9.9.9: it is the address of wan0; the record held 192.0.2.1",
    ],
    [
      "leaves what is correct",
      "9.9.9.9",
      "home",
      ", compare: record",
      "left as it is: the record already holds 9.9.9.9",
    ],
  ] as const)("--dry-run knows from reading that the round %s", async ([, held, name, more, said]) => {
    await loop.close();
    loop = await openLoop(`  - { name: ${name}, zone: example.org, ipv4: wan0${more} }`, undefined, { api: "rrsets" });
    Object.assign(loop.records.find(({ id }) => id === "r4") ?? {}, { value: held });
    const before = readdirSync(loop.folder);
    const { io, printed } = terminal();
    expect(await update({ dryRun: true }, io)).toBe(0);
    expect(printed.out).toBe(`${name}.example.org A: ${said}\n`);
    expect(loop.writes()).toEqual([]);
    expect(readdirSync(loop.folder)).toEqual(before);
  });

  it("--once prints what was done, then that there is nothing to do", async () => {
    loop.says.firewall = () => ({ body: { wan0: wanWith(["10.0.0.1"], ["2a00::9"]) } });
    const first = terminal();
    expect(await update({ once: true }, first.io)).toBe(0);
    expect(first.printed.out).toMatch(
      /A: replaced by 10\.0\.0\.1: it is the address of wan0; no address was stored yet; warning: 10\.0\.0\.1 is a private/,
    );
    const second = terminal();
    expect(await update({ once: true }, second.io)).toBe(0);
    expect(second.printed.out).toMatch(/A: left as it is: the address is still 10\.0\.0\.1\n/);
    expect(loop.writes().length).toBe(2);
    expect(await readHistory(loop.config.historyFile)).toMatchObject([
      { kind: "done", about: "home.example.org A", what: "record replaced by 10.0.0.1" },
      { kind: "done", about: "home.example.org AAAA", what: "record replaced by 2a00::9" },
    ]);
  });

  it("--once exits with 1 if something failed, and says what to do", async () => {
    loop.says.firewall = () => ({ body: { eth7: wanWith(["9.9.9.9"], []) } });
    const { io, printed } = terminal();
    expect(await update({ once: true }, io)).toBe(1);
    expect(printed.out).toMatch(/A: left as it is: the firewall home has no interface wan0; its interfaces are eth7\n/);
  });

  it("--once exits with 1 if a name has no usable address, and lists the others", async () => {
    loop.says.firewall = () => ({ body: { wan0: wanWith([], ["fe80::1"]) } });
    const { io, printed } = terminal();
    expect(await update({ once: true }, io)).toBe(1);
    expect(printed.out).toMatch(/AAAA: left as it is: wan0 has no usable address: fe80::1 is link-local\n/);
  });

  it.each(["once", "dryRun"])("%s says which gateway is down on no known line", async (option) => {
    await loop.close();
    loop = await openLoop("  - { name: home, zone: example.org, ipv4: wan0 }", undefined, { source: "gateways: true" });
    const far = { name: "FAR_GW", address: "172.31.1.1", status: "down" };
    loop.says.firewall = ({ path }) => {
      if (path === "/api/routing/settings/searchGateway") return { status: 404, body: {} };
      return { body: path.includes("gateway") ? { items: [far], status: "ok" } : { wan0: wanWith(["9.9.9.9"], []) } };
    };
    const { io, printed } = terminal();
    expect(await update({ [option]: true }, io)).toBe(0);
    expect(printed.err).toMatch(
      /^warning: the gateway FAR_GW \(172\.31\.1\.1\) is down, but belongs to no interface; /,
    );
  });

  it("sets a damaged state file aside and says so", async () => {
    writeFileSync(loop.config.stateFile, "{torn");
    const { io, printed } = terminal();
    expect(await update({ once: true }, io)).toBe(0);
    expect(printed.err).toMatch(/^warning: the state file .* was damaged/);
    expect(loop.stored()).toEqual({ A: "9.9.9.9", AAAA: "2a00::9" });
  });

  it("watches until it is stopped", async () => {
    const stop = new AbortController();
    const { io, printed } = terminal(stop.signal);
    const running = update({ logFormat: "json" }, io);
    await expect.poll(() => printed.err).toContain("replaced by 2a00::9");
    stop.abort();
    expect(await running).toBe(0);
    const lines = printed.err.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      "watching",
      "record replaced by 9.9.9.9",
      "record replaced by 2a00::9",
      "stopped",
    ]);
  });
});

describe("moor interfaces", () => {
  it("shows each address, and why it would or would not be used", async () => {
    const { io, printed } = terminal();
    expect(await interfaces({}, io)).toBe(0);
    expect(printed.out).toBe(
      "INTERFACE  STATE  ADDRESS  TYPE  CHOICE\n" +
        "wan0       up     9.9.9.9  A     would be used\n" +
        "wan0       up     2a00::9  AAAA  would be used\n" +
        "wan0       up     fe80::1  AAAA  no: link-local\n" +
        "home.example.org A: 9.9.9.9 of wan0 would be used\n" +
        "home.example.org AAAA: 2a00::9 of wan0 would be used\n" +
        "home (firewall) can push changes and reports addresses with prefixes and lifetimes\n",
    );
  });

  it("applies the rules of the names in the config, and says which interface is missing", async () => {
    await loop.close();
    const names = "  - { name: home, zone: example.org, ipv4: eth9, ipv6: [eth8, wan0], public: require }";
    loop = await openLoop(names);
    loop.says.firewall = () => ({ body: { wan0: wanWith(["9.9.9.9"], ["fd00::9", "2a00::9"]) } });
    const { io, printed } = terminal();
    expect(await interfaces({}, io)).toBe(1);
    expect(printed.out).toBe(
      "INTERFACE  STATE  ADDRESS  TYPE  CHOICE\n" +
        "wan0       up     9.9.9.9  A     usable, but no name in the config uses it\n" +
        "wan0       up     fd00::9  AAAA  no: unique local, but only public ones are allowed\n" +
        "wan0       up     2a00::9  AAAA  would be used\n" +
        "home.example.org AAAA: 2a00::9 of wan0 (eth8 does not exist) would be used\n" +
        "home (firewall) can push changes and reports addresses with prefixes and lifetimes\n",
    );
    expect(printed.err).toBe("home.example.org A: the firewall home has no interface eth9; its interfaces are wan0\n");
  });

  it("says which interface is a spare one of a name with several", async () => {
    await loop.close();
    loop = await openLoop("  - { name: home, zone: example.org, ipv4: [wan0, wan1] }");
    loop.says.firewall = () => ({ body: { wan0: wanWith(["9.9.9.9"], []), wan1: wanWith(["9.9.9.8"], []) } });
    const { io, printed } = terminal();
    expect(await interfaces({}, io)).toBe(0);
    expect(printed.out).toContain("9.9.9.8  A     usable, but its name uses another interface\n");
  });

  it("keeps the published address, as a round does, even if another one of the network lives longer", async () => {
    const renewed = (...seconds: readonly number[]) => {
      const { ipv6, ...wan0 } = wanWith(["9.9.9.9"], ["2a00::8", "2a00::9"]);
      const living = ipv6.map((entry, i) => ({ ...entry, vltime: String(seconds[i]) }));
      loop.says.firewall = () => ({ body: { wan0: { ...wan0, ipv6: living } } });
    };
    renewed(60, 7200);
    expect(await update({ once: true }, terminal().io)).toBe(0);
    renewed(7200, 60);
    const seen = terminal();
    expect(await interfaces({}, seen.io)).toBe(0);
    expect(seen.printed.out).toContain(
      "wan0       up     2a00::8  AAAA  no: as good as another, which is already published\n" +
        "wan0       up     2a00::9  AAAA  would be used\n" +
        "home.example.org A: 9.9.9.9 of wan0 would be used\n" +
        "home.example.org AAAA: 2a00::9 of wan0 would be used\n",
    );
    const planned = terminal();
    expect(await update({ dryRun: true }, planned.io)).toBe(0);
    expect(planned.printed.out).toContain("AAAA: left as it is: the address is still 2a00::9\n");
  });

  it("says why a name would get no address", async () => {
    loop.says.firewall = () => ({ body: { wan0: wanWith(["127.0.0.1"], []) } });
    const { io, printed } = terminal();
    expect(await interfaces({}, io)).toBe(0);
    expect(printed.out).toContain(
      "home.example.org A: no address would be used: wan0 has no usable address: 127.0.0.1 is loop",
    );
  });

  it("shows what would be used of each interface while there are no names", async () => {
    const config = readFileSync(join(loop.folder, "moor.yaml"), "utf8").replace(/^names:[\s\S]*/m, "");
    writeFileSync(join(loop.folder, "bare.yaml"), config);
    const { io, printed } = terminal();
    expect(await interfaces({ config: "bare.yaml" }, io)).toBe(0);
    expect(printed.out).toMatch(/ 9\.9\.9\.9 +A +would be used\n/);
  });

  it("--json for programs", async () => {
    const { io, printed } = terminal();
    expect(await interfaces({ json: true }, io)).toBe(0);
    expect(JSON.parse(printed.out)[0]).toMatchObject({
      interface: "wan0",
      up: true,
      addresses: [{ verdict: "taken" }, {}, {}],
    });
  });

  it("exits with 1 if the firewall cannot be read, and with 2 for a source that is not in the config", async () => {
    loop.says.firewall = () => ({ status: 403 });
    const refused = terminal();
    expect(await interfaces({}, refused.io)).toBe(1);
    expect(refused.printed.err).toMatch(/may not read.*All pages/);
    const unknown = terminal();
    expect(await interfaces({ source: "hme" }, unknown.io)).toBe(2);
    expect(unknown.printed.err).toBe("there is no source hme; choose from home; did you mean home?\n");
  });
});

describe("zones, list and show", () => {
  it("print tables for people", async () => {
    const { io, printed } = terminal();
    expect([await zones({}, io), await list({ zone: "Example.org." }, io), await show({ record: "r6" }, io)]).toEqual([
      0, 0, 0,
    ]);
    expect(printed.out).toBe(
      "ZONE         TTL   ID\n" +
        "example.org  3600  z1\n" +
        "NAME  TYPE  TTL  VALUE                ID\n" +
        "@     SOA        ns. host. 1 2 3 4 5  soa\n" +
        "home  A     77   192.0.2.1            r4\n" +
        "home  AAAA       2001:db8::1          r6\n" +
        "name     home\ntype     AAAA\nvalue    2001:db8::1\nttl      default\nid       r6\nzone id  z1\n",
    );
  });

  it("print JSON for programs", async () => {
    const { io, printed } = terminal();
    await show({ record: "r4", json: true }, io);
    expect(JSON.parse(printed.out)).toEqual({
      id: "r4",
      zoneId: "z1",
      name: "home",
      type: "A",
      value: "192.0.2.1",
      ttl: 77,
    });
  });

  it("suggest a command with the same config, and with the target if there are several", async () => {
    const text = readFileSync(join(loop.folder, "moor.yaml"), "utf8");
    const suggested = async (config: string, target?: string, program = "moor") => {
      const { io, printed } = terminal();
      expect(await list({ zone: "other.org", config, target }, { ...io, program })).toBe(1);
      return printed.err;
    };
    writeFileSync(join(loop.folder, "my dns.yaml"), text);
    expect(await suggested("my dns.yaml")).toContain("`moor zone list --config 'my dns.yaml'` lists");
    expect(await suggested("moor.yaml", undefined, "../bin/moor")).toContain("`../bin/moor zone list` lists");
    const second = text
      .replace(/^targets: \{ dns: (.*) \}$/m, "targets: { dns: $1, more: $1 }")
      .replace("name: home,", "name: home, target: dns,");
    writeFileSync(join(loop.folder, "moor.yaml"), second);
    expect(await suggested("moor.yaml", "more")).toContain("`moor zone list --target more` lists");
  });

  const wrong: [string, (io: CommandIo) => Promise<number>, number, RegExp][] = [
    ["a missing zone", (io) => list({ zone: "other.org" }, io), 1, /no zone other\.org.*`moor zone list`/],
    ["an invalid zone", (io) => list({ zone: "org" }, io), 2, /at least two labels/],
    ["a zone in Unicode", (io) => list({ zone: "Bücher.example" }, io), 1, /no zone xn--bcher-kva\.example/],
    ["an id with a name in Unicode", (io) => show({ record: "ü.test/x/A" }, io), 1, /the id xn--tda\.test\/x\/A/],
    ["a missing record", (io) => show({ record: "r9" }, io), 1, /no record with the id r9.*`moor record list ZONE`/],
    ["a missing target", (io) => zones({ target: "x" }, io), 2, /no target x; choose from dns/],
  ];
  it.each(wrong)("say what to do about %s", async (_, ask, code, words) => {
    const { io, printed } = terminal();
    expect(await ask(io)).toBe(code);
    expect(printed.err).toMatch(words);
    expect(printed.out).toBe("");
  });
});

import { X509Certificate } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { makeCertificate } from "../../../test/rig/updater/certificates.ts";
import { type OpenControl, openControl } from "../../../test/rig/updater/control.ts";
import { goodFirewall, type Loop, openLoop } from "../../../test/rig/updater/loop.ts";
import { wanWith } from "../../../test/rig/updater/services.ts";
import { init } from "../init/init.ts";
import type { InitOptions } from "../init/options.ts";
import { zones } from "./ask-target.ts";
import { history } from "./history.ts";
import { status } from "./status.ts";
import { update } from "./update.ts";

let loop: Loop;
beforeEach(async () => {
  loop = await openLoop();
});
afterEach(() => loop.close());

const terminal = () => openTerminal(loop.folder);

describe("moor status", () => {
  it("reads the wanted, the stored and the published address, and writes nothing", async () => {
    await update({ once: true }, terminal().io);
    const { io, printed } = terminal();
    const before = loop.writes().length;
    expect(await status({}, io)).toBe(0);
    expect(printed.out).toMatch(/^NAME +WANTED +STORED +PUBLISHED +WRITTEN \(UTC\) +NEXT \(UTC\) +WHY$/m);
    expect(printed.out).toMatch(
      /^home\.example\.org A +9\.9\.9\.9 +9\.9\.9\.9 +9\.9\.9\.9 +\d{4}-.* the address is still 9\.9\.9\.9$/m,
    );
    expect(loop.writes().length).toBe(before);
  });

  it("reads the config of `moor up`, if there is none in this folder", async () => {
    const trial = join(loop.folder, "moor-data");
    for (const name of readdirSync(loop.folder)) cpSync(join(loop.folder, name), join(trial, name));
    renameSync(join(trial, "moor.yaml"), join(trial, "up.yaml"));
    rmSync(join(loop.folder, "moor.yaml"));
    const { io, printed } = terminal();
    await status({ config: "moor.yaml" }, io);
    expect([printed.err, printed.out]).toEqual(["", expect.stringMatching(/^home\.example\.org A +9\.9\.9\.9/m)]);
  });

  it("exits with 1 if the record has another value, and shows it", async () => {
    await update({ once: true }, terminal().io);
    Object.assign(loop.records.find(({ id }) => id === "r4") ?? {}, { value: "192.0.2.66" });
    const { io, printed } = terminal();
    expect(await status({ json: true }, io)).toBe(1);
    expect(JSON.parse(printed.out)).toMatchObject([
      { name: "home.example.org A", wanted: "9.9.9.9", stored: "9.9.9.9", published: ["192.0.2.66"], ok: false },
      { ok: true },
    ]);
  });

  it.for([
    [
      "",
      /the record was changed elsewhere; set `verify: 1h` in the config so that moor corrects .* or put 9\.9\.9\.9 back/,
    ],
    ["verify: 90m", /the record was changed elsewhere; no action needed: moor corrects it within 90 min \(verify\)/],
  ] as const)("says what to do about a record that was changed elsewhere: %s", async ([settings, said]) => {
    await loop.close();
    loop = await openLoop(undefined, undefined, { settings });
    await update({ once: true }, terminal().io);
    Object.assign(loop.records.find(({ id }) => id === "r4") ?? {}, { value: "192.0.2.66" });
    const { io, printed } = terminal();
    expect(await status({}, io)).toBe(1);
    expect(printed.out).toMatch(said);
    expect(printed.out).toMatch(/AAAA .* the address is still 2a00::9\n/);
  });

  it("says of a paused name that it is paused, even if its record holds another address", async () => {
    await loop.close();
    loop = await openLoop("  - { name: home, zone: example.org, ipv4: wan0, paused: true }");
    expect(await update({ once: true }, terminal().io)).toBe(0);
    expect(loop.writes()).toEqual([]);
    const { io, printed } = terminal();
    expect(await status({ json: true }, io)).toBe(0);
    expect(JSON.parse(printed.out)).toMatchObject([{ ok: true, why: "it is paused in the config (`paused: true`)" }]);
  });

  it("says of a missing record when it will be created, and why not yet if there is no address", async () => {
    await loop.close();
    loop = await openLoop("  - { name: new, zone: example.org, create: true, ipv4: wan0, ipv6: eth9 }", undefined, {
      api: "rrsets",
    });
    const { io, printed } = terminal();
    expect(await status({ json: true }, io)).toBe(1);
    expect(JSON.parse(printed.out).map(({ why }: { readonly why: string }) => why)).toEqual([
      "there is no record new.example.org A; `moor update` creates it when it next writes an address (create: true); with `verify: 1h`, it also notices that someone deleted the record",
      "the firewall home has no interface eth9; its interfaces are wan0",
    ]);
  });

  describe("of a running updater", () => {
    let control: OpenControl;
    /** An updater of the config, with its state in that file. */
    const watch = async (stateFile: string) => {
      const nextRound = "2026-01-02T03:04:05.000Z";
      const known = { started: nextRound, rounds: 1, lastRound: nextRound, nextRound, changes: 0, failures: 0 };
      const tools = {
        status: () => ({ ...known, sources: [], services: [], names: [] }),
        check: () => undefined,
        silence: () => 0,
      };
      const of = { file: "/etc/moor/x.yaml", stateFile };
      control = await openControl({ ...tools, of });
      const config = readFileSync(join(loop.folder, "moor.yaml"), "utf8");
      const listen = `control: { listen: "127.0.0.1:${control.port}", token: { file: t } }\n`;
      writeFileSync(join(loop.folder, "moor.yaml"), config + listen);
      await update({ once: true }, terminal().io);
    };
    afterEach(() => control.close());

    it("shows when it checks next", async () => {
      await watch(loop.config.stateFile);
      const { io, printed } = terminal();
      expect(await status({}, io)).toBe(0);
      expect(printed.out).toMatch(/ 2026-01-02 03:04:05 /);
      expect(printed.err).toBe("");
    });

    it("ignores one of another config, and says whose it is", async () => {
      await watch("/var/lib/moor/x-state.json");
      const { io, printed } = terminal();
      expect(await status({ json: true }, io)).toBe(0);
      expect(JSON.parse(printed.out)[0].next).toBe("no updater is running");
      expect(printed.err).toMatch(
        /^127\.0\.0\.1:\d+ is used by the updater of \/etc\/moor\/x\.yaml; .*another port in `control:`.*moor\.yaml\n$/,
      );
    });
  });

  it("says what is wrong if a service cannot be read", async () => {
    loop.says.service = () => ({ status: 401, body: {} });
    const { io, printed } = terminal();
    expect(await status({}, io)).toBe(1);
    expect(printed.out).toMatch(/unknown .* denied access/);
  });
});

describe("moor zone list", () => {
  const foreign = /does not offer this call \(404.*\); check that the URL is that of a record service/;
  it.each([
    ["an account without zones", { zones: [], error: { code: 404, message: "zone not found" } }, 0, /no zones yet/],
    ["a firewall", { errorMessage: "Endpoint not found" }, 1, foreign],
    ["a web server", "404 page not found", 1, foreign],
    ["another API", { error: { code: "not_found", message: "no such page" } }, 1, foreign],
  ])("distinguishes %s from other 404 answers", async (_, body, code, said) => {
    loop.says.service = () => ({ status: 404, body });
    const { io, printed } = terminal();
    expect(await zones({}, io)).toBe(code);
    expect(printed.out + printed.err).toMatch(said);
  });
});

describe("moor history", () => {
  it("shows what was done, newest last, or only the newest few", async () => {
    const empty = terminal();
    expect(await history({}, empty.io)).toBe(0);
    expect(empty.printed.out).toBe("there are no updates or failures yet\n");
    const entry = (n: number) => ({
      at: `2026-01-0${n}T00:00:00.000Z`,
      kind: "done",
      about: `n${n} A`,
      what: "record replaced",
    });
    writeFileSync(loop.config.historyFile, [1, 2, 3].map((n) => `${JSON.stringify(entry(n))}\n`).join(""));
    const { io, printed } = terminal();
    expect(await history({ last: 2 }, io)).toBe(0);
    expect(printed.out.split("\n").slice(1, 3)).toEqual([
      "2026-01-02 00:00:00  n2 A   record replaced",
      "2026-01-03 00:00:00  n3 A   record replaced",
    ]);
  });
});

describe("moor init, by options", () => {
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
  const without = (given: InitOptions, key: keyof InitOptions): InitOptions => ({ ...given, [key]: undefined });
  const at = (file: string) => join(loop.folder, "new", file);

  it("tries one round without sending, then writes a config that works and secrets that only the owner can read", async () => {
    const { io, printed } = terminal();
    expect(await init(options(), io)).toBe(0);
    expect(printed.out).toMatch(/A: would be replaced by 9\.9\.9\.9/);
    expect(loop.writes()).toEqual([]);
    for (const file of ["moor.yaml", "secrets/firewall-key.txt", "secrets/records-token"]) {
      expect(statSync(at(file)).mode & 0o077).toBe(0);
    }
    expect(readFileSync(at("moor.yaml"), "utf8")).toMatch(/^public: require$/m);
    expect(readFileSync(at("moor.yaml"), "utf8")).not.toMatch(/thekey|thesecret|t0ken/);
    expect(printed.out).not.toMatch(/thekey|thesecret|t0ken/);
    const again = terminal();
    expect(await update({ config: "new/moor.yaml", once: true }, again.io)).toBe(0);
    expect(loop.writes().length).toBe(2);
  });

  it("accepts a zone and a name in any spelling", async () => {
    expect(await init(options({ zone: "ｅxample。org", name: "ｈome" }), terminal().io)).toBe(0);
    expect(readFileSync(at("moor.yaml"), "utf8")).toMatch(/name: "home"[\s\S]*zone: "example\.org"/);
  });

  it("writes a systemd unit to the given file", async () => {
    expect(await init(options({ unit: "units/moor-update.service" }), terminal().io)).toBe(0);
    const unit = readFileSync(join(loop.folder, "units", "moor-update.service"), "utf8");
    expect(unit).toContain(`ExecStart=/usr/bin/env moor update --config "${at("moor.yaml")}"`);
  });

  it("writes nothing and leaves no files if the round fails", async () => {
    loop.says.firewall = (() => {
      let reads = 0;
      return () => (++reads > 1 ? { status: 500 } : goodFirewall());
    })();
    const { io, printed } = terminal();
    expect(await init(options(), io)).toBe(1);
    expect(printed.err).toMatch(/The round failed, so nothing was written/);
    expect(existsSync(join(loop.folder, "new"))).toBe(false);
  });

  it("writes nothing if an interface has no usable address, unless forced", async () => {
    loop.says.firewall = () => ({ body: { wan0: wanWith(["192.168.1.2"], ["2a00::9"]) } });
    const { io, printed } = terminal();
    expect(await init(options(), { ...io, isTerminal: true })).toBe(1);
    expect(printed.out).toContain("wan0 has no usable address: 192.168.1.2 is private");
    expect(printed.err).toMatch(
      /nothing was written; correct what it reports, choose .* --ipv4 and --ipv6, or .* --force\n$/,
    );
    expect(existsSync(join(loop.folder, "new"))).toBe(false);
    expect(await init(options({ ipv4: "none" }), terminal().io)).toBe(0);
    expect(await init(options({ force: true }), terminal().io)).toBe(0);
  });

  it("overwrites nothing unless forced", async () => {
    await init(options(), terminal().io);
    const { io, printed } = terminal();
    expect(await init(options(), io)).toBe(2);
    expect(printed.err).toMatch(/new\/moor\.yaml would be overwritten; to do so, add --force/);
    expect(await init(options({ force: true }), terminal().io)).toBe(0);
  });

  test.each<[string, (given: InitOptions) => InitOptions, RegExp]>([
    ["no firewall", (given) => without(given, "firewall"), /What is the URL of the firewall\? Answer with --firewall/],
    ["a text that is not a URL", (given) => ({ ...given, firewall: "fw" }), /fw is not a URL/],
    ["no key", (given) => without(given, "firewallKeyFile"), /--firewall-key-file/],
    ["no token", (given) => without(given, "tokenFile"), /--token-file/],
    [
      "an interface that is not there",
      (given) => ({ ...given, ipv4: "wan7" }),
      /--ipv4 wan7 is not one of the choices\. Choose from: wan0, none/,
    ],
    ["no interface at all", (given) => ({ ...given, ipv4: "none", ipv6: "none" }), /nothing to update/],
    ["a missing zone", (given) => ({ ...given, zone: "example.net" }), /Choose from: example\.org/],
    ["a missing name", (given) => ({ ...given, name: "nope" }), /Existing names: home/],
    [
      "no name",
      (given) => without(given, "name"),
      /Which name should moor update\? Choose from: home\. Answer with --name/,
    ],
  ])("says what is missing or wrong: %s", async (_, change, expected) => {
    const { io, printed } = terminal();
    expect(await init(change(options()), io)).toBe(2);
    expect(printed.err).toMatch(expected);
    expect(existsSync(at("moor.yaml"))).toBe(false);
  });

  it("shows a certificate of an unknown authority, and trusts it only after a confirmation", async () => {
    await loop.close();
    const certificate = makeCertificate("IP:127.0.0.1");
    loop = await openLoop(undefined, undefined, { firewallTls: certificate, source: "insecure: true" });
    const careful = without(options(), "yes");
    const asked = terminal();
    expect(await init(careful, asked.io)).toBe(2);
    expect(asked.printed.out).toContain(certificate.fingerprint);
    expect(asked.printed.err).toMatch(/--firewall-fingerprint or --yes/);
    expect(loop.firewall.asked).toEqual([]);
    const wrong = terminal();
    expect(await init({ ...careful, firewallFingerprint: "AB".repeat(32) }, wrong.io)).toBe(2);
    expect(wrong.printed.err).toMatch(/does not match --firewall-fingerprint/);
    const right = terminal();
    expect(await init(options({ firewallFingerprint: certificate.fingerprint }), right.io)).toBe(0);
    expect(readFileSync(at("moor.yaml"), "utf8")).toContain(`fingerprint: "${certificate.fingerprint}"`);
    rmSync(at("moor.yaml"));
  });

  it("trusts the authority that a service sends, so that a renewed certificate is trusted too", async () => {
    await loop.close();
    const made = makeCertificate("IP:127.0.0.1");
    const root = new X509Certificate(made.ca).fingerprint256;
    const firewallTls = { ...made, cert: made.cert + made.ca };
    loop = await openLoop(undefined, undefined, { firewallTls, source: "insecure: true" });
    const wrong = terminal();
    expect(await init(options({ firewallFingerprint: "AB".repeat(32) }), wrong.io)).toBe(2);
    const { io, printed } = terminal();
    expect(await init(options({ firewallFingerprint: root }), io)).toBe(0);
    expect(printed.out).toContain(root);
    expect(readFileSync(at("moor.yaml"), "utf8")).toContain("ca: secrets/firewall-ca.pem");
    expect(readFileSync(at("moor.yaml"), "utf8")).not.toContain("fingerprint:");
    expect(new X509Certificate(readFileSync(at("secrets/firewall-ca.pem"))).fingerprint256).toBe(root);
    expect(await update({ config: "new/moor.yaml", once: true }, terminal().io)).toBe(0);
  });
});

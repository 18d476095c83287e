import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { builtProgram } from "../rig/bundle.ts";
import { node, repository } from "../rig/namespace.ts";

const analyze = "systemd-analyze";
const folder = join(repository, "packaging", "systemd");
const units = readdirSync(folder).filter((file) => file.endsWith(".service"));

describe("the systemd units", () => {
  it("exist for every program", () => {
    expect(units).toEqual([
      "moor-firewall.service",
      "moor-records.service",
      "moor-records@.service",
      "moor-update.service",
    ]);
  });

  it.each(units)("%s passes systemd-analyze without a warning", (unit) => {
    const path = join(folder, unit.replace("@.", "@8061."));
    const said = execFileSync(analyze, ["verify", "--man=no", path], { encoding: "utf8", stdio: "pipe" });
    expect(said).toBe("");
  });

  it.each(units)("%s uses only options that moor has", (unit) => {
    const text = readFileSync(join(folder, unit), "utf8");
    const [, verb = "", words = ""] = /^ExecStart=\/usr\/bin\/env moor (\w+) (.*)$/m.exec(text) ?? [];
    const help = execFileSync(node, [builtProgram(), verb, "--help"], { encoding: "utf8" });
    const examples = [...text.matchAll(/^#.*MOOR_RECORDS_OPTIONS=(.*)$/gm)].map(([, given]) => given);
    const used = [words, ...examples].join(" ").match(/(?<= |^)--[a-z-]+/g) ?? [];
    const known: readonly string[] = help.match(/--[a-z-]+/g) ?? [];
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((option) => !known.includes(option))).toEqual([]);
  });

  it("have one rule for /etc/moor, with the Debian package and the pages: everyone may read it", () => {
    const places = ["packaging/systemd", "packaging/debian", "docs"].flatMap((place) =>
      readdirSync(join(repository, place), { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(repository, place, entry.name), "utf8")),
    );
    const modes = places.flatMap((text) => [
      ...text.matchAll(/(?:install -d -m|chmod) (\d+)(?: -o moor -g moor)? \/etc\/moor(?!\/)/g),
    ]);
    expect(modes.length).toBeGreaterThan(4);
    expect(modes.filter(([, mode]) => mode !== "0755").map(([line]) => line)).toEqual([]);
  });

  it.each(units)("%s counts as started when a child process reports ready", (unit) => {
    const text = readFileSync(join(folder, unit), "utf8");
    expect(text).toMatch(/^Type=notify$/m);
    expect(text).toMatch(/^NotifyAccess=all$/m);
  });

  it.each(["moor-firewall.service", "moor-update.service"])("%s lets `ip` read the interfaces", (unit) => {
    const text = readFileSync(join(folder, unit), "utf8");
    expect(text).toMatch(/^RestrictAddressFamilies=.*\bAF_NETLINK\b/m);
    expect(text).toMatch(/^SystemCallFilter=~@privileged @resources\n(#.*\n)*SystemCallFilter=capset$/m);
  });

  it.each(["moor-records.service", "moor-records@.service"])("%s lets signing lower its priority", (unit) => {
    const text = readFileSync(join(folder, unit), "utf8");
    expect(text).toMatch(/^SystemCallFilter=~@privileged @resources\n(#.*\n)*SystemCallFilter=setpriority$/m);
  });

  it("moor-update.service starts after the services on the same machine", () => {
    const [after = ""] = /^After=.*$/m.exec(readFileSync(join(folder, "moor-update.service"), "utf8")) ?? [];
    for (const service of ["moor-firewall.service", "moor-records.service"]) expect(after).toContain(service);
  });

  it.each(["moor-records.service", "moor-records@.service"])("%s starts when the clock has been set", (unit) => {
    expect(readFileSync(join(folder, unit), "utf8")).toMatch(/^After=.*\btime-sync\.target\b/m);
  });

  it("starts the updater after all nodes, whatever their ports", () => {
    expect(readFileSync(join(folder, "moor-records@.service"), "utf8")).toMatch(/^Before=moor-update\.service$/m);
  });

  it.each(units)("%s is not restarted if its options are wrong", (unit) => {
    expect(readFileSync(join(folder, unit), "utf8")).toMatch(/^RestartPreventExitStatus=2$/m);
  });

  it.each(units)("%s has its own name in the journal", (unit) => {
    const text = readFileSync(join(folder, unit), "utf8");
    expect(text).toContain(`\nSyslogIdentifier=${unit.replace(/@?\.service$/, "")}\n`);
  });

  it("moor-update.service can be reloaded without procps", () => {
    expect(readFileSync(join(folder, "moor-update.service"), "utf8")).not.toMatch(/^ExecReload=.*\/kill/m);
  });

  it("moor-firewall.service lets `ip` drop its capabilities, which it must do to run", () => {
    const filters = readFileSync(join(folder, "moor-firewall.service"), "utf8").match(/^SystemCallFilter=.*$/gm) ?? [];
    // The last filter wins.
    expect(filters.at(-1)).toBe("SystemCallFilter=capset");
  });
});

import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aptInstall, makeCleanRoot, run } from "./clean-root.ts";
import { bootMachine, type Machine } from "./machine.ts";
import { type Architecture, architectures, build, here, sumOf } from "./release-files.ts";

let folder: string;
let root: string;
/** One file for each processor. */
let built: readonly string[];
let machine: Machine;

const buildDeb = (output: string, ...words: string[]) => {
  build("deb", join(folder, output), "--level", "0", ...words);
  return readdirSync(join(folder, output)).map((name) => join(folder, output, name));
};

const fileFor = (architecture: Architecture) => built.find((name) => name.endsWith(`_${architecture}.deb`)) ?? "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-deb-"));
  built = buildDeb("first");
});
afterAll(async () => {
  await machine?.stop();
  for (const made of [folder, root]) if (made !== undefined) rmSync(made, { recursive: true, force: true });
});

describe("the Debian packages", () => {
  it.each(architectures)("for %s have no lintian errors", (architecture) => {
    expect(run("lintian", "--allow-root", "--fail-on=none", fileFor(architecture))).not.toMatch(/^E: /m);
  });

  it("are the same when built again", () => {
    const [again = ""] = buildDeb("again", "--architecture", here);
    expect(sumOf(again)).toBe(sumOf(fileFor(here)));
  });
});

describe("on a clean Debian, the package", () => {
  const moor = "cd /root && moor";
  const pidOf = async (unit: string) => (await machine.run(`systemctl show --property MainPID --value ${unit}`)).trim();
  const units = ["moor-records", "moor-firewall", "moor-update"];
  const published = async () =>
    (await machine.beside("dig", "+short", "-p", "5300", "@127.0.0.1", "vm.home.test")).out.trim();

  beforeAll(async () => {
    root = makeCleanRoot();
    copyFileSync(fileFor(here), join(root, "root/moor.deb"));
    const [newer = ""] = buildDeb("newer", "--architecture", here, "--debian-version", "99-1");
    copyFileSync(newer, join(root, "root/newer.deb"));
    aptInstall(root, "/root/moor.deb");
    machine = await bootMachine(root);
    await machine.run("ip link add wan0 type veth peer wan1 && ip link set wan0 up && ip link set wan1 up");
    await machine.run("ip address add 9.9.1.1/24 dev wan0");
  });

  it("starts no service until it is enabled", async () => {
    expect(await machine.run("systemctl list-units --all --plain --no-legend 'moor-*' && id moor")).toMatch(
      /^uid=\d+\(moor\)/,
    );
    expect(await machine.run("moor --version")).toContain(`Node ${process.versions.node}`);
  });

  it("runs as hardened units after moor init", async () => {
    await machine.run("echo 'MOOR_RECORDS_OPTIONS=--dns 127.0.0.1:5300' >> /etc/moor/records.env");
    await machine.run("systemctl enable --now moor-records moor-firewall");
    await machine.run(`${moor} token add --data /var/lib/moor-records --to token`);
    await machine.run(`${moor} key add --data /var/lib/moor-firewall --name updater --to updater-key.txt`);
    const token = await machine.run("cat /root/token");
    const zone = [
      "-H",
      `Auth-API-Token: ${token.trim()}`,
      "-H",
      "Content-Type: application/json",
      "-d",
      '{"name":"home.test"}',
    ];
    await machine.beside("curl", "-sSkf", ...zone, "https://127.0.0.1:8053/api/v1/zones");
    const services =
      "--firewall https://127.0.0.1:8443 --firewall-key-file updater-key.txt --records https://127.0.0.1:8053";
    const name = "--api v1 --token-file token --zone home.test --name vm --ipv4 wan0 --ipv6 none --create --yes";
    const said = await machine.run(`${moor} init --config /etc/moor/moor.yaml ${services} ${name}`);
    const [line = ""] = /^systemctl enable --now .*$/m.exec(said) ?? [];
    await machine.run(line);
    expect(await machine.run(`systemctl is-enabled ${units.join(" ")}`)).toBe("enabled\n".repeat(3));
    expect(await published()).toBe("9.9.1.1");
    await machine.run("ip address flush dev wan0 && ip address add 9.9.1.2/24 dev wan0");
    await expect.poll(published).toBe("9.9.1.2");
    const users = await Promise.all(units.map(async (unit) => machine.run(`stat -c %u /proc/${await pidOf(unit)}`)));
    expect(new Set([...users, "0\n"]).size).toBe(units.length + 1);
    expect(users.at(-1)).toBe(await machine.run("id -u moor"));
  });

  it("loses nothing in an upgrade", async () => {
    const before = await Promise.all(units.map(pidOf));
    const kept = "sha256sum /etc/moor/records.env /etc/moor/moor.yaml /etc/moor/secrets/*";
    const was = await machine.run(kept);
    await machine.run("apt-get -qq install --yes /root/newer.deb");
    expect(await machine.run("dpkg-query --show moor")).toBe("moor\t99-1\n");
    const after = await Promise.all(units.map(pidOf));
    expect(after.filter((pid, index) => pid === "0" || pid === before[index])).toEqual([]);
    expect(await machine.run(kept)).toBe(was);
    expect(await published()).toBe("9.9.1.2");
    await machine.run("ip address flush dev wan0 && ip address add 9.9.1.3/24 dev wan0");
    await expect.poll(published).toBe("9.9.1.3");
  });

  it("removes programs when it is removed, and config when it is purged, but no zones", async () => {
    await machine.run("apt-get -qq remove --yes moor");
    expect(await machine.run("systemctl list-units --plain --no-legend --state=active 'moor-*'")).toBe("");
    expect(existsSync(join(root, "usr/lib/moor"))).toBe(false);
    expect(existsSync(join(root, "etc/moor/moor.yaml"))).toBe(true);
    const said = await machine.run("apt-get -qq purge --yes moor");
    expect(said).toContain("rm -r /var/lib/private/moor-records");
    const left = ["etc/moor", "var/lib/moor", "var/cache/moor", "usr/lib/moor"].filter((path) =>
      existsSync(join(root, path)),
    );
    expect(left).toEqual([]);
    expect(
      readdirSync(join(root, "etc/systemd/system/multi-user.target.wants")).filter((name) => /moor/.test(name)),
    ).toEqual([]);
    expect(existsSync(join(root, "var/lib/private/moor-records/records.sqlite"))).toBe(true);
  });
});

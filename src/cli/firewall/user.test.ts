import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { keysFile, openAccess } from "../../firewall/access/store.ts";
import { runMoor } from "../program.ts";

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "moor-user-"));
  await mkdir(join(cwd, "data"));
  opened(() => undefined);
});

/** Runs one command, and returns what it printed. */
async function moor(line: string): Promise<{ code: number; out: string; err: string }> {
  const { io, printed } = openTerminal(cwd);
  return { code: await runMoor([...line.split(" "), "--data", "data"], io), ...printed };
}

const opened = <T>(work: (access: ReturnType<typeof openAccess>) => T): T => {
  const access = openAccess(keysFile(join(cwd, "data")));
  try {
    return work(access);
  } finally {
    access.close();
  }
};

describe("moor user", () => {
  it("creates a user whose key has the user's privileges, also after they change", async () => {
    expect((await moor("user add --new anna --privilege overview --full-name Anna")).code).toBe(0);
    const { out } = await moor("key add --new --user anna");
    const [, key = "", secret = ""] = /^key=(.*)\nsecret=(.*)\n$/.exec(out) ?? [];
    const opens = () => opened(({ keys }) => keys.check(key, secret)?.privileges);
    expect(opens()).toEqual(["overview"]);
    await moor("user change anna --privilege gateways --privilege firmware");
    expect(opens()).toEqual(["gateways", "firmware"]);
    await moor("user change anna --disable");
    expect(opens()).toBeUndefined();
    await moor("user change anna --enable --expires 2020-01-01");
    expect(opens()).toBeUndefined();
    await moor("user change anna --expires never");
    expect(opens()).toEqual(["gateways", "firmware"]);
    expect((await moor("user remove anna")).out).toContain("and their keys");
    expect(opens()).toBeUndefined();
  });

  it("limits a user to networks, and removes the limit", async () => {
    await moor("user add --new anna --privilege overview --network 192.0.2.0/24 --network 2001:db8::/32");
    expect((await moor("user list")).out).toMatch(/anna +overview +192\.0\.2\.0\/24, 2001:db8::\/32 /);
    await moor("user change anna --any-network");
    expect((await moor("user list")).out).toMatch(/anna +overview +anywhere /);
  });

  it("lists keys as invalid while their user is disabled or expired", async () => {
    expect((await moor("user add --new anna")).out).toContain("moor key add --data data --user anna\n");
    await moor("key add --new --user anna");
    expect((await moor("key list")).out).toMatch(/anna .* valid\n/);
    await moor("user change anna --disable");
    expect((await moor("key list")).out).toMatch(/anna .* invalid: its user is disabled\n/);
    await moor("user change anna --enable --expires 2020-01-01");
    expect((await moor("key list")).out).toMatch(/anna .* invalid: its user has expired\n/);
    expect((await moor("user list")).out).toMatch(/anna .* expired\n/);
  });

  it("says that there is nothing to change, and logs nothing", async () => {
    await moor("user add --new bob");
    expect(await moor("user change bob")).toEqual({
      code: 2,
      out: "",
      err: expect.stringMatching(/^There is nothing to change; .*--disable/),
    });
    expect((await moor("user log")).out).not.toContain("user changed");
  });

  it("a key may have fewer privileges than its user", async () => {
    await moor("user add --new anna --privilege all");
    expect((await moor("key add --new --user anna --privilege interface-status")).err).toContain(
      "may read the interfaces",
    );
  });

  it("lists users for people and for programs", async () => {
    expect((await moor("user list")).out).toContain("moor user add");
    await moor("user add --new anna --privilege overview --expires 2099-12-31");
    expect((await moor("user list")).out).toMatch(/anna +overview +anywhere +no +2100-01-01 00:00 +valid/);
    expect(JSON.parse((await moor("user list --json")).out)).toMatchObject([
      { name: "anna", privileges: ["overview"] },
    ]);
  });

  /** Takes a third of a second of processor time, as setting a password does. */
  const logsIn = async (password: string) => {
    const access = openAccess(keysFile(join(cwd, "data")));
    const user = await access.users.checkPassword("anna", password, new Date());
    access.close();
    return typeof user === "object" ? user.name : user;
  };

  it("reads a password from a file", async () => {
    await moor("user add --new anna");
    // A file of Notepad, and only its first line counts.
    await writeFile(join(cwd, "marked"), "\uFEFFof Notepad, 8 files\r\nmore\r\n");
    expect((await moor("user password anna --from marked")).code).toBe(0);
    expect(await logsIn("of Notepad, 8 files")).toBe("anna");
    for (const [name, password] of Object.entries({ short: "nine char", long: "x".repeat(1_001) })) {
      await writeFile(join(cwd, name), `${password}\n`);
      const refused = await moor(`user password anna --from ${name}`);
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("12 to 1000 characters") });
    }
    await writeFile(join(cwd, "common"), "anna-password-1\n");
    expect((await moor("user password anna --from common")).err).toMatch(/easy to guess.* Choose another/);
    await writeFile(join(cwd, "utf-16"), "\uFEFFof Windows, 16\r\n", "utf16le");
    const unreadable = "utf-16 is not UTF-8; save it as UTF-8.\n";
    expect(await moor("user password anna --from utf-16")).toMatchObject({ code: 2, err: unreadable });
    const missing = "There is no file nothing; create it, or omit --from to get a new password.\n";
    expect(await moor("user password anna --from nothing")).toMatchObject({ code: 2, err: missing });
  });

  it("creates a password and shows it once, and keeps a log of who did what, without secrets", async () => {
    expect((await moor("user log")).out).toBe("Nothing has been changed yet.\n");
    await moor("user add --new anna --privilege overview");
    const { out: key } = await moor("key add --new --user anna");
    const { out: password } = await moor("user password anna");
    expect(password).toMatch(/^\w{20}\n$/);
    expect(await logsIn(password.trim())).toBe("anna");
    await moor("user change anna --network 192.0.2.0/24");
    const { out } = await moor("user log");
    const did = out.split("\n").slice(1, -1);
    expect(did.map((line) => /command line +(.*?) {2}/.exec(line)?.[1])).toEqual([
      ...["user changed", "password set", "key added", "user added"],
    ]);
    expect(out).not.toContain(password.trim());
    expect(out).not.toContain(/secret=(.*)/.exec(key)?.[1] ?? "x");
    expect((await moor("user log --most 1")).out.split("\n")).toHaveLength(3);
  });

  it.each([
    ["user add --new anna --privilege everything", 2, /There is no privilege everything; choose from all, /],
    ["user add --new an/na", 2, /letters, digits/],
    ["user add --new anna --expires tomorrow", 2, /tomorrow is not a day/],
    ["user add --new anna --expires 2027-02-31", 2, /2027-02-31 is not a day/],
    ["user add --new anna --expires 2020-01-01", 2, /2020-01-01 is in the past; give the last day/],
    ["user change nobody --disable", 1, /There is no user nobody; moor user list/],
    ["user change anna --disable --enable", 2, /'--enable' cannot be used with option '--disable'/],
    ["user remove nobody", 1, /There is no user nobody/],
    ["user password nobody", 1, /There is no user nobody/],
    ["user log --most x", 2, /It must be a number/],
    ["key add --new --user nobody", 1, /There is no user nobody/],
    ["key add --new --privilege everything", 2, /There is no privilege everything/],
    ["user add --new anna --network 300.0.0.0/8", 2, /300\.0\.0\.0\/8 is not a network/],
    ["user change anna --network 192.0.2.0/24 --any-network", 2, /cannot be used with option/],
    ["ca", 1, /has no certificate authority yet/],
  ])("%s: %s", async (line, code, message) => {
    const ended = await moor(line);
    expect(ended).toMatchObject({ code });
    expect(ended.err).toMatch(message);
  });

  it("says that the name already exists", async () => {
    await moor("user add --new anna");
    expect(await moor("user add --new anna")).toMatchObject({ code: 1, err: expect.stringContaining("already") });
  });
});

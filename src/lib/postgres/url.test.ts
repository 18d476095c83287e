import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { passwordIn, readPostgresUrl } from "./url.ts";

const read = (text: string, env: Record<string, string> = {}, passwordFile?: string) => {
  const result = readPostgresUrl(text, { env: { HOME: "/nonexistent", ...env }, passwordFile });
  if (!result.ok) throw new Error(result.faults.map((fault) => fault.message).join());
  return result.value;
};
const passwordOf = async (...args: Parameters<typeof read>) => {
  const { password } = read(...args).config;
  return typeof password === "function" ? await password() : password;
};

describe("the address of a PostgreSQL database", () => {
  it.for([
    ["postgres://moor@db.example.org/dns", {}, "postgres://moor@db.example.org:5432/dns"],
    ["postgresql://moor@db:6543/dns", {}, "postgres://moor@db:6543/dns"],
    ["postgres://moor@[2001:db8::1]/dns", {}, "postgres://moor@[2001:db8::1]:5432/dns"],
    ["postgres://moor@/dns?host=/run/postgresql", {}, "postgres://moor@/run/postgresql:5432/dns"],
    ["postgres://moor@a,b:6543,[::1]/dns", {}, "postgres://moor@a:5432,b:6543,[::1]:5432/dns"],
    ["postgres://moor@a,b:2/dns", { PGPORT: "1" }, "postgres://moor@a:5432,b:2/dns"],
    ["postgres://moor@a:1,b/dns?port=7,8", {}, "postgres://moor@a:7,b:8/dns"],
    ["postgres://moor@/dns?host=a,b&port=7", {}, "postgres://moor@a:7,b:7/dns"],
    ["postgres:///dns", { PGHOST: "a,/run/pg", PGUSER: "u" }, "postgres://u@a:5432,/run/pg:5432/dns"],
    ["postgres:///dns", { PGHOST: "a,b", PGPORT: "1,2", PGUSER: "u" }, "postgres://u@a:1,b:2/dns"],
    ["postgres:///", { PGHOST: "h", PGUSER: "u", PGDATABASE: "d", PGPORT: "1" }, "postgres://u@h:1/d"],
  ] as const)("%s is shown in full", ([text, env, shown]) => {
    expect(read(text, env).shown).toBe(shown);
  });

  it.for([
    ["its own password", "postgres://moor:p%40ss@db/x", {}, "p@ss"],
    ["a password with a comma", "postgres://moor:p,w@db/x", {}, "p,w"],
    ["the password of several hosts", "postgres://moor:p,w@a,b/x", {}, "p,w"],
    ["the password in the environment", "postgres://moor@db/x", { PGPASSWORD: "env" }, "env"],
  ] as const)("uses %s, and does not show it", async ([, text, env, password]) => {
    expect(await passwordOf(text, env)).toBe(password);
    if (password) expect(JSON.stringify(read(text, env))).not.toContain(password);
  });

  it("says what to do if the server asks for a password and there is none", async () => {
    await expect(passwordOf("postgres://moor@db/x")).rejects.toThrow(
      /none is configured; give it in --database-password-file/,
    );
    const file = join(mkdtempSync(join(tmpdir(), "moor-password-")), "password");
    await expect(passwordOf("postgres://moor:url@db/x", {}, file)).rejects.toThrow(
      /the password file cannot be read: ENOENT.*password/,
    );
    writeFileSync(file, "\n");
    await expect(passwordOf("postgres://moor:url@db/x", {}, file)).rejects.toThrow(
      /password is empty; write the password to it$/,
    );
  });

  it.for([
    ["postgres://moor:100%@db/x", {}, "--database has a % that is not part of an escape: write %25"],
    ["postgres://moor@db/x", { PGPORT: "abc" }, "PGPORT must be a port from 1 to 65535"],
    ["postgres://moor@db/x", { PGSSLMODE: "prefer" }, "PGSSLMODE must be disable, require, verify-ca or verify-full"],
    ["postgres://moor@a,b,c/x?port=1,2", {}, "--database has 2 ports for 3 hosts"],
    ["postgres://moor@/x?host=a,b", { PGPORT: "1,2,3" }, "PGPORT has 3 ports for 2 hosts"],
    ["postgres://moor@a,b/x?host=c", {}, "--database has 2 ports for 1 hosts"],
    ["postgres://moor@a:1,b:x/x", {}, "--database has an invalid port; a port is from 1 to 65535"],
    ["postgres://a,b/x?target_session_attrs=standby", {}, "--database accepts target_session_attrs=any, "],
    ["postgres://a,b/x", { PGTARGETSESSIONATTRS: "read-only" }, "PGTARGETSESSIONATTRS accepts "],
    ["postgres://moor@db:0/x", {}, "--database has an invalid port; a port is from 1 to 65535"],
    ["postgres://db/x?sslmode=require&sslrootcert=system", {}, "sslrootcert=system only with sslmode=verify-full"],
    [
      "postgres://db/x?sslmode=require",
      { PGSSLROOTCERT: "system" },
      "PGSSLROOTCERT can be system only with sslmode=verify-full",
    ],
    ["postgres://db/x", { PGSSLROOTCERT: "/dev/null" }, "PGSSLROOTCERT names /dev/null, which contains no certificate"],
    ["postgres://db/x", { PGSSLCERT: "/nonexistent" }, "PGSSLCERT names a file that cannot be read: "],
    ["postgres://db/x?sslkey=/nonexistent", { PGSSLKEY: "/dev/null" }, "--database names a file that cannot be read"],
    ["postgres://moor@a/x?connect_timeout=9", {}, "moor does not know; remove it: connect_timeout"],
  ] as const)("%s with %j is a fault, with its place", ([text, env, expected]) => {
    const result = readPostgresUrl(text, { env });
    const faults = result.ok ? [] : result.faults.map(({ where, message }) => `${where} ${message}`);
    expect(faults).toEqual([expect.stringContaining(expected)]);
  });

  it("connects to each host as libpq would, and to the kind of server that is asked for", () => {
    const { config, others, session } = read("postgres://moor@db,127.0.0.1:6/x?target_session_attrs=read-write");
    expect(config).toMatchObject({ host: "db", port: 5432, ssl: { rejectUnauthorized: true } });
    expect(others).toMatchObject([{ host: "127.0.0.1", port: 6, ssl: false, user: "moor", database: "x" }]);
    expect([session, read("postgres://moor@db/x").session]).toEqual(["read-write", "any"]);
  });

  it("passes over a standby among several hosts, unless it was asked for any server", () => {
    // Otherwise a node would stay on the standby after a restart of the primary, and could not write any more.
    expect(read("postgres://moor@a,b/x").session).toBe("read-write");
    expect(read("postgres://moor@a,b/x?target_session_attrs=any").session).toBe("any");
  });

  it("uses the system's authorities under the name that libpq has for them", () => {
    const { ssl } = read("postgres://moor@db/x?sslrootcert=system").config;
    expect(ssl).toMatchObject({ rejectUnauthorized: true });
    expect(ssl).not.toHaveProperty("ca");
  });

  it("uses the password from the file first, and reads it each time", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "moor-password-")), "password");
    writeFileSync(file, "from file\n");
    expect(await passwordOf("postgres://moor:url@db/x", { PGPASSWORD: "env" }, file)).toBe("from file");
  });

  it.for([
    ["postgres://moor@db/x?sslmode=disable", false],
    ["postgres://moor@127.0.0.1/x", false],
    ["postgres://moor@/x?host=/run/postgresql&sslmode=prefer", false],
    ["postgres://moor@localhost/x?sslmode=require", { rejectUnauthorized: false }],
    ["postgres://moor@db/x?sslmode=verify-ca", { rejectUnauthorized: true, checkServerIdentity: expect.anything() }],
    ["postgres://moor@db/x", { rejectUnauthorized: true }],
  ] as const)("%s uses TLS as its sslmode says", ([text, ssl]) => {
    const given = read(text).config.ssl;
    if (ssl === false) expect(given).toBe(false);
    else expect(given).toMatchObject(ssl);
    if (text.endsWith("db/x")) expect(given).not.toHaveProperty("checkServerIdentity");
  });

  it.for([
    "mysql://moor@db/x",
    "nonsense with secret",
    "postgres://moor:secret@db/x?sslmode=maybe",
    "postgres://moor:secret@db/x?sslrootcert=/nonexistent",
    "postgres://moor:secret@db/x?sslrootcert=/dev/null",
    "postgres://moor:secret@db/x?colour=blue",
  ])("%s is refused without showing its content", (text) => {
    const result = readPostgresUrl(text, { env: {} });
    expect(result.ok).toBe(false);
    expect(JSON.stringify(result)).not.toContain("secret");
  });
});

describe("a passfile", () => {
  const key = { host: "db", port: 5432, database: "dns", user: "moor" };
  it.for([
    ["db:5432:dns:moor:yes", "yes"],
    ["# a comment\n\nother:*:*:*:no\n*:*:*:moor:yes", "yes"],
    ["db:5432:dns:moor:a\\:b\\\\c", "a:b\\c"],
    ["db:5432:dns:other:no", undefined],
    ["db:5432:dns:moor", undefined],
    ["", undefined],
  ] as const)("%j contains the password %j", ([text, password]) => {
    expect(passwordIn(text, key)).toBe(password);
  });
});

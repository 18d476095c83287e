import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runMoor } from "../../src/cli/program.ts";
import { builtProgram } from "../rig/bundle.ts";
import { openTerminal } from "../rig/cli/terminal.ts";
import { administer } from "../rig/moor.ts";
import { node } from "../rig/namespace.ts";
import { type PostgresServer, startPostgres } from "../rig/postgres.ts";
import { type StartedProcess, startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";

let server: PostgresServer;
let folder: string;
let url: string;
let service: StartedProcess;
let at: string;
let token: string;

beforeAll(async () => {
  server = await startPostgres();
  await server.createDatabase("moor");
  folder = mkdtempSync(join(tmpdir(), "moor-e2e-postgres-"));
  const given = new URL(server.url("moor"));
  writeFileSync(join(folder, "password"), `${given.password}\n`, { mode: 0o600 });
  given.password = "";
  url = given.href;
  service = start();
  await service.says(/listens on (https:\S+)/);
  at = /listens on (https:\S+)/.exec(service.out())?.[1] ?? "";
  token = (await administer(["token", "add", ...database()])).out.trim();
});
afterAll(async () => {
  await service?.stop();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const database = () => ["--database", url, "--database-password-file", join(folder, "password")];
function start(): StartedProcess {
  const words = ["--data", "data", "--listen", "127.0.0.1:0", "--rate-limit", "off"];
  return startProcess([node, builtProgram(), "records", ...database(), ...words], { cwd: folder });
}

async function curl(path: string, ...words: readonly string[]) {
  const ca = ["--cacert", join(folder, "data", "ca.pem")];
  const { stdout } = await promisify(execFile)("curl", ["-sS", "-i", ...ca, ...words, `${at}${path}`]);
  const [head = "", body = ""] = stdout.split("\r\n\r\n");
  return { status: Number(/^HTTP\/\S+ (\d+)/.exec(head)?.[1]), head: head.toLowerCase(), body };
}
const v1 = (path: string, ...words: readonly string[]) =>
  curl(`/api/v1${path}`, "-H", `Auth-API-Token: ${token}`, ...words);

describe("moor records --database", () => {
  it("serves what is written, also after a restart", async () => {
    const made = await v1("/zones", "-d", JSON.stringify({ name: "example.org", ttl: 60 }));
    expect(made.status).toBe(200);
    const zone = (JSON.parse(made.body) as { zone: { id: string } }).zone.id;
    const draft = { zone_id: zone, type: "A", name: "www", value: "192.0.2.1" };
    expect((await v1("/records", "-d", JSON.stringify(draft))).status).toBe(200);
    await service.stop();
    service = start();
    await service.says(/listens on (https:\S+)/);
    at = /listens on (https:\S+)/.exec(service.out())?.[1] ?? "";
    expect((await v1(`/records?zone_id=${zone}`)).body).toContain("192.0.2.1");
  });

  it("can be administered while it runs: a revoked token stops working", async () => {
    const { out } = await administer(["token", "add", ...database(), "--name", "guest"]);
    const guest = () => curl("/v1/zones", "-H", `Authorization: Bearer ${out.trim()}`);
    expect((await guest()).status).toBe(200);
    const list = await administer(["token", "list", "--json", ...database()]);
    const { id } = (JSON.parse(list.out) as { id: number; name: string }[]).find(({ name }) => name === "guest") ?? {};
    await administer(["token", "revoke", String(id), ...database()]);
    await until(async () => (await guest()).status === 401, { every: 200, what: () => "the token is still good" });
    expect((await administer(["sign-in", ...database()])).out).toMatch(/\/sign-in#\w{43}\n$/);
  });

  it("answers 503 with Retry-After while the database is down, in the shape of each API, and recovers automatically", async () => {
    await server.pause();
    const away = await Promise.all([
      v1("/zones"),
      curl("/v1/zones", "-H", `Authorization: Bearer ${token}`),
      curl("/nic/update?hostname=www.example.org", "-u", `x:${token}`),
      curl("/console/session", "-H", "cookie: __Host-moor-records=x"),
    ]);
    expect(away.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
    for (const { head } of away) expect(head).toMatch(/^retry-after: \d+\r?$/m);
    await server.resume();
    await until(async () => (await v1("/zones")).status === 200, { every: 200, what: () => "it has not recovered" });
    const logged = () =>
      service
        .err()
        .match(/the database (?:cannot be reached|is back)/g)
        ?.join("; ");
    // A connection that stayed open a moment longer may have been used, so the database may seem to be back in between.
    const once = "the database cannot be reached; the database is back";
    await expect.poll(logged).toMatch(new RegExp(`^${once}(?:; ${once})*$`));
  });

  it("never prints the password", () => {
    const password = readFileSync(join(folder, "password"), "utf8").trim();
    expect(service.out() + service.err()).not.toContain(password);
    expect(service.out()).toContain("token add --database postgres://postgres@127.0.0.1");
  });

  it.for<[string, number, RegExp, () => string, string]>([
    ["a wrong password", 1, /password authentication failed/, () => server.openUrl("moor"), "wr0ng"],
    ["no such database", 1, /database "nowhere" does not exist/, () => server.openUrl("nowhere"), "harbour"],
    ["no server", 1, /cannot be used: .*ECONNREFUSED/, () => "postgres://x@127.0.0.1:1/x", "wr0ng"],
    ["not a URL", 2, /--database is not a URL/, () => "postgres//x:wr0ng@y", ""],
    ["a password on the command line", 2, /give it in --database-password-file/, () => server.url(), ""],
  ])("says what is wrong with %s", async ([, code, reason, address, PGPASSWORD]) => {
    const { io, printed } = openTerminal(folder);
    const ended = await runMoor(["token", "list", "--database", address()], { ...io, env: { PGPASSWORD } });
    expect(printed.err).toMatch(reason);
    expect(printed.out + printed.err).not.toMatch(/harbour|wr0ng|at \w+ \(/);
    expect(ended).toBe(code);
  });
});

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { recordsDatabase } from "../../src/records/open-store.ts";
import { firstOf } from "../rig/long-run.ts";
import { environment as env } from "../rig/namespace.ts";
import { startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";
import { faultsIn, prepareData, valuesIn } from "./store-files.ts";
import { allowed, moor, type Sent, type Service, startService, startStorm } from "./storm.ts";

const zone = "disk.example";
let folder: string;
let ready: string;
let disk: string;
let token: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moor-full-"));
  [ready, disk] = [join(folder, "ready"), join(folder, "disk")];
  mkdirSync(ready);
  mkdirSync(disk);
  token = await prepareData(ready, zone);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** On a separate disk that nobody else sees, with the prepared data on it. */
const onDisk = (size: string, more = "true") => [
  ...["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"],
  ...[`mount -t tmpfs -o size=${size} none ${disk} && cp -a ${ready}/. ${disk} && ${more} && exec "$@"`, "sh"],
];

/** A command on that disk, after the shell commands `more`. */
const runOn = (more: string, words: readonly string[]) =>
  startProcess([...onDisk("12m", more), ...moor, ...words] as [string, ...string[]], { env }).ended;

/** Runs on that disk, beside the service. */
async function beside({ process: { pid } }: Service, script: string): Promise<void> {
  const enter = ["nsenter", "--user", "--mount", "--preserve-credentials", "--target", String(pid)] as const;
  const { code, err } = await startProcess([...enter, "sh", "-c", `cd ${disk} && ${script}`], { env }).ended;
  if (code !== 0) throw new Error(err);
}

const fill = "dd if=/dev/zero of=fill bs=4k 2>/dev/null; true";

it("a full disk refuses writes with the API's error, and reads are answered; writes are accepted when there is room; nothing is lost by a kill", async () => {
  const service = await startService(disk, onDisk("12m"));
  const storm = startStorm(service, token, zone, 0);
  const moreThanFifty = async (which: (sent: Sent) => boolean, what: string) => {
    const from = storm.sent.length;
    await until(() => storm.sent.slice(from).filter(which).length > 50, { what: () => `fifty ${what}` });
  };
  try {
    await moreThanFifty(isDone, "writes");
    await beside(service, fill);
    await until(() => storm.sent.some(isRefused), { what: () => "a write that is refused" });
    await moreThanFifty(isRefused, "more, without a hang");
    expect((await read(service)).statusCode).toBe(200);
    expect(await readiness(service)).toMatchObject({ ready: false, parts: { store: { ok: false } } });
    await beside(service, "rm fill");
    await moreThanFifty(isDone, "writes after there was room");
    await until(async () => (await readiness(service)).ready, { what: () => "a service that is ready again" });
    const refused = storm.sent.filter(isRefused).length;
    await beside(service, fill);
    await until(() => storm.sent.filter(isRefused).length > refused, { what: () => "another one that is refused" });
  } finally {
    await storm.stop();
  }
  for (const { status, body } of storm.sent.filter(isRefused)) {
    expect(status).toBe(503);
    expect(JSON.parse(body ?? "")).toMatchObject({
      error: { code: "unavailable", message: expect.stringMatching(/disk of the service/) },
    });
  }
  await expectKept(service, storm.sent);
});

it("a full disk is reported although nothing was written since", async () => {
  const service = await startService(disk, onDisk("12m"));
  expect(await readiness(service)).toMatchObject({ ready: true });
  await beside(service, fill);
  await until(async () => !(await readiness(service)).ready, { what: () => "a service that is not ready" });
  expect(await readiness(service)).toMatchObject({ parts: { store: { ok: false } } });
  await beside(service, "rm fill");
  await until(async () => (await readiness(service)).ready, { what: () => "a service that is ready again" });
  await service.process.stop("SIGKILL");
});

describe("a disk that was already full", () => {
  // At a terminal, it also tries to create a sign-in link. The rest of the start is the same.
  it.each(firstOf(["at a terminal ", ""]))(
    "does not prevent the start %safter a kill: reads are answered, and no password is set",
    async (terminal) => {
      const killed = await startService(ready);
      const storm = startStorm(killed, token, zone, 0);
      // After a hundred, the log may begin anew in the room that it has.
      await until(() => storm.sent.filter(isDone).length > 10, { every: 1, what: () => "ten writes" });
      await killed.process.stop("SIGKILL");
      await storm.stop();
      const full = onDisk("24m", `cp --sparse=never ${ready}/records.sqlite-shm ${disk} && (cd ${disk} && ${fill})`);
      const service = await startService(disk, full, terminal !== "");
      expect((await read(service)).statusCode).toBe(200);
      await service.process.says(/sign-in link for its console: .* sign-in/);
      expect(/sign-in link cannot be created now/.test(service.process.out())).toBe(terminal !== "");
      await service.process.stop();
    },
  );

  it.each([
    ["the start", ["records", "--listen", "127.0.0.1:0", "--plain-http"]],
    ["a check", ["store", "check"]],
  ])("stops %s with what to do, and does not suggest giving up the file", async (_, words) => {
    const { code, err } = await runOn(`(cd ${disk} && ${fill})`, [...words, "--data", disk]);
    expect(code).toBe(1);
    expect(err).toMatch(
      /records\.sqlite cannot be .*\n.*The disk is full or has errors; the file itself may be intact/,
    );
  });

  it.each<[string, () => readonly string[]]>([
    ["backup", () => ["store", "backup", join(disk, "b"), "--data", ready]],
    ["restore", () => ["store", "restore", recordsDatabase(ready), "--data", disk, "--move-aside"]],
    ["export", () => ["zone", "export", "--all", "--to", join(disk, "e"), "--data", ready]],
  ])("is reported by a %s with what to do, and nothing unfinished is left on it", async (_, words) => {
    // The files that SQLite leaves beside a database it has read are empty.
    const list = (to: string) => `ls -A ${disk} | grep -v 'sqlite-' > ${join(folder, to)}`;
    const andList = ["sh", "-c", `"$@"; code=$?; ${list("after")}; exit $code`, "sh"];
    const full = onDisk("12m", `(cd ${disk} && ${fill}) && ${list("before")}`);
    const { code, err } = await startProcess([...full, ...andList, ...moor, ...words()] as [string, ...string[]], {
      env,
    }).ended;
    expect(err).toMatch(/the folder .*disk\S* cannot be written: its disk is full; free some space/);
    expect(code).toBe(1);
    const [before, after] = ["before", "after"].map((name) => readFileSync(join(folder, name), "utf8"));
    expect(after).toBe(before);
  });
});

it("a disk without room for a second store is reported by compact, with what to do", async () => {
  const little = `(cd ${disk} && ${fill}; truncate -s -80k fill)`;
  const { code, err } = await runOn(little, ["store", "compact", "--data", disk]);
  expect(err).toMatch(
    /records\.sqlite was not compacted: a disk is full\. .*as much free space as the store.*SQLITE_TMPDIR.*Free some space/,
  );
  expect(code).toBe(1);
});

describe("a read-only disk", () => {
  const readOnly = (words: readonly string[]) => runOn(`mount -o remount,ro ${disk}`, words);

  it.each<[string, () => readonly string[]]>([
    ["backup", () => ["store", "backup", join(disk, "b"), "--data", disk]],
    ["copy", () => ["store", "copy", ready, join(disk, "c.sqlite")]],
  ])("refuses a %s, and says why", async (_, words) => {
    const { code, err } = await readOnly(words());
    expect({ code, err }).toEqual({ code: 1, err: `moor: the disk of ${disk} is read-only; choose another place.\n` });
  });

  it("stops the start immediately, with the reason", async () => {
    const { code, err } = await readOnly(["records", "--data", disk, "--listen", "127.0.0.1:0", "--plain-http"]);
    expect(code).toBe(1);
    expect(err).toMatch(/read-?only|EROFS|unable to open/i);
  });

  it("can be checked, and backed up to another disk", async () => {
    const checked = await readOnly(["store", "check", "--data", disk]);
    expect({ code: checked.code, err: checked.err }).toEqual({ code: 0, err: "" });
    const file = join(folder, "backup.sqlite");
    expect(await readOnly(["store", "backup", file, "--data", disk])).toMatchObject({ code: 0 });
    expect(await faultsIn(file)).toEqual([]);
  });
});

const isDone = ({ status }: Sent): boolean => status !== undefined && status < 300;
const isRefused = ({ status }: Sent): boolean => status !== undefined && status >= 300;

const read = ({ url }: Service) =>
  request(`${url}/v1/zones/${zone}/rrsets?per_page=10`, {
    headers: { authorization: `Bearer ${token}` },
    headersTimeout: 30_000,
  });

const readiness = async ({ url }: Service) =>
  (await (await request(`${url}/health/ready`, { headersTimeout: 30_000 })).body.json()) as {
    readonly ready: boolean;
    readonly parts: Readonly<Record<string, { readonly ok: boolean }>>;
  };

/** A copy of the files as they are when the service dies. */
async function expectKept(service: Service, sent: readonly Sent[]): Promise<void> {
  const copy = join(folder, "copy");
  mkdirSync(copy);
  // Paused, so that all files are from one moment, as after a power cut.
  service.process.child.kill("SIGSTOP");
  await beside(service, `cp -a ${disk}/records.sqlite* ${copy}`);
  await service.process.stop("SIGKILL");
  cpSync(copy, join(folder, "again"), { recursive: true });
  expect(await faultsIn(recordsDatabase(copy))).toEqual([]);
  const values = await valuesIn(recordsDatabase(copy));
  const lost = [...allowed(sent)].filter(([owner, may]) => !may.has(values.get(owner)));
  expect(lost.map(([owner, may]) => ({ owner, may: [...may], is: values.get(owner) }))).toEqual([]);
  expect(sent.filter(isDone).length).toBeGreaterThan(50);
  const restarted = await startService(join(folder, "again"));
  expect((await read(restarted)).statusCode).toBe(200);
  await restarted.process.stop();
}

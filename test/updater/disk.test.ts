import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { builtProgram } from "../rig/bundle.ts";
import { environment, node } from "../rig/namespace.ts";
import { startProcess } from "../rig/started-process.ts";
import { type Loop, openLoop } from "../rig/updater/loop.ts";
import { wanWith } from "../rig/updater/services.ts";

let loop: Loop;
let disk: string;
beforeEach(async () => {
  disk = mkdtempSync(join(tmpdir(), "moor-disk-"));
  loop = await openLoop(undefined, undefined, { settings: `state: "${disk}/state.json"` });
});
afterEach(async () => {
  await loop.close();
  rmSync(disk, { recursive: true, force: true });
});

/** A disk of 16 kB that only this process sees. `prepare` runs before moor, `look` after it. */
function onSmallDisk(prepare: string, look: string) {
  const moor = `${node} ${builtProgram()} update --once --config ${loop.folder}/moor.yaml`;
  const script = `mount -t tmpfs -o size=16k none ${disk} && cd ${disk} && ${prepare}; ${moor}; code=$?; ${look}; exit $code`;
  return startProcess(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script], {
    env: environment,
  }).ended;
}

it("reports a full disk, and the record is still correct", async () => {
  const { code, out } = await onSmallDisk("cat /dev/zero > fill 2>/dev/null", "ls");
  expect(code).toBe(1);
  // Both are saved together, after the last of them.
  expect(out).toMatch(/replaced by 2a00::9: the state file could not be written \(ENOSPC\).*free disk space/);
  expect(out).not.toMatch(/^state\.json$/m);
  expect(loop.records.find(({ id }) => id === "r4")?.value).toBe("9.9.9.9");
});

it("keeps the old state intact if there is no space for the new one", async () => {
  await loop.round();
  const old = readFileSync(loop.config.stateFile, "utf8");
  loop.says.firewall = () => ({ body: { wan0: wanWith(["9.9.9.10"], ["2a00::10"]) } });
  const restore = `printf '%s' '${old}' > state.json; cat /dev/zero > fill 2>/dev/null`;
  const { out } = await onSmallDisk(restore, "cat state.json");
  expect(out).toMatch(/ENOSPC/);
  expect(out).toContain(old.trim());
});

it("sends nothing if the state could never be stored: on a read-only disk", async () => {
  const { code, err } = await onSmallDisk(`mount -o remount,ro ${disk}`, "true");
  expect(code).toBe(1);
  expect(err).toMatch(/state file .* cannot be used: its folder cannot be written \(EROFS\)/);
  expect(loop.service.asked).toEqual([]);
});

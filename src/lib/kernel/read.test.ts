import { chmod, mkdtemp, writeFile } from "node:fs/promises";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { patience } from "../../../test/rig/patience.ts";
import { readKernel } from "./read.ts";

describe("readKernel", () => {
  const program = async (text: string) => {
    const path = join(await mkdtemp(join(tmpdir(), "moor-ip-")), "ip");
    await writeFile(path, `#!/bin/sh\n${text}\n`);
    await chmod(path, 0o755);
    return path;
  };

  it.each([
    ["`ip` fails", "echo 'Cannot open netlink socket: Permission denied' >&2; exit 1", patience, /netlink socket/],
    ["`ip` fails without an error", "exit 1", patience, /failed: it ended with code 1 and printed no error$/],
    ["`ip` prints no JSON", "echo hello", patience, /cannot parse the output/],
    ["`ip` prints nothing", "exit 0", patience, /cannot parse the output/],
    ["`ip` lists nothing", "echo '[]'", patience, /there is none that can be read/],
    ["`ip` hangs", "exec sleep 30", 300, /timed out after 300 ms/],
    ["`ip` never stops printing", "exec cat /dev/zero", patience, /maxBuffer/],
  ])("throws, and never returns an empty list, if %s", async (_, text, limit, message) => {
    const commands = [await program(text)];
    await expect(readKernel({ commands, limit })).rejects.toThrow(message);
  });

  it("stops when the signal aborts", async () => {
    const commands = [await program("exec sleep 30")];
    await expect(readKernel({ commands, signal: AbortSignal.timeout(50) })).rejects.toThrow(/stopped/);
  });

  it("tries the next path if there is no `ip` at the first", async () => {
    const commands = ["/nowhere/ip", await program(`echo '[{"ifname":"x0","flags":[],"addr_info":[]}]'`)];
    expect((await readKernel({ commands, limit: patience })).map(({ ifname }) => ifname)).toEqual(["x0"]);
  });

  it.each([
    ["there is no `ip`", async () => "/nowhere/ip"],
    ["`ip` is BusyBox's", () => program('echo "ip: unrecognized option: json" >&2; echo "BusyBox v1.36" >&2; exit 1')],
    ["`ip` is too old", () => program(`echo 'Option "-json" is unknown, try "ip -help".' >&2; exit 255`)],
  ])("uses Node's list if %s", async (_, command) => {
    const rows = await readKernel({ commands: [await command()], limit: patience });
    expect(rows.map(({ ifname }) => ifname)).toEqual(Object.keys(networkInterfaces()));
    expect(rows.length).toBeGreaterThan(0);
  });
});

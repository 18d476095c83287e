import { chmodSync, existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAddress } from "../../../../src/core/addresses/address.ts";
import type { SourceRig } from "../source-suite.ts";

/** A script in the config's folder. */
export function startCommand(folder: string): SourceRig {
  const file = join(folder, "address");
  const write = (script: string) => {
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  };
  const fault = (title: string, script: string, because: RegExp) => ({ title, because, begin: () => write(script) });
  const started = join(folder, "started");
  write("exit 0");
  return {
    entry: (timeout) => `{ kind: command, command: [./address, "two words"], timeout: ${timeout} }`,
    device: "internet",
    say({ ipv4, ipv6 }) {
      // A program does not name the family, so it cannot confuse them.
      if (ipv4.some((text) => parseAddress(text)?.family === "ipv6")) return false;
      writeFileSync(join(folder, "addresses"), [...ipv4, ...ipv6].map((text) => `${text}\n`).join(""));
      // With a child that goes on, and holds the output open.
      write('test "$1" = "two words" && cat addresses && { sleep 600 & }');
      return true;
    },
    faults: [
      { title: "is not there", begin: () => rmSync(file), because: /cannot be started \(ENOENT\)/ },
      { title: "may not run", begin: () => chmodSync(file, 0o644), because: /cannot be started \(EACCES\)/ },
      fault("fails", "echo no line >&2; exit 3", /failed with code 3: no line/),
      fault("prints nothing", "exit 0", /printed no address/),
      fault("prints something else", "echo 9.9.9.9; echo offline", /printed "offline", which is not an address/),
      fault("never stops", "exec cat /dev/zero", /more than 64 KiB/),
      fault("is killed", "kill -9 $$", /was killed/),
      { ...fault("is slow, with a child that has its output open", "sleep 60 & sleep 60", /within 1 s/), isSlow: true },
    ],
    stall: () => write(`echo $$ >> ${started}; sleep 60 & sleep 60`),
    stalled: () => (existsSync(started) ? readFileSync(started, "utf8").split("\n").length : 0),
    // Programs whose working folder is the config's.
    open: () => readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && cwdOf(pid) === folder).length,
    close: () => undefined,
  };
}

function cwdOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}

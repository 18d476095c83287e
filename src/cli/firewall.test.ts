import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { CommandIo } from "./command-io.ts";
import { firewall } from "./firewall.ts";
import { keyAdd } from "./key.ts";
import { curlForInterfaces } from "./try-lines.ts";

const run = promisify(execFile);

function terminal(cwd: string) {
  const stop = new AbortController();
  const text = { out: "", err: "" };
  const io: CommandIo = {
    program: "moor",
    out: (more) => {
      text.out += more;
    },
    err: (more) => {
      text.err += more;
    },
    env: {},
    cwd,
    signal: stop.signal,
  };
  return { io, text, stop };
}

describe("moor firewall", () => {
  it("prints lines that work when pasted, serves this machine, and stops when told to", async () => {
    const cwd = await mkdtemp(join(tmpdir(), "moor firewall it's "));
    const { io, text, stop } = terminal(cwd);
    const ended = firewall({ data: "data", listen: { host: "127.0.0.1", port: 0 }, name: [], logFormat: "text" }, io);
    await expect.poll(() => text.out).toContain("curl");
    expect(text.out).toMatch(/^The firewall status service listens on https:\/\/127\.0\.0\.1:\d+\n/);

    const [add = "", curl = ""] = text.out.split("\n").filter((line) => line.startsWith("  "));
    expect(add).toMatch(/^ {2}moor key add --data '.*' --to '.*firewall-key\.txt'$/);
    const to = join(cwd, "data", "firewall-key.txt");
    await keyAdd({ data: join(cwd, "data"), name: "test", privilege: ["interface-status"], to }, io);
    const { stdout } = await run("sh", ["-c", curl]);
    const report = JSON.parse(stdout) as Record<string, { ipv4: { ipaddr: string }[] }>;
    for (const [name, addresses = []] of Object.entries(networkInterfaces()))
      expect(report[name]?.ipv4.map(({ ipaddr }) => ipaddr)).toEqual(
        addresses.filter(({ family }) => family === "IPv4").map(({ address }) => address),
      );

    stop.abort();
    expect(await ended).toBe(0);
    await expect(run("sh", ["-c", curl])).rejects.toThrow(/curl/);
  });

  it("says what to do when the port is taken", async () => {
    const cwd = await mkdtemp(join(tmpdir(), "moor-firewall-"));
    const first = terminal(cwd);
    const ended = firewall(
      { data: "a", listen: { host: "127.0.0.1", port: 0 }, name: [], logFormat: "text" },
      first.io,
    );
    await expect.poll(() => first.text.out).toContain("curl");
    const port = Number(/:(\d+)\n/.exec(first.text.out)?.[1]);
    const second = firewall({ data: "b", listen: { host: "127.0.0.1", port }, name: [], logFormat: "text" }, first.io);
    await expect(second).rejects.toThrow(/in use .*--listen/);
    first.stop.abort();
    await ended;
  });

  it("keeps the secret off the command line", () => {
    const line = curlForInterfaces({ url: "https://fw.example:8443", caFile: "ca.pem", keyFile: "key.txt" });
    expect(line).toMatch(/^sed .* key\.txt \| curl -sS --config - --cacert ca\.pem https:\/\/fw\.example:8443\/api\//);
  });
});

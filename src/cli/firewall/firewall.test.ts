import { execFile } from "node:child_process";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { openServiceManager } from "../../../test/rig/systemd.ts";
import { ensureCertificate } from "../../lib/tls/certificates.ts";
import { curlForInterfaces } from "../io/try-lines.ts";
import { firewall } from "./firewall.ts";
import { keyAdd } from "./key.ts";

const run = promisify(execFile);

function terminal(cwd: string) {
  const stop = new AbortController();
  const { io, printed: text } = openTerminal(cwd, stop.signal);
  return { io, text, stop };
}

describe("moor firewall", () => {
  it.each([
    ["127.0.0.1", /^The firewall status service listens on https:\/\/127\.0\.0\.1:\d+\n/],
    ["0.0.0.0", /^The .* listens on https:\/\/127\.0\.0\.1:\d+, and on every other address of this machine\n/],
    ["::", /^The .* listens on https:\/\/\[::1\]:\d+, and on every other address of this machine\n/],
  ])("on %s prints lines that work when pasted, serves this machine, and stops on request", async (host, said) => {
    const cwd = await mkdtemp(join(tmpdir(), "moor firewall it's "));
    const { io, text, stop } = terminal(cwd);
    const ended = firewall(
      { data: "data", listen: { host, port: 0 }, name: [], logFormat: "text" },
      { ...io, isTerminal: true },
    );
    await expect
      .poll(() => text.out)
      .toMatch(/sign-in#\w{43}\nThe browser warns .* Import .*\/data\/ca\.pem, or continue anyway\.$/m);
    expect(text.out).toMatch(said);
    expect(text.out).not.toMatch(/\/\/(0\.0\.0\.0|\[::\])/);

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

  it("prints the command for a link, not the link, if the output may end up in a log", async () => {
    const { io, text, stop } = terminal(await mkdtemp(join(tmpdir(), "moor-firewall-")));
    const options = { data: "data", listen: { host: "127.0.0.1", port: 0 }, name: [], logFormat: "text" } as const;
    const ended = firewall(options, io);
    await expect
      .poll(() => text.out)
      .toMatch(/link for its pages: moor sign-in --firewall --data \S+ --url https:\S+\n$/);
    stop.abort();
    expect(await ended).toBe(0);
    expect(text.out).not.toContain("sign-in#");
  });

  it("notifies the service manager when it is ready and when it stops", async () => {
    const { io, text, stop } = terminal(await mkdtemp(join(tmpdir(), "moor-firewall-")));
    const { env, heard } = openServiceManager();
    const options = { data: "data", listen: { host: "127.0.0.1", port: 0 }, name: [], logFormat: "text" } as const;
    const ended = firewall(options, { ...io, env });
    await expect.poll(heard).toBe("--ready --status=serving this machine's interfaces\n");
    expect(text.out).toContain("listens on");
    stop.abort();
    expect(await ended).toBe(0);
    await expect.poll(heard).toMatch(/\n--stopping\n$/);
  });

  it("says what to do if the port is in use", async () => {
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

  it("hides and describes interfaces as configured, and uses the operator's own certificate", async () => {
    const cwd = await mkdtemp(join(tmpdir(), "moor-firewall-"));
    const own = await ensureCertificate(await mkdtemp(join(tmpdir(), "moor-own-")), ["own.test"], new Date());
    await writeFile(join(cwd, "own.pem"), own.cert);
    await writeFile(join(cwd, "own.key"), own.key);
    await writeFile(join(cwd, "names.yaml"), 'interfaces:\n  lo: { description: Inside }\n  "*": { hidden: true }\n');
    const { io, text, stop } = terminal(cwd);
    const listen = { host: "127.0.0.1", port: 0 };
    const options = { data: "data", listen, name: [], logFormat: "text", cert: "own.pem", key: "own.key" } as const;
    const ended = firewall({ ...options, config: "names.yaml" }, io);
    await expect.poll(() => text.out).toContain("curl");
    expect(text.out).toContain("Its certificate is ");
    await keyAdd({ data: "data", name: "all", privilege: ["all"], to: "key.txt" }, io);
    const url = /https:\S+:\d+/.exec(text.out)?.[0] ?? "";
    const line = curlForInterfaces({ url, caFile: own.caFile, keyFile: join(cwd, "key.txt") });
    const { stdout: names } = await run("sh", ["-c", line.replace("getinterfaceconfig", "get_interface_names")]);
    expect(names).toBe('{"lo":"Inside"}');
    expect(Object.keys(JSON.parse((await run("sh", ["-c", line])).stdout) as object)).toEqual(["lo"]);
    stop.abort();
    expect(await ended).toBe(0);
  });

  it.each([
    ["half a certificate", { cert: "own.pem" }, "", /go together/],
    ["a missing config", { config: "nothing.yaml" }, "", /There is no file nothing\.yaml/],
    [
      "a wrong config",
      {},
      "interfaces:\n  eth0: 7\n  lo: { hidden: true, hiden: true }\n",
      /firewall\.yaml:2:9: interface eth0 is a single value.*\n.*:3:\d+: interface lo has no setting "hiden"; did you mean/,
    ],
    ["a config that is a list", {}, "# mine\n- lo", /firewall\.yaml:2:1: .*firewall\.yaml is a list, not a mapping/],
    [
      "a repeated key",
      {},
      "interfaces:\n  lo: {}\n  lo: {}\n",
      /firewall\.yaml:3:3: this key is given twice; keep one/,
    ],
    [
      "a config that Windows saved as Unicode",
      {},
      "\uFEFFi\0n\0t\0:\0",
      /firewall\.yaml: it is not UTF-8; save it as UTF-8\n$/,
    ],
    ["a config that is not YAML", {}, "interfaces: {\n", /firewall\.yaml:2:1: this is not valid YAML: Flow map.*\n$/],
    [
      "an alias of nothing",
      {},
      "interfaces:\n  lo: *x\n",
      /firewall\.yaml:2:7: there is no anchor &x before this; correct the name/,
    ],
  ])("does not start with %s, and says why", async (_, more, config, message) => {
    const cwd = await mkdtemp(join(tmpdir(), "moor-firewall-"));
    await mkdir(join(cwd, "data"));
    if (config !== "") await writeFile(join(cwd, "data", "firewall.yaml"), config);
    const { io, text } = terminal(cwd);
    const options = { data: "data", listen: { host: "127.0.0.1", port: 0 }, name: [], logFormat: "text" } as const;
    expect(await firewall({ ...options, ...more }, io)).toBe(2);
    expect(text.err).toMatch(message);
  });

  it("keeps the secret off the command line", () => {
    const line = curlForInterfaces({ url: "https://fw.example:8443", caFile: "ca.pem", keyFile: "key.txt" });
    expect(line).toMatch(/^sed .* key\.txt \| curl -sS --config - --cacert ca\.pem https:\/\/fw\.example:8443\/api\//);
  });
});

import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtProgram } from "../rig/bundle.ts";
import { itInLongRuns } from "../rig/it-in-long-runs.ts";
import { firstOf } from "../rig/long-run.ts";
import { node, repository } from "../rig/namespace.ts";
import { startProcess } from "../rig/started-process.ts";
import { until } from "../rig/until.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "moor-e2e-start-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Which link each of them prints stands in records.test.ts and firewall.test.ts of src/cli, within one process. */
const verbs = firstOf(["firewall", "records"]);

const source = join(repository, "bin", "moor.ts");

describe("moor starts", () => {
  test("through a symbolic link to the script of a clone, as from a folder on the PATH", async () => {
    const link = join(folder, "moor");
    symlinkSync(join(repository, "bin", "moor"), link);
    const { code, out, err } = await startProcess([link, "--version"], { cwd: folder }).ended;
    expect([code, out, err]).toEqual([
      0,
      expect.stringMatching(/^\d+\.\d+\.\d+\S* \(commit [0-9a-f]{12}, Node 2\d\.\S+\)\n$/),
      "",
    ]);
  });

  test("only on a recent Node, and says so", async () => {
    const pretend = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.19.2" } })`;
    const old = ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`];
    const { code, err } = await startProcess([node, ...old, source, "--version"], { cwd: folder }).ended;
    expect([code, err]).toEqual([2, expect.stringMatching(/^moor needs Node 24 or newer, .* is 20\.19\.2; .*\n$/)]);
  });

  // packed.test.ts: what `moor token list` reads of the package is far less than the HTTP server.
  itInLongRuns(
    "a command that only opens the store without loading the HTTP server, which would take most of its time",
    async () => {
      const refuse =
        'import { registerHooks } from "node:module"; registerHooks({ resolve: (name, context, next) => { ' +
        'if (/^(fastify|typebox)/.test(name)) throw new Error(name + " was loaded"); return next(name, context); } });';
      const quick = [node, "--import", `data:text/javascript,${encodeURIComponent(refuse)}`, source] as const;
      const words = ["token", "add", "--new", "--data", "quick", "--to", "quick-token"];
      expect((await startProcess([...quick, ...words], { cwd: folder }).ended).err).not.toContain("was loaded");
      expect(existsSync(join(folder, "quick-token"))).toBe(true);
      const served = startProcess([...quick, "records", "--data", "quick"], { cwd: folder });
      expect((await served.ended).err).toContain("was loaded");
    },
  );

  test.each(verbs)("%s without a sign-in link in output that may end up in a log", async (verb) => {
    const printed = join(folder, `printed-${verb}`);
    const output = openSync(printed, "w");
    const service = startProcess([node, builtProgram(), verb, "--data", `data-${verb}`, "--listen", "127.0.0.1:0"], {
      cwd: folder,
      stdio: ["ignore", output, output],
    });
    closeSync(output);
    const said = () => readFileSync(printed, "utf8");
    await until(() => /sign-in link for its .*: .* sign-in/.test(said()), { what: said });
    await service.stop();
    expect(said()).not.toContain("sign-in#");
  });

  test.each(verbs)("%s with a sign-in link for the person at the terminal", async (verb) => {
    const words = `${node} ${builtProgram()} ${verb} --data terminal-${verb} --listen 127.0.0.1:0`;
    // A pseudo-terminal.
    const service = startProcess(["script", "--quiet", "--return", "--command", words, "/dev/null"], {
      cwd: folder,
      stdio: ["pipe", "pipe", "pipe"],
    });
    await service.says(/sign-in#\w{43}/);
    expect(service.out().match(/sign-in#/g)).toHaveLength(1);
    await service.stop();
  });
});

import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { patience } from "../../../test/rig/patience.ts";
import { startPostgres } from "../../../test/rig/postgres.ts";
import { openServiceManager } from "../../../test/rig/systemd.ts";
import { runMoor } from "../program.ts";

describe("moor records", () => {
  it.each([
    [
      "",
      /^ {2}https:\/\/127\.0\.0\.1:\d+\/sign-in#\w{43}\nThe browser warns .* Import .*\/moor-data\/ca\.pem, or continue anyway\.$/m,
    ],
    ["--plain-http", /15 minutes:\n {2}https:\/\/YOUR-PROXY\/sign-in#\w{43}$/m],
  ])("%s prints a sign-in link for the console, with https", async (option, link) => {
    const cwd = await mkdtemp(join(tmpdir(), "moor-records-"));
    const stop = new AbortController();
    let said = "";
    const out = (text: string) => {
      said += text;
    };
    const words = ["records", "--listen", "127.0.0.1:0", ...(option === "" ? [] : [option])];
    const io = { program: "moor", out, err: out, env: {}, cwd, isTerminal: true, signal: stop.signal };
    const ended = runMoor(words, io);
    await expect.poll(() => said).toContain("sign-in#");
    stop.abort();
    expect(await ended).toBe(0);
    expect(said).toMatch(link);
  });

  it("prints the command for a link, not the link, if the output may end up in a log", async () => {
    const { io, printed } = openTerminal(await mkdtemp(join(tmpdir(), "moor-records-")));
    const stop = new AbortController();
    const ended = runMoor(["records", "--listen", "127.0.0.1:0"], { ...io, signal: stop.signal });
    await expect.poll(() => printed.out).toMatch(/link for its console: moor sign-in --data \S+ --url https:\S+\n$/);
    stop.abort();
    expect(await ended).toBe(0);
    expect(printed.out).not.toContain("sign-in#");
  });

  it("notifies the service manager when it is ready and when it stops", async () => {
    const { io, printed } = openTerminal(await mkdtemp(join(tmpdir(), "moor-records-")));
    const { env, heard } = openServiceManager();
    const stop = new AbortController();
    const words = ["records", "--listen", "127.0.0.1:0", "--dns", "127.0.0.1:0"];
    const ended = runMoor(words, { ...io, env, signal: stop.signal });
    await expect.poll(heard).toBe("--ready --status=serving its zones\n");
    expect(printed.out).toContain("The nameserver listens on");
    stop.abort();
    expect(await ended).toBe(0);
    await expect.poll(heard).toMatch(/\n--stopping\n$/);
  });

  it.each(["192.0.2.1", "192.0.2.1.", "2001:db8::1"])("refuses an address as a nameserver: %s", async (text) => {
    const { io, printed } = openTerminal(await mkdtemp(join(tmpdir(), "moor-records-")));
    const running = { ...io, signal: AbortSignal.timeout(patience) };
    expect(await runMoor(["records", "--listen", "127.0.0.1:0", "--nameserver", text], running)).toBe(2);
    expect(printed.err).toBe(`--nameserver: ${text} is an address; give a name, such as ns1.example.org\n`);
  });

  it("refuses a certificate without TLS instead of ignoring it", async () => {
    const { io, printed } = openTerminal(await mkdtemp(join(tmpdir(), "moor-records-")));
    expect(await runMoor(["records", "--plain-http", "--cert", "own.pem", "--key", "own.key"], io)).toBe(2);
    expect(printed.err).toContain("option '--plain-http' cannot be used with option '--cert <file>'");
  });

  it.each([
    ["0.0.0.0:0", true],
    ["[::]:0", true],
    ["127.0.0.1:0", false],
    ["127.8.8.8:0", false],
    ["localhost:0", false],
    ["[::1]:0", false],
  ])("--plain-http on %s warns about unencrypted secrets: %s", async (listen, warns) => {
    const { io, printed } = openTerminal(await mkdtemp(join(tmpdir(), "moor-records-")));
    const stop = new AbortController();
    const ended = runMoor(["records", "--listen", listen, "--plain-http"], { ...io, signal: stop.signal });
    await expect.poll(() => printed.out).toContain("moor sign-in");
    stop.abort();
    expect(await ended).toBe(0);
    expect(printed.out.includes("not encrypted on this port")).toBe(warns);
  });

  it("stops if a newer moor has upgraded the database", async () => {
    const server = await startPostgres();
    try {
      const { io, printed } = openTerminal(await mkdtemp(join(tmpdir(), "moor-records-")));
      const ended = runMoor(["records", "--listen", "127.0.0.1:0", "--database", server.openUrl()], {
        ...io,
        env: server.env,
      });
      await expect.poll(() => printed.out).toContain("moor sign-in");
      const client = await server.connect();
      await client.query("UPDATE schema_version SET taken = 99, oldest = 99");
      await client.end();
      expect(await ended).toBe(1);
      expect(printed.err).toMatch(
        /^moor: the database .* a newer moor \(schema 99; .*start the newer version instead/m,
      );
    } finally {
      await server.stop();
    }
  });
});

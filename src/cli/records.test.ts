import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runMoor } from "./program.ts";

describe("moor records", () => {
  it.each([
    ["", /^ {2}https:\/\/127\.0\.0\.1:\d+\/sign-in#\w{43}$/m],
    ["--plain-http", /^ {2}https:\/\/YOUR-PROXY\/sign-in#\w{43}$/m],
  ])("%s prints a link by which the console can be signed in to, which needs TLS", async (option, link) => {
    const cwd = await mkdtemp(join(tmpdir(), "moor-records-"));
    const stop = new AbortController();
    let said = "";
    const out = (text: string) => {
      said += text;
    };
    const words = ["records", "--listen", "127.0.0.1:0", ...(option === "" ? [] : [option])];
    const ended = runMoor(words, { program: "moor", out, err: out, env: {}, cwd, signal: stop.signal });
    await expect.poll(() => said).toContain("sign-in#");
    stop.abort();
    expect(await ended).toBe(0);
    expect(said).toMatch(link);
  });
});

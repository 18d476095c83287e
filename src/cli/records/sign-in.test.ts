import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { runMoor } from "../program.ts";
import { signIn } from "./sign-in.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moor-sign-in-"));
  const { io } = openTerminal(folder);
  for (const kind of ["token", "key"]) await runMoor([kind, "add", "--new", "--data", "."], io);
});
afterAll(() => rm(folder, { recursive: true }));

async function run(options: { readonly firewall?: boolean; readonly account?: string; readonly url?: string }) {
  const { io, printed } = openTerminal(folder);
  const code = await signIn({ data: ".", ...options }, io);
  return { code, ...printed };
}

describe("moor sign-in", () => {
  it.for([
    ["the DNS console", {}, /^https:\/\/127\.0\.0\.1:8053\/sign-in#\w{43}\n$/],
    ["the DNS console of another account", { account: "other" }, /^https:\/\/127\.0\.0\.1:8053\/sign-in#\w{43}\n$/],
    ["the firewall's pages", { firewall: true }, /^https:\/\/127\.0\.0\.1:8443\/sign-in#\w{43}\n$/],
    ["pages elsewhere", { url: "https://dns.example.org/zones" }, /^https:\/\/dns\.example\.org\/sign-in#\w{43}\n$/],
  ] as const)("prints a link to %s, and nothing else on standard output", async ([, options, link]) => {
    const { code, out, err } = await run(options);
    expect(code).toBe(0);
    expect(out).toMatch(link);
    expect(err).toContain("within 15 minutes");
  });

  it.for([
    ["an account", {}, /Created the account mian, which did not exist yet/],
    ["a user of the firewall", { firewall: true }, /Created the user mian, who did not exist yet.*all privileges/],
  ] as const)("says when it creates %s, and only then", async ([, options, made]) => {
    expect((await run({ ...options, account: "mian" })).err).toMatch(made);
    expect((await run({ ...options, account: "mian" })).err).not.toMatch(/did not exist/);
  });

  it("says what is wrong with a URL", async () => {
    expect(await run({ url: "nowhere" })).toMatchObject({ code: 2, out: "", err: expect.stringContaining("--url") });
  });
});

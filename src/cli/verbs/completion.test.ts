import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { openTerminal } from "../../../test/rig/cli/terminal.ts";
import { runMoor } from "../program.ts";
import { namesIn } from "./suggest.ts";

async function completion(...words: readonly string[]): Promise<string> {
  const { io, printed } = openTerminal("/");
  expect(await runMoor(["complete", ...words], io)).toBe(0);
  return printed.out;
}

describe("completion", () => {
  it("suggests verbs and options, and then no files", async () => {
    expect(await completion("--", "stor")).toMatch(/^store\t.*\n:4\n$/);
    expect(await completion("--", "token", "add", "--dat")).toMatch(/^--data.*\n:4\n$/m);
  });

  it.each([
    ["the value of an option", ["update", "--config", ""]],
    ["an argument", ["store", "backup", ""]],
  ])("leaves %s to the shell, which knows files", async (_, words) => {
    expect(await completion("--", ...words)).toBe(":0\n");
  });

  it("knows record types, kinds of sources and services, by the names that people know", async () => {
    expect(await completion("--", "record", "set", "home.example.org", "AA")).toBe("AAAA\t\n:4\n");
    expect(await completion("--", "init", "--kind", "fr")).toBe("fritzbox\tFRITZ!Box\n:4\n");
    expect(await completion("--", "init", "--api", "clou")).toBe("cloudflare\tCloudflare\ncloudns\tClouDNS\n:4\n");
  });

  it("leaves a zone to the user if there is no service to ask", async () => {
    expect(await completion("--", "zone", "export", "")).toBe(":0\n");
  });

  it.for([
    ["", "example.org", ["example.org"]],
    ["exa", "example.org", ["example.org"]],
    ["home", "example.org", []],
    ["home.", "example.org", ["home.example.org"]],
    ["a.b.ex", "example.org", ["a.b.example.org"]],
    ["home.example.org", "example.org", ["home.example.org"]],
    ["org", "example.org", []],
  ] as const)("continues the name %j in the zone %s", ([typed, zone, names]) => {
    expect(namesIn(typed, zone)).toEqual(names);
  });

  it("can be sourced twice in bash, and leaves file names to it", async () => {
    const script = await completion("bash");
    const twice = `set -e\neval "$SCRIPT"\neval "$SCRIPT"\ncomplete -p moor`;
    const env = { ...process.env, SCRIPT: script };
    expect(execFileSync("bash", ["-c", `{ ${twice}\n} 2>&1`], { env, encoding: "utf8" })).toBe(
      "complete -o default -F __moor_complete moor\n",
    );
  });
});

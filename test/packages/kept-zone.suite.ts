import { expect, it } from "vitest";
import type { Namespace } from "../rig/namespace.ts";
import type { StartedProcess } from "../rig/started-process.ts";

/** A record service as it is packaged, in a network where nothing else runs. */
export type Packaged = {
  readonly inside: Namespace;
  /** Starts `moor records` with its API on port 8053, DNS on port 5300 and metrics on port 9054 of 127.0.0.1. */
  start(): StartedProcess;
  /** Kills it as a power cut would, with all of its processes. */
  kill(service: StartedProcess): Promise<void>;
  /** Runs a command of moor on the same data and returns its output. */
  moor(...words: readonly string[]): Promise<string>;
};

export function keptZoneSuite(packaged: () => Packaged): void {
  const fetched = async (...words: string[]) => {
    const { code, out, err } = await packaged().inside.run(["curl", "-sSkf", ...words]);
    if (code !== 0) throw new Error(err);
    return out;
  };
  const soa = async () =>
    (await packaged().inside.run(["dig", "+short", "-p", "5300", "@127.0.0.1", "home.test", "SOA"])).out;

  it("serves pages, API and DNS, and keeps its zones when it is killed", async () => {
    const service = packaged().start();
    await service.says(/The nameserver listens/);
    const token = (await packaged().moor("token", "add")).trim().split("\n").at(-1) ?? "";
    const authorized = ["-H", `Auth-API-Token: ${token}`, "https://127.0.0.1:8053/api/v1/zones"];
    await fetched("-H", "Content-Type: application/json", "-d", '{"name":"home.test"}', ...authorized);
    expect(await soa()).toMatch(/^\S+ \S+ \d+ \d+ \d+ \d+ \d+\n$/);
    const page = await fetched("https://127.0.0.1:8053/");
    const [, script = ""] = /src="(\/assets\/[^"]+\.js)"/.exec(page) ?? [];
    expect(await fetched(`https://127.0.0.1:8053${script}`)).not.toBe("");
    const before = await soa();
    await packaged().kill(service);
    expect(await soa()).toContain("connection refused");

    const again = packaged().start();
    await again.says(/The nameserver listens/);
    expect(await soa()).toBe(before);
    expect(await fetched(...authorized)).toContain('"home.test"');
    expect(JSON.parse(await fetched("http://127.0.0.1:9054/health/ready"))).toMatchObject({ ready: true });
    expect((await again.stop("SIGTERM")).code).toBe(0);
  });
}

import { describe, expect, it, onTestFinished } from "vitest";
import { createLog } from "../../process/log.ts";
import type { ApiKey } from "../access/keys.ts";
import type { EndpointName } from "../access/privileges.ts";
import { createAuthorising } from "./authorise.ts";

const now = new Date("2026-11-15T12:00:00Z");
const good: ApiKey = { key: "good", name: "router", privileges: ["gateways"], created: now };

function rig() {
  const logged: Record<string, unknown>[] = [];
  const log = createLog({ format: "json", write: (line) => logged.push(JSON.parse(line)) });
  const check = (key: string, secret: string) => (`${key}:${secret}` === "good:right" ? good : undefined);
  const whyRefused = (_: string, secret: string) =>
    secret === "late" ? ({ kind: "expired", name: "router" } as const) : ({ kind: "unknown" } as const);
  const authorise = createAuthorising({ check, whyRefused }, log, () => now);
  const hangUp = new AbortController();
  onTestFinished(() => hangUp.abort());
  const ask = (from: string, secret: string, endpoint: EndpointName = "routes/gateway/status") => {
    const authorization = `Basic ${Buffer.from(`good:${secret}`).toString("base64")}`;
    return authorise({ url: `/api/${endpoint}`, authorization, endpoint, from, gone: hangUp.signal });
  };
  return { logged, ask };
}

const ten = Array.from({ length: 10 }, (_, i) => i);

describe("calls with a key", () => {
  it("that is valid pass if it has the privilege, and are logged if not", async () => {
    const { logged, ask } = rig();
    expect(await ask("192.0.2.1", "right")).toEqual({ kind: "key", key: good });
    expect(logged).toEqual([]);
    expect(await ask("192.0.2.1", "right", "core/firmware/status")).toMatchObject({ answer: { status: 403 } });
    expect(logged).toMatchObject([{ from: "192.0.2.1", endpoint: "core/firmware/status", name: "router" }]);
  });

  it("that is wrong get their refusal after the delay, however many there are", async () => {
    const { ask } = rig();
    const same = await Promise.all(ten.map(() => ask("192.0.2.2", "wrong")));
    expect(same).toMatchObject(ten.map(() => ({ answer: { status: 401 } })));
  });

  it("of an expired user get the same response as a wrong key, and are logged with the reason", async () => {
    const { logged, ask } = rig();
    expect(await ask("192.0.2.1", "late")).toEqual(await ask("192.0.2.2", "wrong"));
    expect(logged).toMatchObject([
      { msg: "call refused: the user has expired", name: "router" },
      { msg: "call refused: unknown key or wrong secret" },
    ]);
    expect(logged[1]).not.toHaveProperty("name");
  });

  it("that are refused do not fill the disk with log lines, wherever they come from", async () => {
    const { logged, ask } = rig();
    for (let i = 0; i < 200; i++) void ask(`192.0.2.${i}`, "wrong");
    for (let i = 0; i < 200; i++) await ask("198.51.100.1", "right", "core/firmware/status");
    expect(logged).toHaveLength(60);
  });

  it("that is wrong do not fill the disk with log lines", async () => {
    const { logged, ask } = rig();
    for (const _ of ten) void ask("192.0.2.1", "wrong");
    expect(logged.map(({ failures }) => failures)).toEqual([1, 2, 4, 8]);
  });
});

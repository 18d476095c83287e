import { describe, expect, it } from "vitest";
import { createLog } from "./log.ts";

function lines(format: "text" | "json") {
  const written: string[] = [];
  return { log: createLog({ format, write: (line) => written.push(line) }), written };
}

describe("a log line", () => {
  it("for people has the time of day, the level, the message and its fields", () => {
    const { log, written } = lines("text");
    log.warn({ source: "home", because: "connection refused" }, "address could not be read");
    expect(written[0]).toMatch(
      /^\d\d:\d\d:\d\d warn {2}address could not be read {2}source=home because="connection refused"\n$/,
    );
  });

  it("has dates in ISO 8601, and leaves out what is undefined", () => {
    for (const format of ["text", "json"] as const) {
      const { log, written } = lines(format);
      log.info({ since: new Date(0), found: undefined }, "waiting");
      expect(written[0]).toContain("1970-01-01T00:00:00.000Z");
      expect(written[0]).not.toContain("found");
    }
  });

  it("for people has the message of an error", () => {
    const { log, written } = lines("text");
    log.error({ err: new Error("disk full") }, "a request failed");
    expect(written[0]).toContain('a request failed  error="disk full"');
  });

  it("for programs has the message of an error, its cause, and the fields that the system added", () => {
    const { log, written } = lines("json");
    const cause = new TypeError("no netlink");
    log.error({ err: Object.assign(new Error("disk full", { cause }), { code: "ENOSPC" }) }, "a request failed");
    const { err } = JSON.parse(written[0] ?? "");
    expect(err).toMatchObject({ type: "Error", code: "ENOSPC", message: "disk full: no netlink" });
    expect(err.stack).toMatch(/^Error: disk full\n[\s\S]*\ncaused by: TypeError: no netlink\n/);
  });

  it("below the lowest level is not written", () => {
    const written: string[] = [];
    const log = createLog({ format: "json", level: "warn", write: (line) => written.push(JSON.parse(line).level) });
    for (const level of ["info", "warn", "error"] as const) log[level]("it was");
    expect(written).toEqual(["warn", "error"]);
  });

  it("for programs is one JSON object", () => {
    const { log, written } = lines("json");
    log.info({ port: 53 }, "listens");
    expect(JSON.parse(written[0] ?? "")).toMatchObject({ level: "info", port: 53, msg: "listens" });
  });

  it.each(["text", "json"] as const)("as %s shows no secret, even in an object inside a field", (format) => {
    const { log, written } = lines(format);
    log.info({ token: "abc123", headers: { "auth-api-token": "abc123", authorization: "abc123" } }, "a request");
    expect(written[0]).toContain("(hidden)");
    expect(written[0]).not.toContain("abc123");
  });
});

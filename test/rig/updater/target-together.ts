import { expect, it, test } from "vitest";
import type { ReplaceRequest } from "../../../src/updater/targets/target.ts";
import type { Asked, Reply } from "./services.ts";
import { never, request, type TargetRig } from "./target-faults.ts";

export type TogetherCase = {
  readonly ttl: number;
  readonly error: ((status: number, message: string) => Reply) | undefined;
  readonly isWrite?: (asked: Asked) => boolean;
};

/** What every target must do that writes several records in one transaction. `first`: what the zone holds before. */
export function describeTogether(
  rig: TargetRig,
  first: readonly string[],
  { ttl, error, isWrite = ({ method }) => method !== "GET" }: TogetherCase,
): void {
  const both: readonly ReplaceRequest[] = [request, { ...request, name: "other", value: "9.9.9.8" }];
  const missing = { ...request, name: "new", value: "9.9.9.7" };
  const replaceAll = async (requests: readonly ReplaceRequest[]) => (await rig.dns.replaceAll?.(requests, never)) ?? [];
  const kindsAfter = async (requests: readonly ReplaceRequest[]) =>
    (await replaceAll(requests)).map(({ kind }) => kind);
  const written = [`home ${ttl} A 9.9.9.9`, `other ${ttl} A 9.9.9.8`];
  const kept = first.filter((line) => !/^\S+ \S+ A /.test(line));
  const writes = () => rig.server.asked.filter(isWrite).length;

  it("replaces several addresses in one write, and keeps everything else", async () => {
    expect(await kindsAfter(both)).toEqual(["done", "done"]);
    expect(await rig.peer.held()).toEqual([...kept, ...written].toSorted());
    if (error) expect(writes()).toBe(1);
    expect(await kindsAfter(both)).toEqual(["done", "done"]);
    if (error) expect(writes()).toBe(1);
  });

  it("a missing record is created only if that is ordered, and does not stop the others", async () => {
    expect(await kindsAfter([missing, ...both])).toEqual(["refused", "done", "done"]);
    expect(await rig.peer.held()).toEqual([...kept, ...written].toSorted());
    const [made] = await replaceAll([
      { ...missing, create: true, ttl },
      { ...request, value: "9.9.9.6" },
    ]);
    expect(made?.kind).toBe("done");
    const now = [`home ${ttl} A 9.9.9.6`, `new ${ttl} A 9.9.9.7`, `other ${ttl} A 9.9.9.8`];
    expect(await rig.peer.held()).toEqual([...kept, ...now].toSorted());
  });

  it("writes nothing to a missing zone, and says so for each record", async () => {
    const outcomes = await replaceAll(both.map((each) => ({ ...each, zone: "example.net" })));
    expect(outcomes.map(({ kind }) => kind).every((kind) => ["refused", "alone"].includes(kind))).toBe(true);
  });

  if (!error) return;
  test.each<[string, string, Reply]>([
    ["422", "alone", error(422, "no")],
    ["403", "alone", error(403, "no")],
    ["429", "refused", { ...error(429, "slowly"), headers: { "retry-after": "7" } }],
    ["503", "unknown", error(503, "oops")],
    ["a broken connection", "unknown", { fault: "reset" }],
  ])("after %s to the write, each is %s", async (_, kind, reply) => {
    rig.instead = (asked) => (isWrite(asked) ? reply : undefined);
    const outcomes = await replaceAll(both);
    expect(outcomes.map((each) => each.kind)).toEqual([kind, kind]);
    if (kind === "refused")
      for (const each of outcomes) expect(each).toMatchObject({ fault: { kind: "later", retryAfter: 7_000 } });
    expect(await rig.peer.held()).toEqual([...first].toSorted());
  });

  it("a success counts only if the records hold the addresses", async () => {
    let earlier: Reply | undefined;
    rig.instead = async (asked) => {
      if (!isWrite(asked)) return undefined;
      earlier = await rig.peer.reply?.(asked);
      return earlier;
    };
    await replaceAll(both);
    rig.instead = (asked) => (isWrite(asked) ? earlier : undefined);
    const others = both.map((each) => ({ ...each, value: "9.9.9.1" }));
    expect(await kindsAfter(others)).toEqual(["unknown", "unknown"]);
  });
}

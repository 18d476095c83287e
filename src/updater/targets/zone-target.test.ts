import { describe, expect, it } from "vitest";
import type { WriteAnswer } from "../../providers/answers/write-answer.ts";
import type { ReplaceRequest, TargetFault } from "./target.ts";
import { createZoneTarget, type ZoneCalls } from "./zone-target.ts";

describe("more records than fit into one transaction", () => {
  const requests = ["a", "b", "c", "d", "e"].map(
    (name): ReplaceRequest => ({ zone: "example.org", name, family: "ipv6", value: "2a00::1" }),
  );
  /** A service with room for two changes; `answers` are those to the writes, in order. */
  async function replaceAll(...answers: readonly WriteAnswer<undefined>[]) {
    const stored = new Map(requests.map(({ name }) => [name, "2001:db8::1"]));
    const written: string[] = [];
    const { signal } = new AbortController();
    const calls: Partial<ZoneCalls<undefined>> = {
      service: "the service",
      readAll: async (sets) =>
        sets.map(({ name }) => ({
          kind: "found",
          value: { values: [stored.get(name) ?? ""], ttl: 60, raw: undefined },
        })),
      async writeAll(changes) {
        const answer = answers[written.length] ?? { kind: "accepted", value: undefined };
        written.push(changes.map(({ set }) => set.name).join("+"));
        if (answer.kind === "accepted") for (const { set, content } of changes) stored.set(set.name, content.value);
        return answer;
      },
      batch: { sizeOf: () => 1, most: 2 },
    };
    const outcomes = await createZoneTarget(calls as ZoneCalls<undefined>).replaceAll?.(requests, signal);
    return [written.join(" "), outcomes?.map(({ kind }) => kind).join(" ")];
  }
  const fault = (more: Partial<TargetFault> = {}): TargetFault => ({
    kind: "refused",
    because: "no",
    todo: "look",
    ...more,
  });
  const accepted = { kind: "accepted", value: undefined } as const;

  it("take as few as possible", async () => {
    expect(await replaceAll()).toEqual(["a+b c+d e", "done done done done done"]);
  });

  it("are all sent even if one transaction is refused: only its own records have to be written alone", async () => {
    const refused = { kind: "refused", because: fault() } as const;
    expect(await replaceAll(accepted, refused)).toEqual(["a+b c+d e", "done done alone alone done"]);
  });

  it("are not sent after the service asked to wait", async () => {
    const wait = { kind: "refused", because: fault({ kind: "later", retryAfter: 5_000 }) } as const;
    expect(await replaceAll(accepted, wait)).toEqual(["a+b c+d", "done done refused refused refused"]);
  });

  it("are not sent after the service did not answer", async () => {
    const silence = { kind: "unknown", fault: fault({ unreached: true }), probablyDone: false } as const;
    expect(await replaceAll(silence)).toEqual(["a+b", "unknown unknown refused refused refused"]);
  });
});

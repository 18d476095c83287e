import { describe, expect, it } from "vitest";
import { createQuorumReader, type EchoAnswer, type EchoService } from "./address-quorum.ts";
import type { SourceReading } from "./source.ts";

/** One letter per service, in the order in which they were asked. */
function hearing(answers: readonly (string | Error)[], agree = 2, ipv6: readonly string[] = []) {
  const asked: string[] = [];
  const serviceOf = (answer: string | Error, at: number): EchoService => ({
    name: "abcdef"[at] ?? "",
    async ask(): Promise<EchoAnswer> {
      asked.push("abcdef"[at] ?? "");
      return typeof answer === "string"
        ? { kind: "answered", text: answer }
        : { kind: "failed", because: answer.message };
    },
  });
  const services = { ipv4: answers.map(serviceOf), ipv6: ipv6.map((answer) => serviceOf(answer, 5)) };
  const wanted = ipv6.length > 0 ? (["ipv4", "ipv6"] as const) : (["ipv4"] as const);
  const askFamily = createQuorumReader({ services, agree, wanted, todo: "ask others" });
  return { asked, read: () => askFamily(new AbortController().signal) };
}

const found = (reading: SourceReading) =>
  reading.kind === "report" ? reading.report.get("internet")?.ipv4[0]?.text : `unknown: ${reading.because}`;
const [right, lie, gone] = ["9.9.9.9", "8.8.8.8", new Error("did not answer")];

describe("services of the address", () => {
  it.each<[string, readonly (string | Error)[], number, string, string]>([
    ["two that agree", [right, right, lie], 2, "ab", right],
    ["a third, if one of two lies", [right, lie, right, right], 2, "abcd", right],
    ["a third, if one of two is gone", [gone, right, right], 2, "abc", right],
    ["only one, if that is enough", [right, lie], 1, "a", right],
    ["three, if three must agree", [right, right, lie, right], 3, "abcd", right],
    ["all, and believes no single one", [right, gone, lie], 2, "abc", "unknown: 2 of 3 must agree"],
    ["all, and believes neither of two pairs", [right, lie, right, lie], 2, "abcd", "unknown: 2 of 4 must agree"],
    [
      "all, and believes no text",
      ["offline", "offline"],
      2,
      "ab",
      'unknown: .*"offline", which is not an IPv4 address',
    ],
    ["all, and believes no address of the other family", ["2a00::1", "2a00::1"], 2, "ab", "unknown: .*not an IPv4"],
    [
      "nobody, if there are too few",
      [right],
      2,
      "a",
      "unknown: fewer than 2 servers that can report an IPv4 address are listed",
    ],
  ])("asks %s", async (_, answers, agree, order, expected) => {
    const { asked, read } = hearing(answers, agree);
    expect(found(await read())).toMatch(new RegExp(`^${expected}`));
    expect(asked.join("")).toBe(order);
  });

  it("takes turns, so that none is asked each time", async () => {
    const { asked, read } = hearing([right, right, right]);
    for (const pair of ["ab", "bc", "ca", "ab"]) {
      expect(found(await read())).toBe(right);
      expect(asked.splice(0).join("")).toBe(pair);
    }
  });

  it("hears the families separately", async () => {
    expect(await hearing([right, right], 2, ["2a00::1", "2a00::2"]).read()).toMatchObject({
      kind: "report",
      report: new Map([["internet", { device: "internet", ipv4: [{ text: right }], ipv6: [] }]]),
      unknown: { ipv6: { because: expect.stringMatching(/f said 2a00::1, f said 2a00::2/), todo: "ask others" } },
    });
  });

  it("treats different texts of one address as equal", async () => {
    const reading = await hearing([lie, gone], 2, ["2A00:0::1", "2a00::1"]).read();
    expect(reading.kind === "report" && reading.report.get("internet")?.ipv6[0]?.text).toBe("2a00::1");
  });

  it("keeps its message short, whatever was said", async () => {
    const { read } = hearing(Array.from({ length: 6 }, (_, at) => `${at}${"x".repeat(100_000)}`));
    const reading = await read();
    expect(JSON.stringify(reading).length).toBeLessThan(900);
  });
});

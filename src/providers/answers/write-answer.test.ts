import { expect, test } from "vitest";
import { dialectOf } from "./service-answer.ts";
import { readWritten } from "./write-answer.ts";

test("a refusal after a resend may be that of a repetition, and is not final", () => {
  for (const status of [404, 422]) {
    const body = JSON.stringify({ error: { code: "invalid_input", message: "no" } });
    const answer = { kind: "answer", status, headers: {}, body } as const;
    const ofFault = (resent: boolean) => {
      const read = readWritten(resent ? { ...answer, resent: true } : answer, [200], 0, dialectOf("Hetzner"));
      return read.kind === "accepted"
        ? read.kind
        : `${read.kind} ${("fault" in read ? read.fault : read.because).kind}`;
    };
    expect([ofFault(false), ofFault(true)]).toEqual([
      `refused ${status === 404 ? "absent" : "refused"}`,
      "unknown later",
    ]);
  }
});

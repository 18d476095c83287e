import { expect, it } from "vitest";
import type { ViewSet } from "../../core/records/zone-view.ts";
import { MessageWriter } from "../../lib/dns/message-writer.ts";
import { writeSets } from "./write-sets.ts";

it("does not print a set that already has its wire format, as the alias that a DNAME makes for each query", () => {
  const set: ViewSet = {
    type: "CNAME",
    ttl: 60,
    gone: false,
    rdata: undefined,
    wire: [Uint8Array.of(1, 97, 0)],
    get values(): never {
      throw new Error("printed");
    },
  };
  const writer = new MessageWriter();
  writeSets(writer, [{ name: ["b"], ttl: 60, set }]);
  expect(writer.finish().toString("hex")).toBe("016200000500010000003c0003016100");
});

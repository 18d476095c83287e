import { describe, expect, it } from "vitest";
import { countLimited, countReply, countTransfer, createDnsCounters, printDnsMetrics } from "./metrics.ts";

const reply = (code: number) => Uint8Array.of(0, 0, 0x84, 0x80 | code, 0, 1);

describe("what the nameserver has answered", () => {
  it("is counted per thread and reported as a sum, each kind separately", () => {
    const main = createDnsCounters();
    const worker = createDnsCounters();
    const seenByWorker = createDnsCounters(worker.memory);
    countReply(seenByWorker.udp, reply(0));
    countReply(main.udp, reply(0));
    countReply(main.udp, reply(3));
    countReply(main.tcp, reply(5));
    countLimited(seenByWorker, "drop");
    countTransfer(main, "out", "ixfr", "done");
    countTransfer(main, "out", "axfr", "refused");
    countTransfer(main, "in", "check", "failed");
    const text = printDnsMetrics([main, worker], { underway: 1, done: 3, failed: 0 });
    expect(text.split("\n").filter((line) => !line.startsWith("#") && !line.endsWith(" 0") && line !== "")).toEqual([
      'moor_dns_answers_total{transport="udp",rcode="NOERROR"} 2',
      'moor_dns_answers_total{transport="udp",rcode="NXDOMAIN"} 1',
      'moor_dns_answers_total{transport="tcp",rcode="REFUSED"} 1',
      'moor_dns_limited_total{how="dropped"} 1',
      'moor_dns_transfers_total{direction="out",kind="axfr",result="refused"} 1',
      'moor_dns_transfers_total{direction="out",kind="ixfr",result="done"} 1',
      'moor_dns_transfers_total{direction="in",kind="check",result="failed"} 1',
      "moor_dns_zones_loading 1",
      'moor_dns_zone_loads_total{result="done"} 3',
    ]);
  });
});

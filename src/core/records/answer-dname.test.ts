import { describe, expect, it } from "vitest";
import { dig } from "../../../test/rig/core/dig-view.suite.ts";
import { createZoneView, dnameTo, writtenZone } from "../../../test/rig/core/written-sets.suite.ts";
import type { QuestionType } from "./answer.ts";

const soa = "authority example.org. 300 SOA ns1.example.org. hostmaster.example.org. 1 7200 900 1209600 300";

describe("names below a DNAME are redirected (RFC 6672)", () => {
  const long = ["l", "m", "n"].map((letter) => letter.repeat(60)).join(".");
  const old = `old.example.org. 60 ${dnameTo("new.example.org")}`;
  const out = `out.example.org. 600 ${dnameTo("other.net")}`;
  const far = `far.example.org. 600 ${dnameTo(long)}`;
  const moved = createZoneView(
    writtenZone(
      "example.org",
      `
      @         - MX    10 mail.old
      old      60 ${dnameTo("new.example.org")}
      old       - A     192.0.2.1
      mail.old  - A     192.0.2.66
      sub.old   - NS    ns1
      a.new     - A     192.0.2.2
      back.new  - CNAME a.old
      up.new    - CNAME old
      out       - ${dnameTo("other.net")}
      far       - ${dnameTo(long)}
      to        - CNAME a.old
      odd       - TYPE39 \\# 2 ff00
      a.odd     - A     192.0.2.3
      cut       - ${dnameTo("new.example.org")}
      cut       - NS    ns1
      *.w       - ${dnameTo("new.example.org")}
      one       - ${dnameTo("two.example.org")}
      two       - ${dnameTo("one.example.org")}
      self      - ${dnameTo("x.self.example.org")}`,
    ),
  );
  const a = "answer a.new.example.org. 600 A 192.0.2.2";
  const made = (name: string, target = `${name}.new.example.org.`) =>
    `answer ${name}.old.example.org. 60 CNAME ${target}`;
  const tooLong = `${"z".repeat(60)}.${"y".repeat(20)}.far`;
  it.each<[string, QuestionType, string[]]>([
    ["a.old", "A", ["alias found", `answer ${old}`, made("a"), a]],
    ["a.old", "AAAA", ["alias no-data", `answer ${old}`, made("a"), soa]],
    ["a.old", undefined, ["alias no-data", `answer ${old}`, made("a"), soa]],
    ["a.old", "CNAME", ["found", `answer ${old}`, made("a")]],
    ["a.old", "ANY", ["found", `answer ${old}`, made("a")]],
    ["a.old", "TYPE39", ["alias no-data", `answer ${old}`, made("a"), soa]],
    ["x.y.old", "A", ["alias no-name", `answer ${old}`, made("x.y"), soa]],
    ["mail.old", "A", ["alias no-name", `answer ${old}`, made("mail"), soa]],
    ["x.sub.old", "A", ["alias no-name", `answer ${old}`, made("x.sub"), soa]],
    ["old", "A", ["found", "answer old.example.org. 600 A 192.0.2.1"]],
    ["old", "TYPE39", ["found", `answer ${old}`]],
    ["old", "TXT", ["no-data", soa]],
    ["to", "A", ["alias found", "answer to.example.org. 600 CNAME a.old.example.org.", `answer ${old}`, made("a"), a]],
    [
      "back.old",
      "A",
      [
        "alias found",
        `answer ${old}`,
        made("back"),
        "answer back.new.example.org. 600 CNAME a.old.example.org.",
        made("a"),
        a,
      ],
    ],
    [
      "up.old",
      "A",
      [
        "alias found",
        `answer ${old}`,
        made("up"),
        "answer up.new.example.org. 600 CNAME old.example.org.",
        "answer old.example.org. 600 A 192.0.2.1",
      ],
    ],
    ["q.out", "A", ["alias elsewhere", `answer ${out}`, "answer q.out.example.org. 600 CNAME q.other.net."]],
    [tooLong, "A", ["too-long", `answer ${far}`]],
    ["a.odd", "A", ["found", "answer a.odd.example.org. 600 A 192.0.2.3"]],
    ["a.cut", "A", ["referral", "authority cut.example.org. 600 NS ns1.example.org."]],
    ["a.w", "A", ["no-data", soa]],
    ["b.a.w", "A", ["no-data", soa]],
    [
      "q.one",
      "A",
      [
        "alias loop",
        `answer one.example.org. 600 ${dnameTo("two.example.org")}`,
        "answer q.one.example.org. 600 CNAME q.two.example.org.",
        `answer two.example.org. 600 ${dnameTo("one.example.org")}`,
        "answer q.two.example.org. 600 CNAME q.one.example.org.",
      ],
    ],
  ])("%s %s", (name, type, expected) => {
    expect(dig(moved, `${name}.example.org`, type)).toEqual(expected);
  });

  it("a DNAME that points below itself does not loop forever", () => {
    const [end, ...lines] = dig(moved, "q.self.example.org", "A");
    expect([end, lines.length]).toEqual(["alias loop", 4]);
  });

  it("a name of many labels is redirected once: following it costs as much as several ordinary queries", () => {
    const apex = createZoneView(writtenZone("example.org", `d - ${dnameTo("example.org")}`));
    const asked = (labels: number) => `${"d.".repeat(labels)}example.org`;
    const aliases = (labels: number) => dig(apex, asked(labels), "A").filter((line) => line.includes(" CNAME ")).length;
    expect([2, 3, 4, 30, 70, 90].map(aliases)).toEqual([1, 2, 3, 3, 1, 1]);
  });

  it("a record below a DNAME is not used as a mail server's address", () => {
    expect(dig(moved, "example.org", "MX")).toEqual(["found", "answer example.org. 600 MX 10 mail.old.example.org."]);
  });

  it("a DNAME at the apex redirects all names except the zone's own", () => {
    const whole = createZoneView(writtenZone("example.org", `@ - ${dnameTo("other.net")}\nwww - A 192.0.2.1`));
    expect(dig(whole, "www.example.org", "A")).toEqual([
      "alias elsewhere",
      `answer example.org. 600 ${dnameTo("other.net")}`,
      "answer www.example.org. 600 CNAME www.other.net.",
    ]);
    expect(dig(whole, "example.org", "A")[0]).toBe("no-data");
  });
});

import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { type ZonesInMemory, zonesInMemory } from "../../../test/nameserver/zones-in-memory.ts";
import { signedZone } from "../../../test/rig/core/signed-zone.suite.ts";
import { dnameTo, writtenSets, writtenZone } from "../../../test/rig/core/written-sets.suite.ts";
import { runs } from "../../../test/rig/long-run.ts";
import { decodeMessage, emptyMessage, encodeMessage, type Message } from "../../lib/dns/message.ts";
import { LoadedZones } from "./loaded-zones.ts";
import { createResponder, type Respond } from "./respond.ts";

const text = `
  @     -  NS   ns1
  ns1   -  A    192.0.2.1
  www   -  A    192.0.2.2
  alias -  CNAME www
  mail  -  MX   10 www
  *.w   -  TXT  "any"
  moved -  ${dnameTo("w.example.org")}
  far   -  ${dnameTo(["l", "m", "n"].map((letter) => letter.repeat(60)).join("."))}
  sub   -  NS   ns.sub
  ns.sub - A    192.0.2.3
  big   -  TXT  "${"a".repeat(250)}"
  big   -  TXT  "${"b".repeat(250)}"
  large -  TXT  "${"a".repeat(250)}" "${"a".repeat(250)}" "${"a".repeat(250)}" "${"a".repeat(250)}" "${"a".repeat(250)}"
  ${Array.from({ length: 20 }, (_, i) => `many - NS ns${i}.many\n ns${i}.many - A 192.0.2.${i}`).join("\n")}
  ${Array.from({ length: 12 }, (_, i) => `mx - MX ${i} host-number-${i}\n host-number-${i} - A 192.0.2.${i}`).join("\n")}`;

const base: Message = {
  id: 0xabcd,
  ...emptyMessage,
  questions: [{ name: "www.example.org", type: 1, class: 1 }],
};
const types: Readonly<Record<string, number>> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  MX: 15,
  TXT: 16,
  DS: 43,
  TYPE128: 128,
  ANY: 255,
};
const ednsOf = (udpSize: number, version = 0) => ({ udpSize, version, dnssecOk: false, options: [] });
const asking = (name: string, type = "A", more: Partial<Message> = {}): Buffer =>
  encoded({ ...base, ...more, questions: [{ name, type: types[type] ?? 0, class: 1 }] });

function encoded(message: Message): Buffer {
  const bytes = encodeMessage(message);
  return bytes;
}

let source: ZonesInMemory;
let respond: Respond;
let troubles: unknown[];
beforeEach(() => {
  source = zonesInMemory(writtenZone("example.org", text));
  const zones = new LoadedZones(source);
  source.follow(zones.apply);
  troubles = [];
  respond = createResponder({ zones, onTrouble: (error) => troubles.push(error) });
});

async function ask(query: Buffer, transport: "udp" | "tcp" = "udp"): Promise<Message> {
  const reply = await respond(query, transport);
  if (reply === undefined) throw new Error("no reply");
  const decoded = decodeMessage(reply);
  if (!decoded.ok) throw new Error(decoded.because);
  return decoded.message;
}

const counts = (message: Message) => [message.answers.length, message.authorities.length, message.additionals.length];

describe("what a query gets", () => {
  it.each([
    ["a name", asking("www.example.org"), { rcode: 0, authoritative: true }, [1, 0, 0]],
    ["no such type", asking("www.example.org", "TXT"), { rcode: 0, authoritative: true }, [0, 1, 0]],
    ["no such name", asking("no.example.org"), { rcode: 3, authoritative: true }, [0, 1, 0]],
    ["a referral", asking("x.sub.example.org"), { rcode: 0, authoritative: false }, [0, 1, 1]],
    [
      "no such name, with EDNS",
      asking("no.example.org", "A", { edns: ednsOf(1232) }),
      { rcode: 3, authoritative: true },
      [0, 1, 0],
    ],
    ["an alias", asking("alias.example.org"), { rcode: 0, authoritative: true }, [2, 0, 0]],
    ["mail, with its address", asking("mail.example.org", "MX"), { rcode: 0, authoritative: true }, [1, 0, 1]],
    ["a wildcard", asking("any.w.example.org", "TXT"), { rcode: 0, authoritative: true }, [1, 0, 0]],
    ["a name below a DNAME", asking("a.moved.example.org", "TXT"), { rcode: 0, authoritative: true }, [3, 0, 0]],
    [
      "a DNAME that makes the name too long",
      asking(`${"y".repeat(9)}.${"z".repeat(63)}.far.example.org`),
      { rcode: 6, authoritative: true },
      [1, 0, 0],
    ],
    ["anything", asking("example.org", "ANY"), { rcode: 0, authoritative: true }, [1, 0, 0]],
    [
      "the DS of a zone whose parent is not here",
      asking("example.org", "DS"),
      { rcode: 0, authoritative: true },
      [0, 1, 0],
    ],
    ["a name in no zone here", asking("example.net"), { rcode: 5, authoritative: false }, [0, 0, 0]],
    ["the root", asking(""), { rcode: 5, authoritative: false }, [0, 0, 0]],
    [
      "the RD bit back",
      asking("www.example.org", "A", { recursionDesired: true }),
      { recursionDesired: true, recursionAvailable: false },
      [1, 0, 0],
    ],
    [
      "no other flag back",
      asking("www.example.org", "A", { checkingDisabled: true, authenticData: true }),
      { checkingDisabled: false, authenticData: false },
      [1, 0, 0],
    ],
  ])("%s", async (_, query, expected, sections) => {
    for (const transport of ["udp", "tcp", "udp"] as const) {
      const reply = await ask(query, transport);
      expect(reply).toMatchObject({ id: 0xabcd, response: true, truncated: false, ...expected });
      expect(counts(reply)).toEqual(sections);
      expect(reply.questions).toEqual(decodedQuestion(query));
    }
  });
});

function decodedQuestion(query: Buffer): Message["questions"] {
  const decoded = decodeMessage(query);
  return decoded.ok ? decoded.message.questions : [];
}

const question = "03777777 076578616d706c65 036f7267 00";
const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(/\s/g, ""), "hex");
const replyTo = async (hex: string): Promise<string | undefined> => (await respond(bytes(hex), "udp"))?.toString("hex");

describe("what is refused, and how", () => {
  it.each([
    ["a response", `abcd 8000 0001 0000 0000 0000 ${question} 0001 0001`, undefined],
    ["an incomplete header", "abcd 0000 0001 0000 0000", undefined],
    ["nothing", "", undefined],
    ["no question", "abcd 0100 0000 0000 0000 0000", "abcd 8101 0000 0000 0000 0000"],
    [
      "two questions",
      `abcd 0100 0002 0000 0000 0000 ${question} 0001 0001 ${question} 0001 0001`,
      "abcd 8101 0000 0000 0000 0000",
    ],
    ["an answer in the query", `abcd 0000 0001 0001 0000 0000 ${question} 0001 0001`, "abcd 8001 0000 0000 0000 0000"],
    ["a truncated name", "abcd 0000 0001 0000 0000 0000 03 7777", "abcd 8001 0000 0000 0000 0000"],
    ["a compressed question", "abcd 0000 0001 0000 0000 0000 c00c 0001 0001", "abcd 8001 0000 0000 0000 0000"],
    [
      "a name of more than 255 bytes",
      `abcd 0000 0001 0000 0000 0000 ${`3f${"61".repeat(63)}`.repeat(4)} 00 0001 0001`,
      "abcd 8001 0000 0000 0000 0000",
    ],
    [
      "nine additional records",
      `abcd 0000 0001 0000 0000 0009 ${question} 0001 0001 ${"00 0001 0001 00000000 0000".repeat(9)}`,
      "abcd 8001 0000 0000 0000 0000",
    ],
    [
      "bytes after the question",
      `abcd 0000 0001 0000 0000 0000 ${question} 0001 0001 00`,
      "abcd 8001 0000 0000 0000 0000",
    ],
    [
      "a broken OPT",
      `abcd 0000 0001 0000 0000 0001 ${question} 0001 0001 00 0029 04d0 00000000 0004 0000`,
      "abcd 8001 0000 0000 0000 0000",
    ],
    [
      "two OPT records",
      `abcd 0000 0001 0000 0000 0002 ${question} 0001 0001 ${"00 0029 04d0 00000000 0000".repeat(2)}`,
      `abcd 8001 0001 0000 0000 0001 ${question} 0001 0001 00 0029 04d0 00000000 0000`,
    ],
    [
      "an OPT record with an owner",
      `abcd 0000 0001 0000 0000 0001 ${question} 0001 0001 0161 00 0029 04d0 00000000 0000`,
      `abcd 8001 0001 0000 0000 0001 ${question} 0001 0001 00 0029 04d0 00000000 0000`,
    ],
    ["an inverse query", `abcd 0900 0001 0000 0000 0000 ${question} 0001 0001`, "abcd 8904 0000 0000 0000 0000"],
    ["an update", `abcd 2800 0001 0000 0000 0000 ${question} 0006 0001`, "abcd a804 0000 0000 0000 0000"],
    [
      "class CH",
      `abcd 0000 0001 0000 0000 0000 ${question} 0010 0003`,
      `abcd 8005 0001 0000 0000 0000 ${question} 0010 0003`,
    ],
    [
      "class ANY",
      `abcd 0000 0001 0000 0000 0000 ${question} 0001 00ff`,
      `abcd 8005 0001 0000 0000 0000 ${question} 0001 00ff`,
    ],
    [
      "a transfer",
      `abcd 0000 0001 0000 0000 0000 ${question} 00fc 0001`,
      `abcd 8005 0001 0000 0000 0000 ${question} 00fc 0001`,
    ],
    [
      "MAILB",
      `abcd 0000 0001 0000 0000 0000 ${question} 00fd 0001`,
      `abcd 8004 0001 0000 0000 0000 ${question} 00fd 0001`,
    ],
    [
      "a question for OPT",
      `abcd 0000 0001 0000 0000 0000 ${question} 0029 0001`,
      `abcd 8001 0001 0000 0000 0000 ${question} 0029 0001`,
    ],
    [
      "EDNS 1",
      `abcd 0100 0001 0000 0000 0001 ${question} 0001 0001 00 0029 04d0 00010000 0000`,
      `abcd 8100 0001 0000 0000 0001 ${question} 0001 0001 00 0029 04d0 01000000 0000`,
    ],
  ])("%s", async (_, query, reply) => {
    expect(await replyTo(query)).toBe(reply?.replaceAll(" ", ""));
  });

  it("a zone that cannot be loaded is a server failure, and is reported", async () => {
    const broken = { ...source, load: async () => await Promise.reject(new Error("disk")) };
    respond = createResponder({ zones: new LoadedZones(broken), onTrouble: (error) => troubles.push(error) });
    expect(await ask(asking("www.example.org"))).toMatchObject({ rcode: 2, authoritative: false });
    expect(troubles).toHaveLength(1);
  });
});

it("a query that may not wait is answered from memory, and nothing is loaded for it", async () => {
  const zones = new LoadedZones(source);
  await zones.readNames();
  respond = createResponder({ zones, onTrouble: (error) => troubles.push(error) });
  const now = (name: string, type?: string) => respond(asking(name, type), "udp", "no-wait");
  expect(now("www.example.org")).toBeUndefined();
  expect(source.asked).toEqual({ closest: 0, load: 0 });
  await ask(asking("mail.example.org"));
  const before = { ...source.asked };
  for (const name of ["www.example.org", "nothing.example.org", "elsewhere.example"])
    expect(now(name)).toBeInstanceOf(Buffer);
  expect(now("sub.example.org", "DS")).toBeUndefined();
  expect(source.asked).toEqual(before);
});

describe("case", () => {
  it.each(["udp", "tcp"] as const)("of the question is preserved in the reply, over %s", async (transport) => {
    for (const spelling of ["WWW.example.org", "www.EXAMPLE.org", "www.example.org", "wWw.eXaMpLe.OrG"]) {
      const query = asking("www.example.org");
      query.write(
        spelling
          .split(".")
          .map((part) => String.fromCharCode(part.length) + part)
          .join(""),
        12,
        "latin1",
      );
      const reply = await respond(query, transport);
      expect(reply?.subarray(12, query.length)).toEqual(query.subarray(12));
      expect(reply?.readUInt16BE(6)).toBe(1);
    }
    expect(source.asked.load).toBe(1);
  });
});

describe("EDNS", () => {
  it("is used only with clients that use it, with the DO bit of the query", async () => {
    for (const name of ["www.example.org", "no.example.org", "example.net"]) {
      expect((await ask(asking(name))).edns).toBeUndefined();
      const reply = await ask(asking(name, "A", { edns: { ...ednsOf(4096), dnssecOk: true } }));
      const options = name === "example.net" ? [{ code: 15, data: Uint8Array.of(0, 20) }] : [];
      expect(reply.edns).toEqual({ udpSize: 1232, version: 0, dnssecOk: true, options });
      expect((await ask(asking(name, "A", { edns: ednsOf(512) }))).edns?.dnssecOk).toBe(false);
    }
  });

  it("is in the refusal of a malformed query too, if its OPT record could be read (RFC 6891 section 7)", async () => {
    const cut = [{ code: 10, data: new Uint8Array(3) }];
    const authority = { name: "www.example.org", type: 1, class: 1, ttl: 0, data: new Uint8Array(4) };
    for (const query of [
      asking("www.example.org", "A", { edns: { ...ednsOf(1232), options: cut } }),
      asking("www.example.org", "A", { edns: ednsOf(1232), authorities: [authority] }),
      asking("www.example.org", "TYPE128", { edns: ednsOf(1232) }),
    ]) {
      const reply = await ask(query);
      expect(reply).toMatchObject({ rcode: 1, questions: [{ name: "www.example.org" }], edns: { udpSize: 1232 } });
      expect(counts(reply)).toEqual([0, 0, 0]);
    }
  });

  it("may have options, which are ignored", async () => {
    const options = [
      { code: 10, data: new Uint8Array(8) },
      { code: 3, data: new Uint8Array() },
    ];
    const reply = await ask(asking("www.example.org", "A", { edns: { ...ednsOf(1232), options } }));
    expect(reply).toMatchObject({ rcode: 0, edns: { options: [] } });
    expect(counts(reply)).toEqual([1, 0, 0]);
  });
});

describe("a proof that no datagram can hold", () => {
  it.each(["nsec", "nsec3"] as const)("%s: truncated over UDP, whole over TCP, in any order", async (kind) => {
    const zones = new LoadedZones(
      zonesInMemory(signedZone("example.org", "a.b - A 192.0.2.1", { kind, keys: 8, bytes: 256 })),
    );
    respond = createResponder({ zones, onTrouble: (error) => troubles.push(error) });
    const query = (i: number) =>
      asking(i % 3 === 0 ? "b.example.org" : `x${i % 7}.b.example.org`, "A", {
        edns: { ...ednsOf(1232), dnssecOk: true },
      });
    for (let i = 0; i < 40; i++) {
      const overUdp = await ask(query(i));
      expect(overUdp).toMatchObject({ truncated: true, answers: [], authorities: [], edns: { dnssecOk: true } });
      const overTcp = await ask(query(i + (i % 2)), "tcp");
      expect(overTcp.truncated).toBe(false);
      // The SOA record and its signatures, and one record at least that proves it, with its own.
      expect(overTcp.authorities.length).toBeGreaterThanOrEqual(18);
    }
    expect(troubles).toEqual([]);
  });
});

describe("size", () => {
  it.each([
    ["big", "TXT", undefined, "udp", { truncated: true }, [0, 0, 0]],
    ["big", "TXT", 512, "udp", { truncated: true }, [0, 0, 0]],
    ["big", "TXT", 1232, "udp", { truncated: false }, [2, 0, 0]],
    ["big", "TXT", undefined, "tcp", { truncated: false }, [2, 0, 0]],
    ["large", "TXT", 1232, "udp", { truncated: true }, [0, 0, 0]],
    ["large", "TXT", 65_535, "udp", { truncated: true }, [0, 0, 0]],
    ["large", "TXT", 65_535, "tcp", { truncated: false }, [1, 0, 0]],
    ["big", "TXT", 100, "udp", { truncated: true }, [0, 0, 0]],
    ["www", "A", 20, "udp", { truncated: false }, [1, 0, 0]],
    ["mx", "MX", undefined, "udp", { truncated: false }, [12, 0, 0]],
    ["mx", "MX", 1232, "udp", { truncated: false }, [12, 0, 12]],
    ["x.many", "A", undefined, "udp", { truncated: true }, [0, 0, 0]],
    ["x.many", "A", 1232, "udp", { truncated: false }, [0, 20, 20]],
  ] as const)("%s %s with %s over %s", async (name, type, size, transport, expected, sections) => {
    const edns = size === undefined ? undefined : ednsOf(size);
    const query = asking(`${name}.example.org`, type, { edns });
    for (let i = 0; i < 2; i++) {
      const reply = await ask(query, transport);
      expect(reply).toMatchObject(expected);
      expect(counts(reply)).toEqual(sections);
      expect(reply.edns === undefined).toBe(size === undefined);
    }
  });
});

describe("a referral with more glue than a message can hold", () => {
  const hosts = (count: number) => Array.from({ length: count }, (_, i) => `sub - NS n${i}.sub`).join("\n");
  const glue = (host: number, count: number) =>
    Array.from({ length: count }, (_, i) => `n${host}.sub - A 10.${host}.${i >> 8}.${i & 255}`).join("\n");
  const asked = asking("x.sub.example.org", "A", { edns: ednsOf(1232) });
  const load = (more: string) => {
    const zones = new LoadedZones(zonesInMemory(writtenZone("example.org", `@ - NS ns1\n${more}`)));
    respond = createResponder({ zones, onTrouble: (error) => troubles.push(error) });
  };

  it.each([
    ["one host with 5,000 addresses", 1, 5_000, 50],
    ["13 hosts with 400 addresses each", 13, 400, 13 * 50],
    ["20 hosts with 100 addresses each, which fit", 20, 100, 2_000],
  ])("%s: over TCP it has what fits, over UDP it is truncated", async (_, servers, addresses, expected) => {
    load([hosts(servers), ...Array.from({ length: servers }, (_, i) => glue(i, addresses))].join("\n"));
    for (const transport of ["tcp", "udp", "tcp"] as const) {
      const reply = await ask(asked, transport);
      const isUdp = transport === "udp";
      expect(reply).toMatchObject({ rcode: 0, truncated: isUdp });
      expect(counts(reply)).toEqual(isUdp ? [0, 0, 0] : [0, servers, expected]);
    }
  });
});

describe("a change", () => {
  const address = async (name = "www.example.org") => {
    const [record] = (await ask(asking(name))).answers;
    return record ? Buffer.from(record.data).join(".") : undefined;
  };
  const write = (more: string, without = /^$/) => {
    const lines = `@ 3600 SOA ns1 hostmaster 1 7200 900 1209600 300\n${text}`.split("\n");
    const left = lines.filter((line) => !without.test(line.trim()));
    source.write("example.org", writtenSets("example.org", `${left.join("\n")}\n${more}`));
  };

  it("is in the very next answer", async () => {
    expect(await address()).toBe("192.0.2.2");
    for (const last of [7, 8, 9]) {
      write(`www - A 192.0.2.${last}`, /^www /);
      expect(await address()).toBe(`192.0.2.${last}`);
      expect(await address("alias.example.org")).not.toBe("192.0.2.2");
    }
  });

  it("adds a name, and removes it again", async () => {
    expect(await address("new.example.org")).toBeUndefined();
    write("new - A 192.0.2.9");
    expect(await address("new.example.org")).toBe("192.0.2.9");
    write("");
    expect((await ask(asking("new.example.org"))).rcode).toBe(3);
  });

  it("moves a name into a separate zone, and back", async () => {
    expect(await address()).toBe("192.0.2.2");
    source.put(writtenZone("www.example.org", "@ - A 192.0.2.77"));
    expect(await address()).toBe("192.0.2.77");
    source.remove("www.example.org");
    expect(await address()).toBe("192.0.2.2");
    source.remove("example.org");
    expect((await ask(asking("www.example.org"))).rcode).toBe(5);
  });

  it("of the serial is in the SOA of every negative answer", async () => {
    const serial = async () => {
      const data = Buffer.from((await ask(asking("www.example.org", "TXT"))).authorities[0]?.data ?? []);
      return data.readUInt32BE(data.length - 20);
    };
    const before = await serial();
    write("other - A 192.0.2.1");
    expect(await serial()).toBe(before + 1);
  });
});

it("the DS of a child zone is answered from the parent when both are here", async () => {
  source.put(writtenZone("sub.example.org", "@ - NS ns"));
  const reply = await ask(asking("sub.example.org", "DS"));
  expect(reply.authorities[0]?.name).toBe("example.org");
});

it("never throws, whatever the bytes, and every reply is a valid message", async () => {
  await ask(asking("www.example.org"));
  const valid = fc
    .tuple(fc.constantFrom("www", "no", "sub", "a.w", "big"), fc.constantFrom("A", "TXT", "ANY"), fc.boolean())
    .map(([name, type, edns]) => asking(`${name}.example.org`, type, edns ? { edns: ednsOf(1232) } : {}));
  const edits = fc.array(fc.tuple(fc.nat(100), fc.integer({ min: 0, max: 255 })), { maxLength: 4 });
  const query = fc.oneof(
    fc.uint8Array({ maxLength: 80 }),
    fc.tuple(valid, edits).map(([made, changes]) => {
      for (const [at, byte] of changes) if (at < made.length) made[at] = byte;
      return made;
    }),
  );
  await fc.assert(
    fc.asyncProperty(query, fc.constantFrom("udp" as const, "tcp" as const), async (made, transport) => {
      const reply = await respond(Buffer.from(made), transport);
      if (reply === undefined) return;
      expect(decodeMessage(reply)).toMatchObject({ ok: true, message: { response: true } });
      expect(reply.length).toBeLessThanOrEqual(transport === "udp" ? 1232 : 65_535);
    }),
    runs(400),
  );
  expect(troubles).toEqual([]);
});

describe("a client with the DO bit", () => {
  const hosts = Array.from({ length: 12 }, (_, i) => i);
  const signed = [
    "@ - NS ns1\nns1 - A 192.0.2.1",
    ...hosts.map((i) => `cut - NS h${i}\n mx - MX ${i} h${i}\n h${i} - A 192.0.2.${i}`),
  ].join("\n");
  const edns = (udpSize: number, dnssecOk = true) => ({ edns: { ...ednsOf(udpSize), dnssecOk } });
  const askedFor = async (name: string, type: string, more: Partial<Message>) => {
    const reply = await ask(asking(`${name}.example.org`, type, more));
    return [reply.truncated, ...counts(reply), reply.edns?.dnssecOk];
  };
  beforeEach(() => source.write("example.org", signedZone("example.org", signed, { kind: "nsec" }).sets));

  it("gets signatures and proofs, others do not; each from its own cache", async () => {
    for (let i = 0; i < 2; i++) {
      expect(await askedFor("h1", "A", edns(1_232))).toEqual([false, 2, 0, 0, true]);
      expect(await askedFor("h1", "A", edns(1_232, false))).toEqual([false, 1, 0, 0, false]);
      expect(await askedFor("h1", "A", {})).toEqual([false, 1, 0, 0, undefined]);
      expect(await askedFor("h1", "TXT", edns(1_232))).toEqual([false, 0, 4, 0, true]);
      expect(await askedFor("h1", "TXT", {})).toEqual([false, 0, 1, 0, undefined]);
      expect(await askedFor("no", "A", edns(1_232))).toEqual([false, 0, 6, 0, true]);
      expect(await askedFor("no", "A", {})).toEqual([false, 0, 1, 0, undefined]);
    }
  });

  it("gets no signatures of addresses when there is no room, and is not sent to TCP for them (RFC 4035 section 3.1.1)", async () => {
    expect(await askedFor("cut", "A", edns(1_232))).toEqual([false, 0, 14, 24, true]);
    expect(await askedFor("cut", "A", edns(600))).toEqual([false, 0, 14, 12, true]);
    expect(await askedFor("mx", "MX", edns(600))).toEqual([false, 13, 0, 0, true]);
    expect(await askedFor("cut", "A", edns(512))).toEqual([true, 0, 0, 0, true]);
  });
});

import { expect, it } from "vitest";
import { nameFromWire } from "../../src/core/names/wire.ts";
import { recordTypes, typeCode } from "../../src/core/rdata/table.ts";
import { dname } from "../../src/core/records/dname.ts";
import type { ZoneContent } from "../../src/core/records/zone-view.ts";
import type { Message, ResourceRecord } from "../../src/lib/dns/message.ts";
import { startNameserver } from "../../src/nameserver/start.ts";
import { createLog } from "../../src/process/log.ts";
import { writtenSets } from "../rig/core/written-sets.suite.ts";
import { isLongRun } from "../rig/long-run.ts";
import { createRandom, pick } from "../rig/random.ts";
import { seed } from "../rig/seed.ts";
import { type Asked, askOverTcp } from "./ask-over-tcp.ts";
import { randomName, randomZone, sampleTypes } from "./random-zone.ts";
import { type ServerName, startRealServer } from "./real-servers.ts";
import { zonesInMemory } from "./zones-in-memory.ts";

const ds = 43;
const zoneCount = 8;
const questionsPerZone = isLongRun ? 700 : 250;

type Sections = {
  readonly rcode: number;
  readonly authoritative: boolean;
  readonly truncated: boolean;
  readonly answer: readonly string[];
  readonly authority: readonly string[];
  /** Only for referrals: elsewhere they are optional, and servers differ. */
  readonly glue: readonly string[];
};

/** What other servers do differently, and why moor does not. Any other difference is a bug. */
const knownDifferences: readonly {
  readonly servers: readonly ServerName[];
  readonly because: string;
  readonly applies: (asked: Asked, ours: Sections, theirs: Sections) => boolean;
}[] = [
  {
    servers: ["BIND"],
    because: "addresses of nameservers outside the cut are left to the client (RFC 9471 section 3.2 allows both)",
    applies: (_, ours, theirs) => {
      const cut = ours.authority[0]?.split(" ")[0] ?? "";
      const left = ours.glue.filter((line) => !theirs.glue.includes(line));
      const outside = left.every((line) => !` ${line}`.split(" ")[1]?.endsWith(`.${cut}`));
      return outside && same({ ...ours, glue: theirs.glue }, theirs);
    },
  },
  {
    servers: ["BIND"],
    because: "an alias loop is a server failure; NSD, Knot and moor answer with what the zone contains",
    applies: (_, ours, theirs) =>
      targetsOf(ours).some((name) => ours.answer.some((line) => line.startsWith(`${name} `))) &&
      same({ ...ours, rcode: 2 }, theirs),
  },
  {
    servers: ["NSD", "BIND"],
    because:
      "an alias is followed into other zones of the server; resolvers query those zones anyway, and trust nothing else",
    applies: ({ name, type }, ours, theirs) =>
      targetsOf(ours).some((target) => zoneOf(target) !== zoneOf(name) || (type === ds && target === zoneOf(name))) &&
      ours.answer.every((line) => theirs.answer.includes(line)),
  },
  {
    servers: ["Knot"],
    because: "a chain of aliases is cut after the fifth; resolvers query the rest themselves",
    applies: (_, ours, theirs) =>
      theirs.answer.length === 5 &&
      ours.answer.length > 5 &&
      theirs.answer.every((line) => isAlias(line) && ours.answer.includes(line)),
  },
];

const isAlias = (line: string): boolean => line.split(" ")[2] === "5";

/** The names that aliases in the answer lead to. */
const targetsOf = ({ answer }: Sections): readonly string[] =>
  answer.filter(isAlias).map((line) => nameFromHex(line.split(" ")[3] ?? ""));

const nameFromHex = (hex: string): string => nameFromWire(Buffer.from(hex, "hex"))?.name ?? "";

const zoneOf = (name: string): string => /(?:^|\.)((?:b\.)?z\d\.example)$/.exec(name)?.[1] ?? "";

const same = (a: Sections, b: Sections): boolean => JSON.stringify(a) === JSON.stringify(b);

it(`answers as NSD, Knot and BIND do (MOOR_SEED=${seed})`, async () => {
  const random = createRandom(seed);
  const names = ["b.z0.example", ...Array.from({ length: zoneCount - 1 }, (_, i) => `z${i}.example`)];
  const zones = names.map((name) => randomZone(random, name, 60)).map(delegateChild);
  const questions: Asked[] = zones.flatMap((zone) =>
    Array.from({ length: questionsPerZone }, () => ({ name: randomName(random, zone), type: randomType(random) })),
  );
  const log = createLog({ format: "text", level: "silent", write: () => {} });
  const moor = await startNameserver({
    listen: [{ host: "127.0.0.1", port: 0 }],
    source: zonesInMemory(...zones),
    log,
  });
  const others = await Promise.all((["NSD", "Knot", "BIND"] as const).map((name) => startRealServer(name, zones)));
  try {
    const ours = await askOverTcp(moor.addresses[0]?.port ?? 0, questions);
    const found: string[] = [];
    for (const other of others) {
      const theirs = await askOverTcp(other.port, questions);
      for (const [i, asked] of questions.entries()) {
        const [a, b] = [sectionsOf(ours[i]), sectionsOf(theirs[i])];
        if (same(a, b)) continue;
        const known = knownDifferences.some((each) => each.servers.includes(other.name) && each.applies(asked, a, b));
        if (!known) found.push(`${asked.name} ${asked.type}\nmoor ${show(a)}\n${other.name} ${show(b)}`);
      }
    }
    expect(found.slice(0, 5).join("\n\n")).toBe("");
    expect(new Set(ours.map((message) => message.rcode))).toEqual(new Set([0, 3]));
  } finally {
    await Promise.all([moor.close(), ...others.map((other) => other.close())]);
  }
});

/** The parent only delegates: NSD treats names below a cut as names of the child. */
function delegateChild(zone: ZoneContent): ZoneContent {
  if (zone.name !== "z0.example") return zone;
  const own = zone.sets.filter(({ owner }) => owner !== "b" && !owner.endsWith(".b"));
  const cut = `b - NS ns1.b\nb - NS ns1\nns1.b - A 192.0.2.53\nb - DS 12345 13 2 ${"ab".repeat(32)}`;
  return { ...zone, sets: [...own, ...writtenSets(zone.name, cut)] };
}

it("has a sample of every type", () => {
  const elsewhere = ["SOA", "NS", "CNAME"];
  expect(recordTypes.filter((type) => !elsewhere.includes(type) && !sampleTypes.includes(type))).toEqual([]);
});

function randomType(random: ReturnType<typeof createRandom>): number {
  const types = [...recordTypes, "A", "A", "NS", "CNAME"] as const;
  return random(12) === 0 ? pick(random, [65_281, typeCode(dname)]) : typeCode(pick(random, types));
}

function sectionsOf(message: Message | undefined): Sections {
  if (message === undefined) throw new Error("a question without a reply");
  const isReferral = message.authorities.some((record) => record.type === 2);
  return {
    rcode: message.rcode,
    authoritative: message.authoritative,
    truncated: message.truncated,
    answer: lines(message.answers),
    authority: lines(message.authorities),
    glue: isReferral ? lines(message.additionals) : [],
  };
}

/** Each record once: Knot repeats a wildcard that is an alias of itself. */
const lines = (records: readonly ResourceRecord[]): readonly string[] => {
  const all = records.map(({ name, type, ttl, data }) => `${name} ${ttl} ${type} ${Buffer.from(data).toString("hex")}`);
  return [...new Set(all)].sort();
};

const show = ({ rcode, authoritative, truncated, ...sections }: Sections): string =>
  [
    `rcode ${rcode}${authoritative ? " aa" : ""}${truncated ? " tc" : ""}`,
    ...Object.entries(sections).flatMap(([title, records]) => records.map((line) => `  ${title} ${line}`)),
  ].join("\n");

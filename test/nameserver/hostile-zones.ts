import { type RRset, setKey } from "../../src/core/records/rrset.ts";
import type { ZoneContent } from "../../src/core/records/zone-view.ts";
import { encodeMessage } from "../../src/lib/dns/message.ts";
import type { Transport } from "../../src/nameserver/wire/read-query.ts";
import { type Chaining, signedZone } from "../rig/core/signed-zone.suite.ts";
import { dnameTo, writtenSets, writtenZone } from "../rig/core/written-sets.suite.ts";
import { pick, type Random } from "../rig/random.ts";
import { queryFor } from "./ask-over-tcp.ts";

/** A zone made to be expensive, and the questions that make it so. */
export type HostileZone = { readonly zone: ZoneContent; readonly ask: (random: Random) => HostileQuestion };

export type HostileQuestion = {
  readonly name: string;
  readonly type: number;
  readonly dnssecOk: boolean;
  readonly transport: Transport;
};

export const name = "hostile.example";

export function packetOf({ name: asked, type, dnssecOk }: HostileQuestion): Buffer {
  const edns = { udpSize: 1_232, version: 0, dnssecOk, options: [] };
  return Buffer.from(encodeMessage({ ...queryFor({ name: asked, type }, 1), edns }));
}

const types = { A: 1, NS: 2, CNAME: 5, MX: 15, TXT: 16, AAAA: 28, DS: 43, RRSIG: 46, NSEC: 47, ANY: 255 };
type TypeName = keyof typeof types;
export const typeCodes: readonly number[] = Object.values(types);

const list = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join("\n");
const labels = (count: number, label = "a"): string => Array.from({ length: count }, () => label).join(".");
const fresh = (random: Random): string => `x${random(1e9).toString(36)}`;
const octets = (count: number): string => "ab".repeat(count);
const data = (hex: string): string => `\\# ${hex.length / 2} ${hex}`;
const u16 = (value: number): string => value.toString(16).padStart(4, "0");

/** Questions for `make`, of these types, over UDP unless said otherwise. */
const asks =
  (make: (random: Random) => string, wanted: readonly TypeName[], how: Partial<HostileQuestion> = {}) =>
  (random: Random): HostileQuestion => ({
    ...{ name: [make(random), name].filter(Boolean).join("."), type: types[pick(random, wanted)] },
    ...{ dnssecOk: false, transport: "udp", ...how },
  });
const signed = { dnssecOk: true } as const;
const overTcp = { transport: "tcp" } as const;

const plain = (text: string): ZoneContent => writtenZone(name, `@ - NS ns1\nns1 - A 192.0.2.1\n${text}`);
const chained = (text: string, chaining: Chaining = { kind: "nsec3" }): ZoneContent =>
  signedZone(name, `@ - NS ns1\nns1 - A 192.0.2.1\n${text}`, chaining);
const more = (zone: ZoneContent, text: string): ZoneContent => ({
  ...zone,
  sets: joined(zone.sets, writtenSets(name, text)),
});
const joined = (sets: readonly RRset[], others: readonly RRset[]): readonly RRset[] => [
  ...new Map([...sets, ...others].map((set) => [setKey(set.owner, set.type), set])).values(),
];

const deep = labels(110);
const hosts = (count: number, below = "") =>
  list(count, (i) => `h${i}${below} - A 192.0.2.${i % 256}\nh${i}${below} - AAAA 2001:db8::${i}`);
const largeMx = (owner: string, count: number, below = "") => list(count, (i) => `${owner} - MX ${i} h${i}${below}`);
const delegation = (count: number, below: string) =>
  `${list(count, (i) => `sub - NS h${i}${below}`)}\n${hosts(count, below)}`;
const iterated = (iterations: number, salt: number): string =>
  `0100${u16(iterations)}${salt.toString(16).padStart(2, "0")}${octets(salt)}`;
const handMade = (iterations: number, salt: number): string => `
  @ - TYPE51 ${data(iterated(iterations, salt))}
  0p9mhaveqvm6t7vbl5lop2u3t2rp3tom - TYPE50 ${data(`${iterated(iterations, salt)}14${octets(20)}000140`)}
  @ - TYPE46 ${data(`0001${octets(30)}`)}
  ${deep} - TXT "deep"`;
const wildChain = (links: number): string =>
  `${list(links, (i) => `*.c${i} - CNAME x.y.c${i + 1}`)}\n*.c${links} - A 192.0.2.1`;
const manyTypes = (owner: string, count: number) => list(count, (i) => `${owner} - TYPE${i + 1_000} \\# 1 00`);
const lowered = (random: Random): string => deep.split(".").slice(random(110)).join(".");

/** What was tried, or might be: each as bad as one account, or one primary server, can make it. */
export const attacks: Readonly<Record<string, () => HostileZone>> = {
  "an NSEC3 chain by hand: 150 iterations, 255 bytes of salt": () => ({
    zone: plain(handMade(150, 255)),
    ask: asks(lowered, ["TXT", "MX", "AAAA", "DS"], signed),
  }),
  "an NSEC3 chain by hand: 50 iterations, 32 bytes of salt": () => ({
    zone: plain(handMade(50, 32)),
    ask: asks((random) => `${fresh(random)}.${lowered(random)}`, ["TXT", "MX"], signed),
  }),
  "NSEC3 with 50 iterations": () => ({
    zone: chained(`${deep} - TXT "deep"`, { kind: "nsec3", iterations: 50 }),
    ask: asks((random) => `${fresh(random)}.${lowered(random)}`, ["A"], signed),
  }),
  "NSEC3 with 150 iterations": () => ({
    zone: chained(`${deep} - TXT "deep"`, { kind: "nsec3", iterations: 150 }),
    ask: asks((random) => `${fresh(random)}.${lowered(random)}`, ["A"], signed),
  }),
  "NSEC3 with opt-out, a delegation of 110 labels": () => ({
    zone: chained(`${deep} - NS ns1`, { kind: "nsec3", optOut: true, iterations: 50 }),
    ask: asks((random) => `${fresh(random)}.${deep}`, ["A"], signed),
  }),
  "NSEC3 records of 2,000 other chains": () => ({
    zone: more(
      chained('a - TXT "a"'),
      list(
        2_000,
        (i) =>
          `${i.toString(32).padStart(3, "0").repeat(11).slice(0, 32)} - TYPE50 ${data(`${iterated(1, 1)}14${octets(20)}000140`)}`,
      ),
    ),
    ask: asks(fresh, ["A"], signed),
  }),
  "NSEC3PARAM with 2,000 values": () => ({
    zone: more(
      chained('a - TXT "a"'),
      list(2_000, (i) => `@ - TYPE51 ${data(`0101${u16(i)}00`)}`),
    ),
    ask: asks(fresh, ["A"], signed),
  }),
  "an NSEC chain with 3,000 names left out": () => ({
    zone: more(
      chained('a - TXT "a"', { kind: "nsec" }),
      list(3_000, (i) => `b${i}.${labels(60, "b")} - TXT "b"`),
    ),
    ask: asks((random) => `c${fresh(random)}.${labels(random(60), "b")}`, ["A"], signed),
  }),
  "a wildcard with 2,499 MX values": () => ({
    zone: plain(`${largeMx("*.wild", 2_499)}\n${hosts(2_499)}`),
    ask: asks((random) => `${fresh(random)}.wild`, ["MX"]),
  }),
  "the same over TCP": () => ({
    zone: plain(`${largeMx("*.wild", 2_499)}\n${hosts(2_499)}`),
    ask: asks((random) => `${fresh(random)}.wild`, ["MX"], overTcp),
  }),
  "the same in a signed zone": () => ({
    zone: chained(`${largeMx("*.wild", 2_000)}\n${hosts(50)}`),
    ask: asks((random) => `${fresh(random)}.wild`, ["MX"], { ...signed, ...overTcp }),
  }),
  "a wildcard with 100 MX values, hosts of 40 labels": () => ({
    zone: plain(`${largeMx("*.wild", 100, `.${labels(40)}`)}\n${hosts(100, `.${labels(40)}`)}`),
    ask: asks((random) => `${fresh(random)}.wild`, ["MX"], overTcp),
  }),
  "a wildcard with 12 MX values, hosts of 100 labels": () => ({
    zone: plain(`${largeMx("*.wild", 12, `.${labels(100)}`)}\n${hosts(12, `.${labels(100)}`)}`),
    ask: asks((random) => `${fresh(random)}.wild`, ["MX"]),
  }),
  "a wildcard with 3,900 addresses": () => ({
    zone: plain(list(3_900, (i) => `*.wild - A 10.0.${i >> 8}.${i & 255}`)),
    ask: asks((random) => `${fresh(random)}.wild`, ["A", "ANY"], overTcp),
  }),
  "a wildcard with 60,000 bytes of text": () => ({
    zone: plain(`*.wild - TXT ${list(235, (i) => `"${"t".repeat(250)}${i}"`).replaceAll("\n", " ")}`),
    ask: asks((random) => `${fresh(random)}.wild`, ["TXT"], overTcp),
  }),
  "an alias of every name to 2,499 MX values": () => ({
    zone: plain(`*.wild - CNAME big\n${largeMx("big", 2_499)}\n${hosts(2_499)}`),
    ask: asks((random) => `${fresh(random)}.wild`, ["MX"], overTcp),
  }),
  "DNAME onto the own apex, 90 labels": () => ({
    zone: plain(`d - ${dnameTo(name)}\n*.a - A 192.0.2.1`),
    ask: asks((random) => `${fresh(random)}.${labels(90)}.d`, ["A"]),
  }),
  "DNAME onto the own apex, again and again": () => ({
    zone: plain(`d - ${dnameTo(name)}`),
    ask: asks((random) => `${fresh(random)}.${labels(100, "d")}`, ["A"]),
  }),
  "DNAME onto a longer name": () => ({
    zone: plain(`d - ${dnameTo(`${labels(6, "d")}.${name}`)}`),
    ask: asks((random) => `${fresh(random)}.d`, ["A"]),
  }),
  "a chain of 40 aliases of 100 labels": () => ({
    zone: plain(list(40, (i) => `c${i}.${labels(95)} - CNAME c${i + 1}.${labels(95)}`)),
    ask: asks((random) => `c${random(40)}.${labels(95)}`, ["A", "TXT", "MX"]),
  }),
  "a chain of 40 wildcard aliases, NSEC": () => ({
    zone: chained(wildChain(40), { kind: "nsec" }),
    ask: asks((random) => `${fresh(random)}.c0`, ["A"], { ...signed, ...overTcp }),
  }),
  "a chain of 40 wildcard aliases, NSEC3 with 50 iterations": () => ({
    zone: chained(wildChain(40), { kind: "nsec3", iterations: 50 }),
    ask: asks((random) => `${fresh(random)}.c0`, ["A"], { ...signed, ...overTcp }),
  }),
  "an alias of every name to itself": () => ({
    zone: chained("*.w - CNAME x.w"),
    ask: asks((random) => `${fresh(random)}.w`, ["A", "ANY"], signed),
  }),
  "a delegation to 1,000 servers with glue": () => ({
    zone: plain(delegation(1_000, ".sub")),
    ask: asks((random) => `${fresh(random)}.sub`, ["A", "ANY"]),
  }),
  "the same, over TCP": () => ({
    zone: plain(delegation(1_000, ".sub")),
    ask: asks((random) => `${fresh(random)}.sub`, ["A"], overTcp),
  }),
  "a delegation to 90 servers of 40 labels": () => ({
    zone: plain(delegation(90, `.${labels(40)}.sub`)),
    ask: asks((random) => `${fresh(random)}.sub`, ["A"], overTcp),
  }),
  "a delegation to 13 servers with 90 addresses each": () => ({
    zone: plain(`${delegation(13, ".sub")}\n${list(13 * 90, (i) => `h${i % 13}.sub - AAAA 2001:db8::${i + 20}`)}`),
    ask: asks((random) => `${fresh(random)}.sub`, ["A"], overTcp),
  }),
  "a delegation to 32 servers with 120 addresses each": () => ({
    zone: plain(
      `${delegation(32, ".sub")}\n${list(32 * 60, (i) => `h${i % 32}.sub - AAAA 2001:db8::1:${i}\nh${i % 32}.sub - A 10.0.${i >> 8}.${i & 255}`)}`,
    ),
    ask: asks((random) => `${fresh(random)}.sub`, ["A"], overTcp),
  }),
  "an alias of every name into a delegation": () => ({
    zone: chained(`*.w - CNAME x.sub\n${delegation(90, ".sub")}`),
    ask: asks((random) => `${fresh(random)}.w`, ["A"], { ...signed, ...overTcp }),
  }),
  "300 types at each of 60 names above the queried one": () => ({
    zone: plain(list(60, (i) => manyTypes(labels(i + 1), 300))),
    ask: asks((random) => `${fresh(random)}.${labels(60)}`, ["A"]),
  }),
  "2,000 types at one signed name": () => ({
    zone: chained(`${manyTypes("m", 2_000)}\n*.m - A 192.0.2.1`),
    ask: asks((random) => pick(random, ["m", `${fresh(random)}.m`]), ["A", "TXT", "RRSIG", "ANY"], signed),
  }),
  "60 keys that sign every set, NSEC3": () => ({
    zone: chained('a.b - TXT "a"', { kind: "nsec3", keys: 60, bytes: 256 }),
    ask: asks((random) => `${fresh(random)}.b`, ["A", "TXT"], signed),
  }),
  "60 keys that sign every set, NSEC, over TCP": () => ({
    zone: chained('*.b - TXT "a"\nc.b - CNAME x.b', { kind: "nsec", keys: 60, bytes: 256 }),
    ask: asks((random) => `${fresh(random)}.${pick(random, ["b", "d"])}`, ["A", "TXT"], { ...signed, ...overTcp }),
  }),
  "lists of types with 200 blocks, NSEC3": () => ({
    zone: chained('a.b - TXT "a"', { kind: "nsec3", windows: 200 }),
    ask: asks((random) => `${fresh(random)}.b`, ["A"], signed),
  }),
  "the same with 16 keys, over TCP": () => ({
    zone: chained('a.b - TXT "a"', { kind: "nsec3", windows: 200, keys: 16 }),
    ask: asks((random) => `${fresh(random)}.b`, ["A"], { ...signed, ...overTcp }),
  }),
  "lists of types with 200 blocks, NSEC": () => ({
    zone: chained('a.b - TXT "a"', { kind: "nsec", windows: 200 }),
    ask: asks((random) => `${fresh(random)}.b`, ["A"], signed),
  }),
  "a delegation to 2,000 servers, each with glue of both families": () => ({
    zone: chained(delegation(2_000, ".sub"), { kind: "nsec", keys: 16 }),
    ask: asks((random) => `${fresh(random)}.sub`, ["A"], { ...signed, ...overTcp }),
  }),
  "2,000 signatures of one set": () => ({
    zone: more(
      chained("*.m - A 192.0.2.1"),
      list(1_500, (i) => `*.m - TYPE46 ${data(`0001${octets(18)}${u16(i)}`)}`),
    ),
    ask: asks((random) => `${fresh(random)}.m`, ["A", "RRSIG"], { ...signed, ...overTcp }),
  }),
};

import { nameToWire } from "../../src/core/names/wire.ts";
import { type RecordType, typeCode } from "../../src/core/rdata/table.ts";
import type { ZoneContent } from "../../src/core/records/zone-view.ts";
import { signedZone } from "../rig/core/signed-zone.suite.ts";
import { dnameTo, writtenZone } from "../rig/core/written-sets.suite.ts";
import { pick, type Random } from "../rig/random.ts";
import { type HostileZone, name, typeCodes } from "./hostile-zones.ts";

/** What makes a zone expensive, and the names to ask for it; all numbers are chosen at random. */
type Part = {
  readonly lines: readonly string[];
  readonly ask: (random: Random) => string;
  /** Another one than usual is worth asking for. */
  readonly type?: number;
};

type PartOptions = {
  readonly random: Random;
  /** All names of the part are below it. */
  readonly below: string;
  /** How many names or values there may be. */
  readonly most: number;
};

const list = (count: number, line: (i: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, i) => line(i));
const fresh = (random: Random): string => `x${random(1e9).toString(36)}`;

/** Small numbers are as likely as large ones. */
const amount = (random: Random, most: number): number => Math.max(1, Math.floor(most ** (random(1_001) / 1_000)));

const deep = (random: Random, below: string): string => {
  const most = random(3) === 0 ? 105 : 5;
  return [...list(random(Math.max(1, most - below.split(".").length)), () => pick(random, ["a", "b"])), below].join(
    ".",
  );
};

const hosts = (random: Random, count: number, below: string): readonly string[] => {
  const each = random(4) === 0 ? amount(random, 2_000 / count) : 1;
  return list(count, (i) => `h${i}.${below}`).flatMap((host, i) =>
    list(each, (k) => `${host} - A 10.${k >> 8}.${k & 255}.${i & 255}\n${host} - AAAA 2001:db8::${k + 1}:${i}`),
  );
};

type Value = (i: number, host: string) => string;

const naptr: Value = (i, host) => {
  const data = Buffer.concat([Buffer.of(i >> 8, i & 255), Buffer.alloc(5), nameToWire(`${host}.${name}`)]);
  return `TYPE35 \\# ${data.length} ${data.toString("hex")}`;
};

/** Values of a type that are different from each other; `host` names one. */
const values: Readonly<Record<string, Value>> = {
  A: (i) => `A 10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
  AAAA: (i) => `AAAA 2001:db8::${i.toString(16)}`,
  MX: (i, host) => `MX ${i} ${host}`,
  SRV: (i, host) => `SRV ${i} 1 1 ${host}`,
  SVCB: (i, host) => `SVCB ${i + 1} ${host}`,
  TYPE35: naptr,
  PTR: (_, host) => `PTR ${host}`,
  TXT: (i) => `TXT "${i}${"t".repeat(240)}"`,
  DS: (i) => `DS ${i} 13 2 ${"ab".repeat(32)}`,
  CAA: (i) => `CAA 0 issue "${i}.ca.example.net"`,
};

const parts: Readonly<Record<string, (options: PartOptions) => Part>> = {
  set: ({ random, below, most }) => {
    const count = amount(random, most);
    const owner = random(2) === 0 ? `*.${deep(random, below)}` : deep(random, below);
    const [place, [type, value]] = [deep(random, below), pick(random, Object.entries(values))];
    const lines = list(count, (i) => `${owner} - ${value(i, `h${i}.${place}`)}`);
    return {
      lines: random(3) === 0 ? lines : [...lines, ...hosts(random, count, place)],
      ask: (next) => owner.replace(/^\*/, () => fresh(next)),
      type: typeCode(type as RecordType),
    };
  },
  aliases: ({ random, below, most }) => {
    const [links, place, star] = [amount(random, Math.min(most, 60)), deep(random, below), random(2) === 0];
    const end = pick(random, ["A 10.0.0.1", `CNAME c0.${place}`, `NS h0.c${links}.${place}`, 'TXT "end"']);
    const at = (i: number, label: string) => (star ? `${label}.y.c${i}.${place}` : `c${i}.${place}`);
    const owner = (i: number) => (star ? `*.c${i}.${place}` : at(i, ""));
    return {
      lines: [...list(links, (i) => `${owner(i)} - CNAME ${at(i + 1, "x")}`), `${owner(links)} - ${end}`],
      ask: (next) => at(next(links), fresh(next)),
    };
  },
  redirects: ({ random, below, most }) => {
    const [links, depth] = [amount(random, Math.min(most, 40)), random(60)];
    const target = pick(random, [
      name,
      `r0.${below}.${name}`,
      `${list(random(20), () => "r").join(".")}${below}.${name}`,
    ]);
    return {
      lines: [
        ...list(links, (i) => `r${i}.${below} - ${dnameTo(`r${i + 1}.${below}.${name}`)}`),
        `r${links}.${below} - ${dnameTo(target)}`,
        "*.a - A 10.0.0.1",
      ],
      ask: (next) => [fresh(next), ...list(depth, () => "a"), `r${next(links + 1)}`, below].join("."),
    };
  },
  delegation: ({ random, below, most }) => {
    const [count, cut] = [amount(random, Math.min(most, 400)), deep(random, below)];
    const place = random(4) === 0 ? deep(random, below) : deep(random, cut);
    const ds = random(2) === 0 ? [`${cut} - DS 1 13 2 ${"ab".repeat(32)}`] : [];
    return {
      lines: [...list(count, (i) => `${cut} - NS h${i}.${place}`), ...hosts(random, count, place), ...ds],
      ask: (next) => (next(8) === 0 ? cut : `${fresh(next)}.${deep(next, cut)}`),
    };
  },
  types: ({ random, below, most }) => {
    const [names, bytes] = [amount(random, 60), random(4) === 0 ? 500 : 1];
    const each = amount(random, Math.min(most, 1_500) / names);
    const data = `\\# ${bytes} ${"00".repeat(bytes)}`;
    const owner = (i: number) => [...list(i, () => "a"), random(2) === 0 ? "*" : "b", below].join(".");
    const owners = list(names, owner);
    return {
      lines: owners.flatMap((at) => list(each, (i) => `${at} - TYPE${i + 1_000} ${data}`)),
      ask: (next) => `${fresh(next)}.${pick(next, owners)}`.replace("*", fresh(next)),
    };
  },
  names: ({ random, below, most }) => {
    const [count, depth] = [amount(random, most), random(100)];
    const place = [...list(depth, () => "a"), below].join(".");
    return {
      lines: list(count, (i) => `n${i}.${place} - A 10.0.0.1`),
      ask: (next) => [`n${next(2 * count)}`, ...place.split(".").slice(next(depth + 1))].join("."),
    };
  },
};

/**
 * A random hostile zone, signed or not, and questions for it. How they are asked is chosen once, so that many of them
 * are of the most expensive kind.
 */
export function inventedZone(random: Random): HostileZone {
  const chain = pick(random, ["none", "nsec", "nsec3"] as const);
  const made = Array.from({ length: 1 + random(2) }, (_, i) =>
    // Signing takes as long as the square of the number of names.
    pick(random, Object.values(parts))({ random, below: `p${i}`, most: chain === "none" ? 3_000 : 150 }),
  );
  const lines = ["@ - NS ns1", "ns1 - A 192.0.2.1", ...new Set(made.flatMap((part) => part.lines))].join("\n");
  const [type, dnssecOk] = [random(2) === 0 ? pick(random, typeCodes) : undefined, random(3) > 0];
  const anyType = (next: Random) => pick(next, [...typeCodes, 39, 50, 51, 1_000 + next(100), next(65_536)]);
  return {
    zone: chain === "none" ? writtenZone(name, lines) : signedAs(random, chain, lines),
    ask: (next) => {
      const part = pick(next, made);
      const usual = type ?? part.type;
      const asked = usual === undefined || next(8) === 0 ? anyType(next) : usual;
      return { name: within(part.ask(next)), type: asked, dnssecOk, transport: next(2) === 0 ? "udp" : "tcp" };
    },
  };
}

function signedAs(random: Random, kind: "nsec" | "nsec3", lines: string): ZoneContent {
  const iterations = pick(random, [0, 0, 1, 10, 50, 150]);
  return signedZone(name, lines, {
    ...{ kind, iterations, optOut: random(2) === 0, bytes: pick(random, [8, 64, 256]) },
    ...{ keys: pick(random, [1, 1, 4, 16, 60]), windows: pick(random, [1, 1, 20, 200]) },
  });
}

/** The last labels that fit into a name. */
function within(owner: string): string {
  const labels = owner.split(".");
  while (labels.join(".").length > 250 - name.length) labels.shift();
  return [...labels, name].join(".");
}

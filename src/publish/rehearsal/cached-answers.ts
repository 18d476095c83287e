import { dnssecTypes } from "../../core/dnssec/codes.ts";
import type { Instant } from "../../core/instant.ts";
import type { Message, ResourceRecord } from "../../lib/dns/message.ts";
import type { Ask, Question } from "./ask-all.ts";
import { isSignedBy, refersTo, type SeenSet } from "./verify.ts";

/** An answer that caches may hold from the moment it was first given until its TTL has passed since it was last given. */
type Seen = {
  readonly id: number;
  readonly sets: readonly SeenSet[];
  readonly text: string;
  readonly from: Instant;
  /** When another answer replaced it. */
  until?: Instant;
  /** In milliseconds. */
  readonly ttl: number;
};

export type CachedAnswers = {
  /** Asks everything again; call it after each change. */
  readonly look: (now: Instant) => Promise<void>;
  /** Checks every combination of answers that caches can hold now. Returns their number, and which are bogus. */
  readonly check: (now: Instant) => { readonly checked: number; readonly bogus: readonly string[] };
};

/**
 * What validating resolvers can have in their caches, with TTLs that follow the clock that is passed in. A resolver may combine an old DS
 * set with new keys, and old keys with a new answer, so every combination has to be valid (RFC 7583 section 3).
 */
export function createCachedAnswers(
  zone: string,
  questions: readonly Question[],
  ask: Ask,
  /** The servers of the zone that resolvers query now, if they are not the parent's. */
  servers: () => readonly Ask[] = () => [ask],
  /** Other servers of the parent. */
  moreParents: readonly Ask[] = [],
): CachedAnswers {
  /** By question, and by the server that answered it. */
  const histories = new Map<string, Map<Ask, Seen[]>>();
  let count = 0;
  const [dsAsked, keysAsked] = [
    { name: zone, type: dnssecTypes.ds },
    { name: zone, type: dnssecTypes.dnskey },
  ];
  const historiesOf = ({ name, type }: Question): Map<Ask, Seen[]> => {
    const key = `${name} ${type}`;
    const found = histories.get(key) ?? new Map<Ask, Seen[]>();
    histories.set(key, found);
    return found;
  };
  const alive = (question: Question, now: Instant): readonly Seen[] =>
    [...historiesOf(question).values()].flat().filter(({ until, ttl }) => until === undefined || now <= until + ttl);
  const known = new Map<string, boolean>();
  const remembered = (key: string, find: () => boolean): boolean => {
    const value = known.get(key) ?? find();
    known.set(key, value);
    return value;
  };

  const isBogus = (ds: Seen, keys: Seen, answer: Seen, now: Instant): boolean => {
    const dsSet = ds.sets.find(({ type }) => type === dnssecTypes.ds);
    if (dsSet === undefined) return false;
    const keySet = keys.sets.find(({ type }) => type === dnssecTypes.dnskey);
    if (keySet === undefined) return true;
    // RFC 6840 section 5.11: a strict resolver expects signatures of every algorithm that the parent lists.
    return [...new Set(dsSet.data.map((data) => data[2] ?? 0))].some((algorithm) => {
      const trusted = keySet.data.filter((key) => dsSet.data.some((data) => refersTo(data, key, zone)));
      return (
        !isSignedBy(keySet, zone, algorithm, trusted, now) ||
        answer.sets.length === 0 ||
        answer.sets.some((set) => !isSignedBy(set, zone, algorithm, keySet.data, now))
      );
    });
  };

  return {
    look: async (now) => {
      for (const question of [dsAsked, keysAsked, ...questions]) {
        const byServer = historiesOf(question);
        const asked = question === dsAsked ? [ask, ...moreParents] : servers();
        for (const [server, history] of byServer) {
          const last = history.at(-1);
          if (last !== undefined && !asked.includes(server)) last.until ??= now;
        }
        for (const server of asked) {
          const history = byServer.get(server) ?? [];
          byServer.set(server, history);
          const last = history.at(-1);
          const next = seenIn(await server(question), now, ++count);
          if (last?.text === next.text && last.until === undefined) continue;
          if (last !== undefined) last.until ??= now;
          history.push(next);
        }
      }
    },
    check: (now) => {
      const bogus: string[] = [];
      let checked = 0;
      // Checking once per hour is enough: signatures are renewed days before they expire.
      const hour = Math.floor(now / 3_600_000);
      for (const ds of alive(dsAsked, now))
        for (const keys of alive(keysAsked, now))
          for (const question of [keysAsked, ...questions])
            for (const answer of question === keysAsked ? [keys] : alive(question, now)) {
              checked += 1;
              const key = [hour, ds.id, keys.id, answer.id].join(" ");
              if (remembered(key, () => isBogus(ds, keys, answer, now)))
                bogus.push(`${question.name} ${question.type}`);
            }
      return { checked, bogus };
    },
  };
}

function seenIn({ answers, authorities }: Message, from: Instant, id: number): Seen {
  const records = [...answers, ...authorities];
  const sets = setsIn(records);
  const text = sets.map(({ name, type, data, signatures }) => [name, type, hexes(data), hexes(signatures)].join(" "));
  const ttl = Math.max(0, ...records.map((record) => record.ttl)) * 1000;
  return { id, sets, text: text.join("\n"), from, ttl };
}

const hexes = (data: readonly Uint8Array[]): string =>
  data
    .map((each) => Buffer.from(each).toString("hex"))
    .sort()
    .join(",");

function setsIn(records: readonly ResourceRecord[]): readonly SeenSet[] {
  const [signatures, others] = [true, false].map((are) =>
    records.filter(({ type }) => (type === dnssecTypes.rrsig) === are),
  );
  const groups = Map.groupBy(others ?? [], ({ name, type }) => `${name} ${type}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { name, type } = first;
    const own = signatures?.filter(({ name: of, data }) => of === name && coveredBy(data) === type) ?? [];
    return { name, type, data: group.map(({ data }) => data), signatures: own.map(({ data }) => data) };
  });
}

const coveredBy = (data: Uint8Array): number => ((data[0] ?? 0) << 8) | (data[1] ?? 0);

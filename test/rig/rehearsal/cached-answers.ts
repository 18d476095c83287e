import { dnssecTypes } from "../../../src/core/dnssec/codes.ts";
import type { Instant } from "../../../src/core/instant.ts";
import type { Message, ResourceRecord } from "../../../src/lib/dns/message.ts";
import type { Ask, SetQuestion } from "./ask-all.ts";
import { createVerifier, type IsSignedBy, refersTo, type SeenSet } from "./verify.ts";

/**
 * An answer that caches may hold from the moment it was first given until its TTL has passed since it was last given.
 */
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

type Options = {
  readonly zone: string;
  readonly questions: readonly SetQuestion[];
  readonly ask: Ask;
  /** The servers of the zone that resolvers query now, if they are not the parent's. */
  readonly servers: () => readonly Ask[];
  /** Other servers of the parent. */
  readonly moreParents: readonly Ask[];
};

export const createCachedAnswers = (
  zone: string,
  questions: readonly SetQuestion[],
  ask: Ask,
  servers: Options["servers"] = () => [ask],
  moreParents: readonly Ask[] = [],
): CachedAnswers => new CachedAnswers({ zone, questions, ask, servers, moreParents });

/**
 * What validating resolvers can have in their caches, with TTLs that follow the clock that is passed in. A resolver may
 * combine an old DS set with new keys, and old keys with a new answer, so every combination has to be valid (RFC 7583
 * section 3).
 */
class CachedAnswers {
  readonly #options: Options;
  readonly #isSignedBy: IsSignedBy;
  readonly #dsQuestion: SetQuestion;
  readonly #keysQuestion: SetQuestion;
  /** By question, and by the server that answered it. */
  readonly #histories = new Map<string, Map<Ask, Seen[]>>();
  /** Whether a combination is bogus, by the ids of its answers. */
  readonly #verdicts = new Map<string, boolean>();
  #count = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#isSignedBy = createVerifier(options.zone);
    this.#dsQuestion = { name: options.zone, type: dnssecTypes.ds };
    this.#keysQuestion = { name: options.zone, type: dnssecTypes.dnskey };
  }

  /** Asks everything again; call it after each change. */
  async update(now: Instant): Promise<void> {
    const { questions, ask, servers, moreParents } = this.#options;
    for (const question of [this.#dsQuestion, this.#keysQuestion, ...questions])
      await this.#ask(question, question === this.#dsQuestion ? [ask, ...moreParents] : servers(), now);
  }

  /** Checks every combination of answers that caches can hold now. Returns their number, and which are bogus. */
  check(now: Instant): { readonly checked: number; readonly bogus: readonly string[] } {
    const keysQuestion = this.#keysQuestion;
    const bogus: string[] = [];
    let checked = 0;
    for (const ds of this.#alive(this.#dsQuestion, now))
      for (const keys of this.#alive(keysQuestion, now))
        for (const question of [keysQuestion, ...this.#options.questions])
          for (const answer of question === keysQuestion ? [keys] : this.#alive(question, now)) {
            checked += 1;
            if (this.#isBogus(ds, keys, answer, now)) bogus.push(`${question.name} ${question.type}`);
          }
    return { checked, bogus };
  }

  async #ask(question: SetQuestion, servers: readonly Ask[], now: Instant): Promise<void> {
    const byServer = this.#historiesOf(question);
    for (const [server, history] of byServer) {
      const last = history.at(-1);
      if (last !== undefined && !servers.includes(server)) last.until ??= now;
    }
    for (const server of servers) {
      const history = byServer.get(server) ?? [];
      byServer.set(server, history);
      const last = history.at(-1);
      const next = seenIn(await server(question), now, ++this.#count);
      if (last?.text === next.text && last.until === undefined) continue;
      if (last !== undefined) last.until ??= now;
      history.push(next);
    }
  }

  #historiesOf({ name, type }: SetQuestion): Map<Ask, Seen[]> {
    const key = `${name} ${type}`;
    const history = this.#histories.get(key) ?? new Map<Ask, Seen[]>();
    this.#histories.set(key, history);
    return history;
  }

  #alive(question: SetQuestion, now: Instant): readonly Seen[] {
    const all = [...this.#historiesOf(question).values()].flat();
    return all.filter(({ until, ttl }) => until === undefined || now <= until + ttl);
  }

  #isBogus(ds: Seen, keys: Seen, answer: Seen, now: Instant): boolean {
    // Checking once per hour is enough: signatures are renewed days before they expire.
    const hour = Math.floor(now / 3_600_000);
    const key = [hour, ds.id, keys.id, answer.id].join(" ");
    const verdict = this.#verdicts.get(key) ?? this.#findBogus(ds, keys, answer, now);
    this.#verdicts.set(key, verdict);
    return verdict;
  }

  #findBogus(ds: Seen, keys: Seen, answer: Seen, now: Instant): boolean {
    const dsSet = ds.sets.find(({ type }) => type === dnssecTypes.ds);
    if (dsSet === undefined) return false;
    const keySet = keys.sets.find(({ type }) => type === dnssecTypes.dnskey);
    if (keySet === undefined) return true;
    // RFC 6840 section 5.11: a strict resolver expects signatures of every algorithm that the parent lists.
    return [...new Set(dsSet.data.map((data) => data[2] ?? 0))].some((algorithm) => {
      const trusted = keySet.data.filter((key) => dsSet.data.some((data) => refersTo(data, key, this.#options.zone)));
      return (
        !this.#isSignedBy(keySet, algorithm, trusted, now) ||
        answer.sets.length === 0 ||
        answer.sets.some((set) => !this.#isSignedBy(set, algorithm, keySet.data, now))
      );
    });
  }
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

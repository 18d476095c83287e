import type { Instant } from "../../core/instant.ts";
import { BoundedMap } from "../limits/bounded-map.ts";
import { nameOf, type Peer } from "./ask.ts";

/** Account holders choose the names of zones, and so the parents. */
const most = 10_000;

type Lookup = (name: string) => Promise<readonly string[]>;

/** Milliseconds. A resolver that fails is asked about the same name again much sooner. */
const answerAge = 5 * 60_000;
const failureAge = 30_000;

/** Asks about each name once in five minutes. */
export function rememberAnswers(lookup: Lookup, now: () => Instant): Lookup {
  const answers = new BoundedMap<string, { readonly answer: Promise<readonly string[]>; until: Instant }>(most);
  return (name) => {
    const known = answers.get(name);
    if (known !== undefined && now() < known.until) return known.answer;
    const asked = { answer: lookup(name), until: now() + answerAge };
    asked.answer.catch(() => (asked.until = now() + failureAge));
    answers.set(name, asked);
    return asked.answer;
  };
}

/**
 * Milliseconds. The first is shorter than the pause between two visits of a zone, so that a second visit asks again.
 */
const silence = { first: 45_000, longest: 5 * 60_000 };
/** Longer than both tries of a query. */
const asking = 10_000;

type Silence = { readonly times: number; readonly until: Instant; readonly isAsked: boolean };

/**
 * Servers that have not answered. After a while each is asked about one zone, and only if it answers, about the others
 * too: a thousand zones must not each wait for the same silent server.
 */
export class Silences {
  readonly #now: () => Instant;
  readonly #silences = new BoundedMap<string, Silence>(most);

  constructor(now: () => Instant) {
    this.#now = now;
  }

  mayAsk(peer: Peer): boolean {
    const silent = this.#silences.get(nameOf(peer));
    if (silent === undefined) return true;
    if (this.#now() < silent.until) return false;
    this.#silences.set(nameOf(peer), { ...silent, until: this.#now() + asking, isAsked: true });
    return true;
  }

  /** Whether a query was answered. Many may have been under way when the server became silent: they count once. */
  note(peer: Peer, isSilent: boolean): void {
    const before = this.#silences.get(nameOf(peer));
    if (!isSilent) return this.#silences.delete(nameOf(peer));
    if (before !== undefined && !before.isAsked) return;
    const times = (before?.times ?? 0) + 1;
    const until = this.#now() + Math.min(silence.longest, silence.first * 2 ** (times - 1));
    this.#silences.set(nameOf(peer), { times, until, isAsked: false });
  }
}

import type { NameChange, NamePlan } from "../../../core/dnssec/plan-signing.ts";
import type { Signer, SigningTime } from "../../signing/signer.ts";

/** What is signed in other threads: `count` sets or names, in groups. */
type NamesToSign = {
  readonly at: SigningTime;
  readonly count: number;
  readonly groups: Iterable<readonly NamePlan[]> | AsyncIterable<readonly NamePlan[]>;
};

/** A group of names goes to the other threads once it has this many sets to sign, */
const perGroup = 64;
/** or once preparing it has taken this many milliseconds: V8 is slow when it runs the code for the first time. */
const longest = 2;
/** For more names than this, it is worth starting a thread with a low priority. */
const many = 1_000;

/**
 * `next` waits for the caller's turn. `isUrgent`: others wait for the signatures, so signing must not give way to them.
 */
export type SigningPace = { readonly next: () => Promise<void>; readonly isUrgent: boolean };

/** Blocks; for a few signatures. */
export const signNamesNow = (
  signer: Signer,
  zone: string,
  namePlans: readonly NamePlan[],
  at: SigningTime,
): readonly NameChange[] => namePlans.flatMap(({ toSign, change }) => change(signer.signNow(zone, toSign, at)) ?? []);

/** Signs in other threads, which work on the next names while the caller uses those before. */
export async function* signNamesOffThread(
  signer: Signer,
  zone: string,
  { groups: all, at, count }: NamesToSign,
  { next, isUrgent }: SigningPace,
): AsyncGenerator<readonly NameChange[], void> {
  const offThread = signer.offThread(!isUrgent && count > many);
  const sign = async (some: readonly NamePlan[]): Promise<readonly NameChange[]> => {
    const toSign = some.flatMap((namePlan) => namePlan.toSign);
    const signatures = toSign.length > 0 ? await offThread.sign(zone, toSign, at) : [];
    let from = 0;
    return some.flatMap((namePlan) => {
      const own = signatures.slice(from, from + namePlan.toSign.length);
      from += own.length;
      return namePlan.change(own) ?? [];
    });
  };
  try {
    const groups = Symbol.iterator in all ? all[Symbol.iterator]() : all[Symbol.asyncIterator]();
    let before: Promise<readonly NameChange[]> | undefined;
    for (;;) {
      await next();
      const some = await groups.next();
      if (some.done) break;
      const signed = sign(some.value);
      // If the caller stops early, nobody awaits this promise, and its rejection must not be reported as unhandled.
      signed.catch(() => undefined);
      if (before !== undefined) yield await before;
      before = signed;
    }
    if (before !== undefined) yield await before;
  } finally {
    await offThread.end();
  }
}

export function* inGroups(namePlans: Iterable<NamePlan>): Generator<readonly NamePlan[], void> {
  let [some, count, since]: [NamePlan[], number, number] = [[], 0, performance.now()];
  for (const namePlan of namePlans) {
    some.push(namePlan);
    count += namePlan.toSign.length;
    if (count < perGroup && performance.now() - since < longest) continue;
    yield some;
    [some, count, since] = [[], 0, performance.now()];
  }
  if (some.length > 0) yield some;
}

import type { NameChange, SigningPart } from "../../core/dnssec/plan-signing.ts";
import type { Signer } from "../signing/signer.ts";
import type { PlannedSignatures } from "./plan-signatures.ts";

/** Signatures per message to the other thread. */
const perMessage = 64;
/** Milliseconds to prepare a message; V8 is slow when it runs the code for the first time. */
const longest = 1.5;

/** Blocks; for a few signatures inside a transaction. */
export const signPartsNow = (signer: Signer, zone: string, { parts, at }: PlannedSignatures): readonly NameChange[] =>
  [...parts()].flatMap(({ toSign, change }) => {
    signer.signNow(zone, toSign, at);
    return change() ?? [];
  });

/** Signs in another thread, which works on the next names while the caller uses those before. `next` waits for the caller's turn. */
export async function* signPartsBeside(
  signer: Signer,
  zone: string,
  { parts, at }: PlannedSignatures,
  next: () => Promise<void>,
): AsyncGenerator<readonly NameChange[], void> {
  const beside = signer.beside();
  const sign = async (some: readonly SigningPart[]): Promise<readonly NameChange[]> => {
    await beside.sign(
      zone,
      some.flatMap(({ toSign }) => toSign),
      at,
    );
    return some.flatMap(({ change }) => change() ?? []);
  };
  try {
    const messages = inMessages(parts());
    let before: Promise<readonly NameChange[]> | undefined;
    for (;;) {
      await next();
      const some = messages.next();
      if (some.done) break;
      const signed = sign(some.value);
      // Nobody looks at it if the caller stops before.
      signed.catch(() => undefined);
      if (before !== undefined) yield await before;
      before = signed;
    }
    if (before !== undefined) yield await before;
  } finally {
    await beside.end();
  }
}

function* inMessages(parts: Iterable<SigningPart>): Generator<readonly SigningPart[], void> {
  let [some, count, since]: [SigningPart[], number, number] = [[], 0, performance.now()];
  for (const part of parts) {
    some.push(part);
    count += part.toSign.length;
    if (count < perMessage && performance.now() - since < longest) continue;
    yield some;
    [some, count, since] = [[], 0, performance.now()];
  }
  if (some.length > 0) yield some;
}

import { rcodes } from "../../lib/dns/codes.ts";
import type { Message } from "../../lib/dns/message.ts";
import type { Question } from "./ask-all.ts";

/** `failed`: no answer, for a reason other than a bogus one. */
export type Verdict = "secure" | "insecure" | "bogus" | "failed";

type Reply = Pick<Message, "rcode" | "authenticData">;

export type Judge = {
  readonly ask: (question: Question) => Promise<Reply>;
  /** Without validation. */
  readonly askUnchecked: (question: Question) => Promise<Reply>;
  /** The resolver forgets answers and failures. */
  readonly forget: () => Promise<void>;
};

const tries = 3;

/**
 * A query that fails only with validation is bogus. But on a busy machine, a query of the resolver itself can time out, and it caches that failure for
 * seconds: so only what fails every time counts.
 */
export async function verdictOn(question: Question, { ask, askUnchecked, forget }: Judge): Promise<Verdict> {
  let verdict: Verdict = "failed";
  for (let left = tries; left > 0; left--) {
    const { rcode, authenticData } = await ask(question);
    if (rcode !== rcodes.servFail) return authenticData ? "secure" : "insecure";
    verdict = (await askUnchecked(question)).rcode === rcodes.servFail ? "failed" : "bogus";
    await forget();
  }
  return verdict;
}

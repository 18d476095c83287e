import { rcodes } from "../../../src/lib/dns/codes.ts";
import type { Message } from "../../../src/lib/dns/message.ts";
import type { SetQuestion } from "./ask-all.ts";

/** `failed`: no answer, for a reason other than a bogus one. */
export type ValidationVerdict = "secure" | "insecure" | "bogus" | "failed";

type Reply = Pick<Message, "rcode" | "authenticData">;

/** Undefined if there is no reply in time. */
export type Judge = {
  readonly ask: (question: SetQuestion) => Promise<Reply | undefined>;
  /** Without validation. */
  readonly askUnchecked: (question: SetQuestion) => Promise<Reply | undefined>;
  /** The resolver forgets answers and failures. */
  readonly forget: () => Promise<void>;
};

const tries = 3;

const hasAnswer = (reply: Reply | undefined): reply is Reply => reply !== undefined && reply.rcode !== rcodes.servFail;

/**
 * A query that fails only with validation is bogus. But on a busy machine, a query of the resolver itself can time out,
 * and it caches that failure for seconds: so only what fails every time counts.
 */
export async function verdictOn(
  question: SetQuestion,
  { ask, askUnchecked, forget }: Judge,
): Promise<ValidationVerdict> {
  let verdict: ValidationVerdict = "failed";
  for (let left = tries; left > 0; left--) {
    const reply = await ask(question);
    if (hasAnswer(reply)) return reply.authenticData ? "secure" : "insecure";
    // Silence says nothing about the answer.
    verdict = reply !== undefined && hasAnswer(await askUnchecked(question)) ? "bogus" : "failed";
    await forget();
  }
  return verdict;
}

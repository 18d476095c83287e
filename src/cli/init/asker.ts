import { visible } from "../../core/visible-text.ts";
import type { CommandIo } from "../io/command-io.ts";

/** Where the answers of `moor init` come from: the command line first, then the person at the terminal. */
export type Asker = {
  /** Whether a person can give another answer. A repeated question offers the earlier answer. */
  readonly asksAgain: boolean;
  /** The same questions follow. If only a secret was wrong, the others keep their answers without being asked again. */
  again(wrong: WrongPart): void;
  /** `flag` is the option that gives the answer on the command line. */
  text(question: Question): Promise<string>;
  secret(question: Question): Promise<string>;
  pick(question: Question & { readonly choices: readonly Choice[] }): Promise<string>;
  yes(question: Question & { readonly assumed: boolean }): Promise<boolean>;
};

export type Question = {
  readonly flag: string;
  readonly given: string | undefined;
  readonly message: string;
  readonly example?: string;
  /** An answer that is probably right: it only has to be confirmed. */
  readonly proposed?: string;
  /** What is wrong with an answer, if anything; then the question is asked again. */
  readonly fault?: (answer: string) => string | undefined;
};

export type Choice = { readonly value: string; readonly label: string; readonly hint?: string };

/** Thrown when an answer is missing, or the person gave up. */
export class NoAnswer extends Error {}

/** What of the answers did not work, if that is known. */
type WrongPart = "secret" | undefined;

/** An answer that does not work; another one may. */
export class WrongAnswer extends NoAnswer {
  readonly part: WrongPart;
  constructor(message: string, part?: WrongPart) {
    super(message);
    this.part = part;
  }
}

/** Asks until the answers work. Without a terminal, the first one that does not work is thrown. */
export async function untilRight<T>(asker: Asker, io: CommandIo, ask: () => Promise<T>): Promise<T> {
  for (asker.again(undefined); ; ) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof WrongAnswer) || !asker.asksAgain) throw error;
      io.err(`${error.message}\n`);
      asker.again(error.part);
    }
  }
}

/** Without a terminal: what is not on the command line is missing. */
export function createFlagAsker(assumeYes: boolean): Asker {
  const given = async ({ given, flag, message, example, fault }: Question): Promise<string> => {
    if (given === undefined)
      throw new NoAnswer(
        `${message} Answer with ${flag}${example && !flag.includes("=") ? `, as in ${flag} ${example}` : ""}.`,
      );
    const wrong = fault?.(given);
    if (wrong !== undefined) throw new WrongAnswer(wrong);
    return given;
  };
  return {
    asksAgain: false,
    again: () => undefined,
    text: given,
    secret: given,
    async pick({ choices, ...question }) {
      const answer = await given({ ...question, message: `${question.message}${listed(choices)}` });
      return checkedChoice(answer, choices, question);
    },
    async yes({ given: answer, flag, message }) {
      if (assumeYes || answer !== undefined) return true;
      throw new NoAnswer(`${message} Confirm with ${flag === "--yes" ? flag : `${flag} or --yes`}.`);
    },
  };
}

/** With a terminal: asks for what is not on the command line, and again for what did not work. */
export async function createTerminalAsker(io: CommandIo, assumeYes: boolean): Promise<Asker> {
  const prompts = await import("@clack/prompts");
  const { signal } = io;
  const earlier = new Map<string, string>();
  const answered = <T>(answer: T): Exclude<T, symbol> => {
    if (typeof answer === "symbol") throw new NoAnswer("Stopped; nothing was written.");
    return answer as Exclude<T, symbol>;
  };
  let onlySecrets = false;
  /** The value on the command line is used only the first time; after that it is offered as the earlier answer. */
  const asked = async (
    { given, message }: Question,
    prompt: (before: string | undefined) => Promise<string>,
    isSecret = false,
  ): Promise<string> => {
    const before = earlier.get(message);
    if (onlySecrets && !isSecret && before !== undefined) return before;
    const answer = before === undefined && given !== undefined ? given : await prompt(before);
    earlier.set(message, answer);
    return answer;
  };
  const required = (value: string | undefined) => (value ? undefined : "Please type an answer.");
  const checked = async (
    question: Question,
    prompt: (before: string | undefined) => Promise<string>,
    isSecret = false,
  ) => {
    const answer = await asked(question, prompt, isSecret);
    const wrong = question.fault?.(answer);
    if (wrong !== undefined) throw new WrongAnswer(wrong);
    return answer;
  };
  return {
    asksAgain: !assumeYes,
    again(wrong) {
      onlySecrets = wrong === "secret";
    },
    text: (question) => {
      const { message, example = "", proposed, fault } = question;
      const validate = (value: string | undefined) => required(value) ?? fault?.(value ?? "");
      return checked(question, async (before) => {
        const known = before ?? proposed;
        const initialValue = known === undefined ? {} : { initialValue: known };
        return answered(await prompts.text({ message, placeholder: example, ...initialValue, validate, signal }));
      });
    },
    secret: (question) => {
      const prompt = async (earlierSecret: string | undefined) => {
        const before = onlySecrets ? undefined : earlierSecret;
        const message = `${question.message}${before === undefined ? "" : " Press Enter to keep the earlier one."}`;
        const validate = (value: string | undefined) =>
          value || before === undefined ? (required(value) ?? question.fault?.(value ?? "")) : undefined;
        // The library returns undefined for an empty answer.
        return answered(await prompts.password({ message, validate, signal })) || (before ?? "");
      };
      return checked(question, prompt, true);
    },
    async pick({ choices, ...question }) {
      const options = choices.map(({ value, label, hint }) => ({
        value,
        label: visible(label),
        ...(hint ? { hint: visible(hint) } : {}),
      }));
      const answer = await asked(question, async (before) => {
        const initial = choices.some(({ value }) => value === before) ? { initialValue: before ?? "" } : {};
        return answered(await prompts.select({ message: question.message, options, ...initial, signal }));
      });
      return checkedChoice(answer, choices, question);
    },
    yes: async ({ given, message, assumed }) =>
      assumeYes || given !== undefined || answered(await prompts.confirm({ message, initialValue: assumed, signal })),
  };
}

function checkedChoice(answer: string, choices: readonly Choice[], { flag }: Pick<Question, "flag">): string {
  if (choices.some(({ value }) => value === answer)) return answer;
  throw notAmong(choices, flag, answer);
}

export const notAmong = (choices: readonly Choice[], flag: string, answer: string): WrongAnswer =>
  new WrongAnswer(`${flag} ${answer} is not one of the choices.${listed(choices)}`);

const listed = (choices: readonly Choice[]) =>
  choices.length === 0
    ? " There are no choices."
    : ` Choose from: ${choices.map(({ value }) => visible(value)).join(", ")}.`;

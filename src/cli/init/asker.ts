import { visible } from "../../core/visible-text.ts";
import type { CommandIo } from "../io/command-io.ts";

/** Where the answers of `moor init` come from: the command line first, then the person at the terminal. */
export type Asker = {
  /** Whether a person can give another answer. A repeated question offers the earlier answer. */
  readonly asksAgain: boolean;
  /** The same questions follow. If only a secret was wrong, the others keep their answers without being asked again. */
  again(wrong: WrongPart): void;
  /** `flag` is the option that gives the answer on the command line. */
  text(question: InitQuestion): Promise<string>;
  secret(question: InitQuestion): Promise<string>;
  pick(question: InitQuestion & { readonly choices: readonly AnswerOption[] }): Promise<string>;
  yes(question: InitQuestion & { readonly assumed: boolean }): Promise<boolean>;
};

export type InitQuestion = {
  readonly flag: string;
  readonly cliValue: string | undefined;
  readonly message: string;
  readonly example?: string;
  /** An answer that is probably right: it only has to be confirmed. */
  readonly proposed?: string;
  /** What is wrong with an answer, if anything; then the question is asked again. */
  readonly fault?: (answer: string) => string | undefined;
};

export type AnswerOption = {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
  /** Why it is probably wrong, in a word; shown even where there is no room for the hint. */
  readonly caution?: string;
};

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

/** A fault that another answer can end. There is no config yet, so that no file is named in it. */
export const wrongBecause = ({ because, todo }: { because: string; todo: string }, part?: WrongPart): WrongAnswer =>
  new WrongAnswer(`${because}; ${todo.replace(/, and put .* named in the config$/, "")}`, part);

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
  const optionValue = async ({ cliValue, flag, message, example, fault }: InitQuestion): Promise<string> => {
    if (cliValue === undefined)
      throw new NoAnswer(
        `${message} Answer with ${flag}${example && !flag.includes("=") ? `, as in ${flag} ${example}` : ""}.`,
      );
    const wrong = fault?.(cliValue);
    if (wrong !== undefined) throw new WrongAnswer(wrong);
    return cliValue;
  };
  return {
    asksAgain: false,
    again: () => undefined,
    text: optionValue,
    secret: optionValue,
    async pick({ choices, ...question }) {
      const answer = await optionValue({ ...question, message: `${question.message}${listed(choices)}` });
      return checkedChoice(answer, choices, question);
    },
    async yes({ cliValue: answer, flag, message }) {
      if (assumeYes || answer !== undefined) return true;
      throw new NoAnswer(`${message} Confirm with ${flag === "--yes" ? flag : `${flag} or --yes`}.`);
    },
  };
}

/** With a terminal: asks for what is not on the command line, and again for what did not work. */
export async function createTerminalAsker(io: CommandIo, assumeYes: boolean): Promise<Asker> {
  return new TerminalAsker(await import("@clack/prompts"), io.signal, assumeYes);
}

type Prompt = (earlierAnswer: string | undefined) => Promise<string>;

class TerminalAsker implements Asker {
  readonly #prompts: typeof import("@clack/prompts");
  readonly #signal: AbortSignal;
  readonly #assumeYes: boolean;
  /** By question. */
  readonly #earlierAnswers = new Map<string, string>();
  #onlySecrets = false;

  constructor(prompts: typeof import("@clack/prompts"), signal: AbortSignal, assumeYes: boolean) {
    this.#prompts = prompts;
    this.#signal = signal;
    this.#assumeYes = assumeYes;
  }

  get asksAgain(): boolean {
    return !this.#assumeYes;
  }

  again(wrong: WrongPart): void {
    this.#onlySecrets = wrong === "secret";
  }

  text(question: InitQuestion): Promise<string> {
    const { message, example = "", proposed, fault } = question;
    const validate = (value: string | undefined) => required(value) ?? fault?.(value ?? "");
    return this.#checkedAnswer(question, async (earlierAnswer) => {
      const initial = earlierAnswer ?? proposed;
      const initialValue = initial === undefined ? {} : { initialValue: initial };
      const options = { message, placeholder: example, ...initialValue, validate, signal: this.#signal };
      return unlessStopped(await this.#prompts.text(options));
    });
  }

  secret(question: InitQuestion): Promise<string> {
    const prompt = async (earlierAnswer: string | undefined) => {
      const before = this.#onlySecrets ? undefined : earlierAnswer;
      const message = `${question.message}${before === undefined ? "" : " Press Enter to keep the earlier one."}`;
      const validate = (value: string | undefined) =>
        value || before === undefined ? (required(value) ?? question.fault?.(value ?? "")) : undefined;
      const answer = unlessStopped(await this.#prompts.password({ message, validate, signal: this.#signal }));
      // The library returns undefined for an empty answer.
      return answer || (before ?? "");
    };
    return this.#checkedAnswer(question, prompt, true);
  }

  async pick({ choices, ...question }: Parameters<Asker["pick"]>[0]): Promise<string> {
    const options = choices.map(({ value, label, hint }) => ({
      value,
      label: visible(label),
      ...(hint && { hint: visible(hint) }),
    }));
    const answer = await this.#answer(question, async (earlierAnswer) => {
      const initial = choices.some(({ value }) => value === earlierAnswer) ? { initialValue: earlierAnswer ?? "" } : {};
      const { message } = question;
      return unlessStopped(await this.#prompts.select({ message, options, ...initial, signal: this.#signal }));
    });
    return checkedChoice(answer, choices, question);
  }

  async yes({ cliValue, message, assumed }: Parameters<Asker["yes"]>[0]): Promise<boolean> {
    if (this.#assumeYes || cliValue !== undefined) return true;
    return unlessStopped(await this.#prompts.confirm({ message, initialValue: assumed, signal: this.#signal }));
  }

  async #checkedAnswer(question: InitQuestion, prompt: Prompt, isSecret = false): Promise<string> {
    const answer = await this.#answer(question, prompt, isSecret);
    const wrong = question.fault?.(answer);
    if (wrong !== undefined) throw new WrongAnswer(wrong);
    return answer;
  }

  /** The value on the command line is used only the first time; after that it is offered as the earlier answer. */
  async #answer({ cliValue, message }: InitQuestion, prompt: Prompt, isSecret = false): Promise<string> {
    const before = this.#earlierAnswers.get(message);
    if (this.#onlySecrets && !isSecret && before !== undefined) return before;
    const answer = before === undefined && cliValue !== undefined ? cliValue : await prompt(before);
    this.#earlierAnswers.set(message, answer);
    return answer;
  }
}

const required = (value: string | undefined) => (value ? undefined : "Please type an answer.");

function unlessStopped<T>(answer: T): Exclude<T, symbol> {
  if (typeof answer === "symbol") throw new NoAnswer("Stopped; nothing was written.");
  return answer as Exclude<T, symbol>;
}

function checkedChoice(answer: string, choices: readonly AnswerOption[], { flag }: Pick<InitQuestion, "flag">): string {
  if (choices.some(({ value }) => value === answer)) return answer;
  throw notAmong(choices, flag, answer);
}

export const notAmong = (choices: readonly AnswerOption[], flag: string, answer: string): WrongAnswer =>
  new WrongAnswer(`${flag} ${answer} is not one of the choices.${listed(choices)}`);

const listed = (choices: readonly AnswerOption[]) =>
  choices.length === 0
    ? " There are no choices."
    : ` Choose from: ${choices.map(({ value, caution }) => visible(value) + (caution ? ` (${caution})` : "")).join(", ")}.`;

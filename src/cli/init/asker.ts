import { visible } from "../../core/visible-text.ts";
import type { CommandIo } from "../io/command-io.ts";

/** Where the answers of `moor init` come from: the command line first, then the person at the terminal. */
export type Asker = {
  /** `flag` is what to type to give the answer on the command line. */
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
  /** What is wrong with an answer, if anything: whoever typed it is asked again. */
  readonly fault?: (answer: string) => string | undefined;
};

export type Choice = { readonly value: string; readonly label: string; readonly hint?: string };

/** Thrown when an answer is missing, or the person gave up. */
export class NoAnswer extends Error {}

/** Without a terminal: what is not on the command line is missing. */
export function createFlagAsker(assumeYes: boolean): Asker {
  const given = async ({ given, flag, message, example }: Question): Promise<string> => {
    if (given !== undefined) return given;
    throw new NoAnswer(`${message} Say it with ${flag}${example ? `, as in ${flag} ${example}` : ""}.`);
  };
  return {
    text: given,
    secret: given,
    async pick({ choices, ...question }) {
      const answer = await given({ ...question, message: `${question.message}${listed(choices)}` });
      return checkedChoice(answer, choices, question);
    },
    async yes({ given: answer, flag, message }) {
      if (assumeYes || answer !== undefined) return true;
      throw new NoAnswer(`${message} Say so with ${flag} or --yes.`);
    },
  };
}

/** With a terminal: asks what the command line left open. */
export async function createTerminalAsker(io: CommandIo, assumeYes: boolean): Promise<Asker> {
  const prompts = await import("@clack/prompts");
  const { signal } = io;
  const answered = <T>(answer: T): Exclude<T, symbol> => {
    if (typeof answer === "symbol") throw new NoAnswer("Stopped; nothing was written.");
    return answer as Exclude<T, symbol>;
  };
  const required = (value: string | undefined) => (value ? undefined : "Please write something.");
  return {
    text: async ({ given, message, example = "", fault }) => {
      const validate = (value: string | undefined) => required(value) ?? fault?.(value ?? "");
      return given ?? answered(await prompts.text({ message, placeholder: example, validate, signal }));
    },
    secret: async ({ given, message }) =>
      given ?? answered(await prompts.password({ message, validate: required, signal })),
    async pick({ given, choices, ...question }) {
      if (given !== undefined) return checkedChoice(given, choices, question);
      const options = choices.map(({ value, label, hint }) => ({
        value,
        label: visible(label),
        ...(hint ? { hint: visible(hint) } : {}),
      }));
      return answered(await prompts.select({ message: question.message, options, signal }));
    },
    yes: async ({ given, message, assumed }) =>
      assumeYes || given !== undefined || answered(await prompts.confirm({ message, initialValue: assumed, signal })),
  };
}

function checkedChoice(answer: string, choices: readonly Choice[], { flag }: Pick<Question, "flag">): string {
  if (choices.some(({ value }) => value === answer)) return answer;
  throw new NoAnswer(`${flag} ${answer}: there is no such choice.${listed(choices)}`);
}

const listed = (choices: readonly Choice[]) =>
  choices.length === 0 ? " There is none." : ` There are: ${choices.map(({ value }) => visible(value)).join(", ")}.`;

import { Fragment } from "react";

/** Words of the services that name commands and settings, as the terminal prints them: between backticks. */
export function WithCode({ text }: { readonly text: string }) {
  return text.split("`").map((part, i, { length }) => {
    // One without its partner is a letter like any other.
    const isCode = i % 2 === 1 && i < length - 1;
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other names
    return <Fragment key={i}>{isCode ? <code>{part}</code> : i % 2 === 1 ? `\`${part}` : part}</Fragment>;
  });
}

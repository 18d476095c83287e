import { Fragment } from "react";

/** A message of a service, with commands and settings in backticks shown as code. */
export function WithCode({ text }: { readonly text: string }) {
  return text.split("`").map((part, i, { length }) => {
    // A backtick without a partner is an ordinary character.
    const isCode = i % 2 === 1 && i < length - 1;
    // oxlint-disable-next-line react/no-array-index-key -- the parts of a text have no other names
    return <Fragment key={i}>{isCode ? <code>{part}</code> : i % 2 === 1 ? `\`${part}` : part}</Fragment>;
  });
}

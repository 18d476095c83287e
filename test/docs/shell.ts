import type { Block } from "./pages.ts";

/** The commands of a shell block, each as its words; what `$(…)` would print is left as it is written. */
export function commandsOf({
  text,
  line,
}: Block): readonly { readonly words: readonly string[]; readonly line: number }[] {
  const withoutDocuments = text.replaceAll(/<<'?(\w+)'?\n[\s\S]*?^\1$/gm, (document) =>
    document.replaceAll(/[^\n]/g, ""),
  );
  let number = line;
  return withoutDocuments.split(/(?<!\\)\n/).flatMap((whole) => {
    number += 1;
    const at = number;
    number += whole.split("\n").length - 1;
    return splitCommands(whole.replaceAll(/\\\n\s*/g, " ")).map((words) => ({ words, line: at }));
  });
}

/**
 * One line: at `&&`, `||`, `|`, `;` and `&` a further command begins; `#` begins a comment, `>` and `<` name a file.
 */
function splitCommands(line: string): readonly (readonly string[])[] {
  const token = /\s+|(#.*$)|(&&|\|\||[|;&])|[<>]+\s*\S+|((?:"[^"]*"|'[^']*'|\$\([^)]*\)|[^\s"'|;&<>])+)/y;
  const commands: string[][] = [[]];
  for (let match = token.exec(line); match !== null; match = token.exec(line)) {
    const [, comment, separator, word] = match;
    if (comment !== undefined) break;
    if (separator !== undefined) commands.push([]);
    if (word !== undefined) commands.at(-1)?.push(word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"));
  }
  return commands.filter((words) => words.length > 0);
}

/**
 * What a TypeScript file imports: static, side-effect, type-only and re-exporting imports, `import()` in code and in
 * types. An `import()` of anything but a string literal gives `computed`.
 */
export const computed = "(computed)";

export function importsOf(text: string): readonly string[] {
  const { code, strings } = stringsApart(text);
  const still = code.matchAll(/^[ \t]*(?:import|export)\b(?:[^"'`;]*?\bfrom)?\s*"(\d+)"/gm);
  const onUse = code.matchAll(/\bimport\s*\((?:\s*"(\d+)"\s*[,)])?/g);
  return [...still, ...onUse].map(([, number]) => strings[Number(number)] ?? computed);
}

/** Removes comments and replaces strings by their numbers, so that neither looks like code. */
export function stringsApart(text: string): { readonly code: string; readonly strings: readonly string[] } {
  const pieces = /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
  const strings: string[] = [];
  const code = text.replaceAll(pieces, (_, found: string | undefined) =>
    found === undefined ? " " : `"${strings.push(found.slice(1, -1)) - 1}"`,
  );
  return { code, strings };
}

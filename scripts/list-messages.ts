import { join } from "node:path";
import { allMessages, type Kind, kinds } from "../test/docs/find-messages.ts";

/**
 * Prints every text that moor shows to people, as `file:line: text` and grouped by where they see it, so that all of it
 * can be read in one sitting: `npx node scripts/list-messages.ts [kind…]`. Tests, queries and identifiers are left out.
 */
const messages = allMessages(join(import.meta.dirname, ".."));

const wanted = process.argv.slice(2);
const unknown = wanted.filter((kind) => !Object.hasOwn(kinds, kind));
if (unknown.length > 0) {
  process.stderr.write(`no such kind: ${unknown.join(", ")}; there are ${Object.keys(kinds).join(", ")}\n`);
  process.exitCode = 2;
}
// The reader may close the pipe early, as in `… | head`.
process.stdout.on("error", () => process.exit());
for (const kind of Object.keys(kinds) as readonly Kind[]) {
  if (wanted.length > 0 && !wanted.includes(kind)) continue;
  const those = messages.filter((message) => message.kind === kind);
  process.stdout.write(`\n## ${kind}: ${kinds[kind]} (${those.length})\n\n`);
  for (const { file, line, text } of those) process.stdout.write(`${file}:${line}: ${text}\n`);
}

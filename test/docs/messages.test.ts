import { expect, it } from "vitest";
import { repository } from "../rig/namespace.ts";
import { allMessages } from "./find-messages.ts";
import { lineAt, pages } from "./pages.ts";

/** Messages that the pages quote, such as `a zone could not be loaded`: three words or more that are no command. */
const quoted = pages
  .filter(({ path }) => /^docs\/[a-z-]+\.md$/.test(path) && path !== "docs/architecture.md")
  .flatMap(({ path, prose }) =>
    [...prose.matchAll(/`([a-z]+(?: [\w().]+){2,}[^`\n]*)`/g)]
      .filter(
        ({ 1: text = "" }) =>
          !/^(?:moor|npm|npx|apt|docker|git|ls|cat|sed|curl|dig|chmod|chgrp|openssl|systemctl|journalctl|iostat|keymgr|protocol)\b/.test(
            text,
          ),
      )
      .map(({ 1: text = "", index }) => ({
        at: `${path}:${lineAt(prose, index)}`,
        text: text.replace(/[:…\s]+$/, ""),
      })),
  );

/** Where a page shows an example, the program has a value: `has no interface wan`. */
const forms = (text: string): readonly string[] => [
  text,
  ...[/\S+$/, /^\S+/, /\d+/].map((example) => text.replace(example, "{…}")),
];

it("messages that the pages quote are those of the program", () => {
  const messages = allMessages(repository).map(({ text }) => text);
  const unknown = quoted.filter(
    ({ text }) => !messages.some((message) => forms(text).some((form) => message.includes(form))),
  );
  expect(quoted.length).toBeGreaterThan(10);
  expect(unknown.map(({ at, text }) => `${at}: ${text}`)).toEqual([]);
});

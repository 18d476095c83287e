import { expect, it } from "vitest";
import { parseMailbox } from "./mailbox.ts";

it.each([
  ["dns@example.org", "dns.example.org"],
  ["DNS@Example.ORG", "dns.example.org"],
  ["first.last@example.org", "first\\.last.example.org"],
  ["dns.example.org.", "dns.example.org"],
  ["dns@bücher.example", "dns.xn--bcher-kva.example"],
])("%s is the mailbox %s", (text, name) => {
  expect(parseMailbox(text)).toEqual({ ok: true, value: name });
});

it.each(["", "@example.org", "dns@", "dns@.", "a@b@example.org", "dns@exa mple..org"])(
  "%j is not a mailbox",
  (text) => {
    expect(parseMailbox(text)).toMatchObject({ ok: false });
  },
);

import { describe, expect, test } from "vitest";
import { type JsonBody, readPages, type ServiceAnswer } from "./service-answer.ts";

type Item = { readonly id: number };
const isItem = (value: unknown): value is Item => typeof value === "object";
const page = (ids: readonly number[], pagination?: object): ServiceAnswer<JsonBody> => ({
  kind: "ok",
  value: { items: ids.map((id) => ({ id })), ...(pagination ? { meta: { pagination } } : {}) },
});

/** The last number: how many requests the service gets. */
const cases: [string, (page: number) => ServiceAnswer<JsonBody>, readonly number[] | RegExp, number][] = [
  ["one page", () => page([1, 2]), [1, 2], 1],
  ["one page with an item twice", () => page([1, 1]), [1], 1],
  ["two pages", (n) => page([n], { last_page: 2 }), [1, 2], 2],
  ["pages that are linked", (n) => page([n], { next_page: n < 3 ? n + 1 : null }), [1, 2, 3], 3],
  ["an item that moved to the next page", (n) => page(n === 1 ? [1, 2] : [2, 3], { last_page: 2 }), [1, 2, 3], 2],
  ["a last page that is empty by now", (n) => page(n === 1 ? [1, 2] : [], { last_page: 2 }), [1, 2], 2],
  ["the same page again and again", () => page([1, 2], { last_page: 1_000_000 }), /repeats its pages/, 2],
  ["the same page again, linked", (n) => page([1, 2], { next_page: n + 1 }), /repeats its pages/, 2],
  ["the same page for the last one", () => page([1, 2], { last_page: 2 }), /repeats its pages/, 2],
  ["empty pages again and again", () => page([], { last_page: 1_000_000 }), /repeats its pages/, 2],
  ["two alternating pages", (n) => page([n % 2], { last_page: 1_000_000 }), /repeats its pages/, 3],
  ["new items without end", (n) => page([n], { next_page: n + 1 }), /repeats its pages/, 1_000],
];

describe("a list in pages", () => {
  test.each(cases)("%s", async (_, answer, expected, most) => {
    let asked = 0;
    const ask = async (number: number) => {
      asked += 1;
      return answer(number);
    };
    const read = await readPages(ask, "items", isItem, ({ id }) => id);
    expect(asked).toBe(most);
    if (expected instanceof RegExp)
      expect(read).toMatchObject({ kind: "later", because: expect.stringMatching(expected) });
    else expect(read).toEqual({ kind: "ok", value: expected.map((id) => ({ id })) });
  });
});

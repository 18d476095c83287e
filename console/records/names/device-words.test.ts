import { expect, it } from "vitest";
import { actorWords } from "./device-words.ts";

it.for<[label: string, words: string]>([
  ["token 5 (home.example.org (FRITZ!Box))", "FRITZ!Box"],
  ["token 5 (home.example.org (FRITZ!Box)", "FRITZ!Box"],
  ["token 12 (router at home)", "router at home"],
  ["token 12 (backup (weekly))", "weekly"],
  ["key nas.example.org", "the key nas.example.org"],
  ["main (console)", "main, in the console"],
  ["the updater", "the updater"],
  ["moor import", "moor import"],
])("%s is called %s", ([label, words]) => {
  expect(actorWords(label)).toBe(words);
});

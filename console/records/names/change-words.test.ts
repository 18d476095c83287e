import { expect, it } from "vitest";
import type { ChangedPlace } from "../../../src/contract/overview.ts";
import { changeWords } from "./change-words.ts";

const set = (over: Partial<ChangedPlace>): ChangedPlace => ({
  ...{ kind: "replace", owner: "home", type: "A", before: ["192.0.2.1"], after: ["192.0.2.2"], others: [] },
  ...over,
});
const settings = (...others: readonly string[]) =>
  set({ kind: "settings", owner: null, type: null, before: [], after: [], others });
const ipv6 = set({ type: "AAAA", before: ["2001:db8::1"], after: ["2001:db8::2"] });

it.for<[readonly ChangedPlace[], readonly string[]]>([
  [[set({})], ["home.example.org moved to 192.0.2.2 (192.0.2.1)"]],
  [[set({}), ipv6], ["home.example.org moved to 192.0.2.2, 2001:db8::2 (192.0.2.1, 2001:db8::1)"]],
  [
    [set({}), set({ owner: "nas" })],
    ["home.example.org moved to 192.0.2.2 (192.0.2.1)", "nas.example.org moved to 192.0.2.2 (192.0.2.1)"],
  ],
  [[set({ after: ["192.0.2.2", "192.0.2.3"] })], ["home.example.org A changed to 192.0.2.2, 192.0.2.3 (192.0.2.1)"]],
  [[set({ kind: "create", before: [], owner: "@" })], ["example.org added 192.0.2.2"]],
  [[set({ kind: "create", before: [], type: "MX", after: ["10 mail"] })], ["home.example.org MX added 10 mail"]],
  [[set({ kind: "delete", after: [] })], ["home.example.org A deleted (192.0.2.1)"]],
  [[set({ others: ["TTL 60 → 300"] })], ["home.example.org A TTL 60 → 300"]],
  [[set({ others: ["comment"] })], ["home.example.org A comment changed"]],
  [[set({ kind: "create", owner: "@", type: "SOA", before: [] })], ["example.org zone created"]],
  [[set({ kind: "delete", owner: "@", type: "SOA", after: [] })], ["example.org zone deleted"]],
  [[settings("signed with DNSSEC")], ["example.org signed with DNSSEC"]],
  [[settings()], ["example.org settings changed"]],
  [[set({ owner: "xn--strae-oqa" })], ["straße.example.org moved to 192.0.2.2 (192.0.2.1)"]],
])("%o is %j", ([sets, words]) => {
  const said = changeWords({ zone: "example.org", sets }).map(({ name, did, values, was }) =>
    [name, did, values.join(", "), was.length > 0 && `(${was.join(", ")})`].filter(Boolean).join(" "),
  );
  expect(said).toEqual(words);
});

import { expect, it } from "vitest";
import type { Attention, DynamicName, NameFamily } from "../../../src/contract/overview.ts";
import { type Condition, conditionOf, inOrder, matching } from "./condition.ts";

const at = "2026-11-19T12:00:00.000Z";
const earlier = "2026-11-18T12:00:00.000Z";
const family = (over: Partial<NameFamily> = {}): NameFamily => ({
  ...{ type: "A", values: ["203.0.113.7"], state: null },
  changed: { at: earlier, by: "token 5 (home.example.org (FRITZ!Box))", byHand: false },
  ...over,
});
const ofDevice = (over: Partial<DynamicName> = {}): DynamicName => ({
  ...{ name: "home.example.org", at: { zone: "example.org", owner: "home" } },
  ...{ families: [family()], updater: null, moves: [] },
  device: { name: "home.example.org (FRITZ!Box)", heard: at, ended: null },
  ...over,
});
const state = { ok: true, wanted: "203.0.113.7", what: "left as it is", because: "it is stored" };
const ofUpdater = (over: Partial<NonNullable<NameFamily["state"]>> = {}): DynamicName => ({
  ...ofDevice({ device: null, updater: { from: "ppp0", checked: at } }),
  families: [family({ state: { ...state, ...over } })],
});
const box = { reporter: "FRITZ!Box", last: { verb: "heard", at } } as const;
const updater = { reporter: "the updater, from ppp0", last: { verb: "checked", at } } as const;
const failing: Attention = {
  ...{ kind: "name-failing", name: "home.example.org", type: "A", what: "not replaced" },
  ...{ because: "the token was refused (401)", todo: "make a new one" },
};
const differs: Attention = {
  ...{ kind: "record-differs", name: "home.example.org", type: "A", zone: "example.org", owner: "home" },
  ...{ written: "203.0.113.7", holds: ["192.0.2.66"] },
};
const elsewhere: Attention = { ...failing, name: "other.example.org" };
const setUp = { label: "Set the device up again", href: "/dynamic?zone=example.org&name=home" };

it.for<[what: string, DynamicName, readonly Attention[], Condition]>([
  ["a device that calls", ofDevice(), [elsewhere], { tone: "right", ...box }],
  [
    "a device whose token was made and never used",
    ofDevice({ families: [], device: { name: "home.example.org (FRITZ!Box)", heard: null, ended: null } }),
    [],
    {
      ...{ tone: "waiting", reporter: "FRITZ!Box", last: null },
      trouble: { text: "Waiting for its first update." },
    },
  ],
  [
    "a device whose token was revoked",
    ofDevice({ device: { name: "home.example.org (FRITZ!Box)", heard: at, ended: "revoked" } }),
    [],
    {
      ...{ tone: "failing", ...box },
      trouble: { text: "The token of FRITZ!Box was revoked, so it cannot report a new address.", remedy: setUp },
    },
  ],
  [
    "an address that somebody typed",
    ofDevice({ families: [family(), family({ type: "AAAA", changed: { at, by: "main (console)", byHand: true } })] }),
    [],
    { tone: "by-hand", reporter: "by hand", last: { verb: "changed", at } },
  ],
  [
    "an address that somebody typed before the device wrote again",
    ofDevice({
      families: [
        family({ changed: { at: "2026-11-01T00:00:00.000Z", by: "main (console)", byHand: true } }),
        family({ type: "AAAA" }),
      ],
    }),
    [],
    { tone: "right", ...box },
  ],
  [
    "a program without a token here",
    ofDevice({ device: null }),
    [],
    { tone: "right", reporter: "another program", last: { verb: "changed", at: earlier } },
  ],
  ["the updater", ofUpdater(), [], { tone: "right", ...updater }],
  ["a paused name", ofUpdater({ ok: false, paused: true }), [], { tone: "paused", ...updater }],
  [
    "a write that waits for its turn",
    ofUpdater({ ok: false, what: "waits", because: "the last write was a moment ago" }),
    [],
    {
      ...{ tone: "moving", ...updater },
      trouble: { text: "203.0.113.7 is on its way: waits: the last write was a moment ago." },
    },
  ],
  [
    "a service that refuses the token",
    ofUpdater({ ok: false }),
    [failing],
    {
      ...{ tone: "failing", ...updater },
      trouble: {
        text: "A not replaced: the token was refused (401); make a new one.",
        remedy: { label: "See what to do", at: "updater" },
      },
    },
  ],
  [
    "a record that somebody else changed",
    ofUpdater(),
    [differs],
    {
      ...{ tone: "failing", ...updater },
      trouble: {
        text: "The A record holds 192.0.2.66, but the updater wrote 203.0.113.7: somebody else changed it.",
        remedy: { label: "Put 203.0.113.7 back", at: "updater" },
      },
    },
  ],
])("the condition of %s", ([, name, attention, expected]) => {
  expect(conditionOf(name, attention)).toEqual(expected);
});

const shown = (name: string, over: Partial<DynamicName> = {}) => {
  const named = ofDevice({ name, ...over });
  return { name: named, condition: conditionOf(named, []) };
};
const revoked = { device: { name: "x", heard: null, ended: "revoked" } } as const;

it("names that need somebody come first, then host2 before host10", () => {
  const names = [
    shown("host10.test"),
    shown("wait.test", { families: [] }),
    shown("host2.test"),
    shown("z.test", revoked),
  ];
  expect(inOrder(names).map(({ name }) => name.name)).toEqual(["z.test", "wait.test", "host2.test", "host10.test"]);
});

it.for([
  ["HOST2", ["host2.test"]],
  ["203.0.113", ["host2.test", "other.test"]],
  ["fritz", ["host2.test", "other.test"]],
  [" ", ["host2.test", "other.test"]],
  ["zeppelin", []],
] as const)("the filter %j finds %j", ([typed, found]) => {
  expect(matching([shown("host2.test"), shown("other.test")], typed).map(({ name }) => name.name)).toEqual(found);
});

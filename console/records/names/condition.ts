import type { Attention, DynamicName } from "../../../src/contract/overview.ts";
import { deviceWords } from "./device-words.ts";

export type Tone = "right" | "moving" | "waiting" | "silent" | "failing" | "paused" | "by-hand";

/** How a name is, where its address comes from, and what is wrong with it. */
export type Condition = {
  readonly tone: Tone;
  /** `FRITZ!Box`, `the updater, from ppp0` */
  readonly reporter: string;
  /** What happened last between the reporter and this service. */
  readonly last: { readonly verb: "heard" | "checked" | "changed"; readonly at: string } | null;
  readonly trouble?: Trouble;
};

/** `remedy`: a page of this console, or that of the updater. */
export type Trouble = {
  readonly text: string;
  readonly remedy?:
    | { readonly label: string; readonly href: string }
    | { readonly label: string; readonly at: "updater" };
};

/** What needs attention and is about one name; it is shown at the name. */
type NameAttention = Extract<Attention, { readonly kind: "name-failing" | "record-differs" }>;

export const isAboutName = (attention: Attention): attention is NameAttention =>
  attention.kind === "name-failing" || attention.kind === "record-differs";

export function conditionOf(name: DynamicName, attention: readonly Attention[]): Condition {
  const about = attention.filter(isAboutName).filter((each) => each.name === name.name);
  return name.updater === null ? reported(name) : kept(name, name.updater, about);
}

function kept(
  { families }: DynamicName,
  { from, checked }: NonNullable<DynamicName["updater"]>,
  [wrong]: readonly NameAttention[],
): Condition {
  const by = {
    reporter: from === "" ? "the updater" : `the updater, from ${from}`,
    last: checked === null ? null : ({ verb: "checked", at: checked } as const),
  };
  const states = families.flatMap(({ state }) => state ?? []);
  if (states.length > 0 && states.every(({ paused }) => paused)) return { tone: "paused", ...by };
  if (wrong !== undefined) return { tone: "failing", ...by, trouble: updaterTrouble(wrong) };
  const moving = states.find(({ ok, paused }) => !ok && !paused);
  if (moving === undefined) return { tone: "right", ...by };
  const to = moving.wanted === null ? "" : `${moving.wanted} is on its way: `;
  return { tone: "moving", ...by, trouble: { text: `${to}${moving.what}: ${moving.because}.` } };
}

function updaterTrouble(wrong: NameAttention): Trouble {
  if (wrong.kind === "record-differs")
    return {
      text: `The ${wrong.type} record holds ${wrong.holds.join(", ") || "nothing"}, but the updater wrote ${wrong.written}: somebody else changed it.`,
      remedy: { label: `Put ${wrong.written} back`, at: "updater" },
    };
  const { type, what, because, todo } = wrong;
  return {
    text: `${type} ${what}: ${because}${todo === null ? "" : `; ${todo}`}.`,
    remedy: { label: "See what to do", at: "updater" },
  };
}

function reported({ at, families, device }: DynamicName): Condition {
  const reporter = device === null ? "another program" : deviceWords(device.name);
  const last = device?.heard ? ({ verb: "heard", at: device.heard } as const) : null;
  const latest = families.flatMap(({ changed }) => changed ?? []).toSorted((a, b) => (a.at < b.at ? 1 : -1))[0];
  const setUp = { label: "Set the device up again", href: `/dynamic?${new URLSearchParams(placeIn(at))}` };
  if (device !== null && device.ended !== null) {
    const ended = device.ended === "revoked" ? "was revoked" : "has expired";
    const text = `The token of ${reporter} ${ended}, so it cannot report a new address.`;
    return { tone: "failing", reporter, last, trouble: { text, remedy: setUp } };
  }
  if (families.length === 0)
    return { tone: "waiting", reporter, last, trouble: { text: "Waiting for its first update." } };
  if (latest?.byHand) return { tone: "by-hand", reporter: "by hand", last: { verb: "changed", at: latest.at } };
  return { tone: "right", reporter, last: last ?? (latest ? { verb: "changed", at: latest.at } : null) };
}

const placeIn = (at: DynamicName["at"]): Record<string, string> =>
  at === null ? {} : { zone: at.zone, name: at.owner };

const urgency: readonly Tone[] = ["failing", "silent", "moving", "waiting"];

export type NameInCondition = { readonly name: DynamicName; readonly condition: Condition };

/** What needs somebody first; then by name, with host2 before host10. */
export function inOrder(names: readonly NameInCondition[]): readonly NameInCondition[] {
  const { compare } = new Intl.Collator("en", { numeric: true });
  const rank = ({ condition: { tone } }: NameInCondition) => (urgency.indexOf(tone) + urgency.length) % urgency.length;
  const isUrgent = ({ condition: { tone } }: NameInCondition) => urgency.includes(tone);
  return names.toSorted(
    (a, b) => Number(isUrgent(b)) - Number(isUrgent(a)) || rank(a) - rank(b) || compare(a.name.name, b.name.name),
  );
}

/** The names of which the typed text is a part of the name, an address or what reports it. */
export const matching = (names: readonly NameInCondition[], typed: string): readonly NameInCondition[] => {
  const text = typed.trim().toLowerCase();
  return names.filter(({ name, condition }) =>
    [name.name, condition.reporter, ...name.families.flatMap(({ values }) => values)].some((part) =>
      part.toLowerCase().includes(text),
    ),
  );
};

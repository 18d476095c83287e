import type { UpdaterState } from "../../src/contract/updater-page.ts";

export type NameState = UpdaterState["names"][number];

/** A name with the records of its families: the title of a record is the name and its type. */
export type NamedRecords = { readonly host: string; readonly records: readonly NameState[] };

/** In the order of the config. */
export const groupNames = (names: readonly NameState[]): readonly NamedRecords[] =>
  [...Map.groupBy(names, ({ name }) => hostOf(name))].map(([host, records]) => ({ host, records }));

const hostOf = (title: string): string => title.slice(0, title.lastIndexOf(" "));
export const typeOf = (title: string): string => title.slice(title.lastIndexOf(" ") + 1);

export type Tone = "in-step" | "out-of-step" | "paused";

export type RecordState = {
  readonly tone: Tone;
  readonly words: string;
  readonly todo?: string;
  /** Somebody else changed the record. */
  readonly drifted?: true;
};

/** `published`: null if the record service could not be read, undefined while it is not known. */
export function stateOf(
  { ok, wanted, stored, onDrift, paused }: NameState,
  published: readonly string[] | null | undefined,
): RecordState {
  if (paused) return { tone: "paused", words: "paused" };
  if (!ok) return notUpToDate;
  if (published != null && wanted !== null && !published.includes(wanted))
    return { tone: "out-of-step", words: "the record has a different address", todo: onDrift, drifted: true };
  return wanted === null || wanted !== stored ? notUpToDate : { tone: "in-step", words: "up to date" };
}

const notUpToDate: RecordState = { tone: "out-of-step", words: "not up to date" };

/** Of a whole name: the worst of its records. */
export const worstTone = (tones: readonly Tone[]): Tone =>
  (["out-of-step", "paused"] as const).find((tone) => tones.includes(tone)) ?? "in-step";

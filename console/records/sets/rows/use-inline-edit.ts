import { useCallback, useState } from "react";
import type { Rrset, RrsetsZone } from "../../../../src/contract/rrsets.ts";
import { isRecordType } from "../../../../src/core/rdata/table.ts";
import { useStay, useWayBack } from "../../../shared/session/way-back.ts";
import { setInWords } from "../set-content.ts";
import { checkDraft, draftOf, openQuestion } from "../set-draft.ts";
import { splitValue } from "../value-fields.ts";
import { changesOf, useSetWrite } from "../write-set.ts";
import type { Editing } from "./row-act.ts";

type State = Omit<Editing, "isSaving"> & { readonly startText: string; readonly keeps: string | undefined };

/** The value that is edited in the table. Only one at a time, so that what was typed is never lost. */
export function useInlineEdit(zone: RrsetsZone, sets: readonly Rrset[], onEnd: (set: Rrset, place: number) => void) {
  const [state, setState] = useState<State>();
  const write = useSetWrite(zone.name);
  const isChanged = state !== undefined && state.text !== state.startText;
  useStay(isChanged);
  useWayBack(
    isChanged,
    useCallback(() => setState((now) => now && { ...now, fault: unsaved }), []),
  );
  const end = ({ set, value }: State) => {
    setState(undefined);
    write.reset();
    onEnd(
      set,
      set.records.findIndex((record) => record.value === value),
    );
  };
  return {
    editing: state && { ...state, fault: state.fault ?? write.error?.message, isSaving: write.isPending },
    begin: (set: Rrset, value: string) => {
      if (isChanged) return setState({ ...state, fault: unsaved });
      const text = textOf(set.type, value);
      write.reset();
      return setState({ set, value, text, startText: text, fault: undefined, keeps: undefined });
    },
    type: (text: string) => setState((now) => now && { ...now, text, fault: undefined }),
    leave: () => state && end(state),
    save: () => {
      if (state === undefined || write.isPending) return;
      if (!isChanged) return end(state);
      // After a refusal, the user has seen the set as it is now.
      const base = write.isError ? (sets.find(({ id }) => id === state.set.id) ?? state.set) : state.set;
      const read = readTyped(state, base, zone.name, sets);
      if ("fault" in read) return setState({ ...state, set: base, ...read });
      return write.mutate({
        ...changesOf(zone.name, [read.change]),
        known: [base],
        said: `Saved ${setInWords(base)}.`,
        onDone: () => end({ ...state, set: base }),
      });
    },
  };
}

const unsaved = "Not saved yet: Enter saves, Escape discards the change.";

/** Text records as plain text; other values as in zone files. */
const textOf = (type: string, value: string): string => (type === "TXT" ? (splitValue("TXT", value)[0] ?? "") : value);

function readTyped(state: State, base: Rrset, zone: string, sets: readonly Rrset[]) {
  const { type } = base;
  const at = base.records.findIndex(({ value }) => value === state.value);
  if (at < 0 || !isRecordType(type))
    return { fault: "This value no longer exists. Press Escape, and open the record." };
  const draft = draftOf(base);
  const old = draft.values[at];
  const value = { key: at, comment: "", ...old, texts: splitTyped(type, state.text), keeps: state.keeps ?? old?.keeps };
  const target = openQuestion(type, value);
  if (target !== undefined)
    return {
      fault: `${target} has no final dot, so it means ${target}.${zone}. Add the dot, or press Enter again to keep it.`,
      keeps: target,
    };
  const { faults, change } = checkDraft({ ...draft, values: draft.values.with(at, value) }, zone, sets);
  return change === undefined ? { fault: [...new Set(faults.values())].join(". ") } : { change };
}

const splitTyped = (type: Parameters<typeof splitValue>[0], text: string): readonly string[] =>
  type === "TXT" ? [text] : splitValue(type, text.trim());

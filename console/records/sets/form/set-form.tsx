import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { type RefObject, useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import type { Rrset, RrsetsZone } from "../../../../src/contract/rrsets.ts";
import { absoluteName } from "../../../../src/core/names/name.ts";
import { nameToUnicode } from "../../../../src/core/names/unicode.ts";
import { definitionOf, isRecordType, type RecordType } from "../../../../src/core/rdata/table.ts";
import { Dialog } from "../../../shared/dialog.tsx";
import { FormDialog } from "../../../shared/form-dialog.tsx";
import { durationInWords } from "../../../shared/time/words-of-time.ts";
import { linesOf } from "../../history/describe-change.ts";
import { LastChange } from "../../history/last-change.tsx";
import { zoneAddress } from "../../zones/zone-address.ts";
import { familiesIn } from "../address-families.ts";
import { contentOf, setInWords } from "../set-content.ts";
import { addedTo, checkDraft, draftOf, emptyDraft, openedWith, openQuestion, type SetDraft } from "../set-draft.ts";
import { typedOwner } from "../typed-owner.ts";
import { changesOf, useSetWrite } from "../write-set.ts";
import { BothFamilies } from "./both-families.tsx";
import { EditedActions } from "./edited-actions.tsx";
import { Existing, joinInWords } from "./existing-set.tsx";
import { Notes } from "./notes.tsx";
import { TtlField } from "./ttl-field.tsx";
import { TypeField } from "./type-field.tsx";
import { belowField } from "./value-field.tsx";
import { ValueList } from "./value-list.tsx";

type Props = {
  readonly zone: RrsetsZone;
  readonly sets: readonly Rrset[];
  /** The set in the URL, such as `www/A`; null for a new one. */
  readonly asked: string | null;
  readonly edited: Rrset | undefined;
  /** A new set starts as a copy of this one, without its name. */
  readonly like: Rrset | undefined;
  readonly type: string;
  readonly onClose: () => void;
};

/**
 * If a set is deleted while its form is open, the form stays and can save it again. If it was deleted before, there is
 * no form.
 */
export default function SetForm(props: Props) {
  const [wasGone] = useState(props.asked !== null && props.edited === undefined);
  return wasGone ? <NoSet {...props} /> : <Form {...props} />;
}

function NoSet({ zone, asked, onClose }: Props) {
  const [, name = asked ?? "", type = ""] = /^(.*)\/(.*)$/.exec(asked ?? "") ?? [];
  return (
    <Dialog title="Record not found" onClose={onClose} size="md">
      <Text size="sm" mb="md">
        {nameToUnicode(name)} {type} no longer exists: it was deleted or renamed. The{" "}
        <Link href={zoneAddress(zone.name, "history")}>history</Link> shows when and by whom.
      </Text>
      <Group justify="flex-end">
        <Button onClick={onClose}>Close</Button>
      </Group>
    </Dialog>
  );
}

function startOf({ edited, like, type }: Props): SetDraft {
  if (edited) return draftOf(edited);
  return like ? { ...draftOf(like), name: "" } : emptyDraft(isRecordType(type) ? type : "A");
}

/** The form of a new or existing set. It is checked while the user types, with the service's own rules. */
function Form(props: Props) {
  const { zone, onClose } = props;
  const form = useSetDraft(props);
  const { draft, setDraft, sets, original, edited, other, joined, tried, show, body, write, families } = form;
  const locked = (edited ?? joined)?.protection.change ?? false;
  return (
    <FormDialog
      title={edited ? setInWords(edited) : "Add a record"}
      size="xl"
      holds={draft}
      onClose={onClose}
      onSubmit={() => form.save("close")}
      submit={original ? "Save" : joined ? joinInWords(joined) : "Add"}
      cannot={locked || zone.mode === "secondary"}
      sending={write}
      other={
        original === undefined ? (
          <Button variant="default" onClick={() => form.save("stay")}>
            Add another
          </Button>
        ) : (
          edited &&
          zone.mode !== "secondary" && (
            <EditedActions zone={zone.name} set={edited} known={sets} write={write} onClose={onClose} />
          )
        )
      }
    >
      {edited && locked && <Text size="sm">This record set is protected. Turn the protection off to change it.</Text>}
      <ChangedElsewhere original={original} edited={edited} />
      <fieldset ref={body} disabled={edited !== undefined && locked} style={bareFieldset}>
        <Stack gap="sm">
          <Place {...{ draft, zone, joined, show }} onChange={setDraft} isNew={original === undefined} />
          <ValueList draft={draft} zone={zone.name} onChange={setDraft} show={show} />
          {joined && <Existing set={joined} onOpen={() => form.open(joined)} />}
          {families && (
            <BothFamilies
              families={families}
              mayAddBoth={original === undefined}
              onChangeType={() => form.replaceWith({ ...draft, type: families.other })}
              onBoth={form.saveBoth}
            />
          )}
          <Notes draft={draft} onChange={setDraft} error={show("labels")} />
        </Stack>
      </fieldset>
      {edited && <LastChange zone={zone.name} set={edited} />}
      <Obstacles
        inSet={show("set")}
        isTaken={tried && other !== undefined && !joined}
        isAsking={tried && form.isAsking}
      />
    </FormDialog>
  );
}

const bareFieldset = { border: 0, margin: 0, padding: 0, minWidth: 0 };

/** What the form holds, what of it is wrong, and how it is saved. */
function useSetDraft(props: Props) {
  const { zone } = props;
  const write = useSetWrite(zone.name);
  const sets = useFrozen(props.sets, write.isPending);
  const [draft, setDraft] = useState<SetDraft>(() => startOf(props));
  const [original, setOriginal] = useState(props.edited);
  const [tried, setTried] = useState(false);
  const body = useRef<HTMLFieldSetElement>(null);
  const edited = original && sets.find(({ id }) => id === original.id);
  const owner = typedOwner(draft.name, zone.name);
  const ownerName = owner.ok ? owner.value : undefined;
  const present = draft.name.trim() === "" ? undefined : findSet(sets, ownerName, draft.type);
  // For a new record, the set that it is added to; for a renamed one, the set that already has the new name.
  const other = present?.id === original?.id ? undefined : present;
  const joined = original === undefined ? other : undefined;
  const { faults, change } = checkDraft(joined ? addedTo(joined, draft) : draft, zone.name, sets);
  const isAsking = draft.values.some((value) => openQuestion(draft.type, value) !== undefined);
  const replaceWith = useReplacing(setDraft, body);
  const open = (set: Rrset) => {
    setOriginal(set);
    replaceWith(openedWith(set, draft));
  };
  const families = familiesIn(draft);
  const startAnother = () => {
    setDraft(emptyDraft(draft.type));
    setTried(false);
    body.current?.querySelector("input")?.focus();
  };
  const checked = { zone: zone.name, sets, original, edited, joined, change, ownerName };
  return {
    draft,
    setDraft,
    sets,
    original,
    edited,
    other,
    joined,
    tried,
    body,
    write,
    families,
    isAsking,
    open,
    replaceWith,
    show: (place: string) => (tried ? faults.get(place) : undefined),
    save: (then: "close" | "stay") => {
      setTried(true);
      if (isAsking) body.current?.querySelector<HTMLElement>(".dot-question")?.focus();
      if (write.isPending || isAsking || (other && !joined)) return;
      const wanted = savingOf(checked);
      if (wanted) write.mutate({ ...wanted, onDone: then === "close" ? props.onClose : startAnother });
    },
    saveBoth: () => {
      setTried(true);
      const wanted = savingBoth(checked, families?.drafts ?? []);
      if (wanted) write.mutate({ ...wanted, onDone: props.onClose });
    },
  };
}

/**
 * Replaces the draft. The button for that, which opened a set or changed the type, had the focus and is gone: the focus
 * goes to the value.
 */
function useReplacing(setDraft: (draft: SetDraft) => void, body: RefObject<HTMLFieldSetElement | null>) {
  const [replaced, setReplaced] = useState(0);
  useEffect(() => {
    if (replaced > 0) body.current?.querySelector<HTMLElement>("[data-value] :is(input, textarea)")?.focus();
  }, [replaced, body]);
  return (next: SetDraft) => {
    setDraft(next);
    setReplaced(replaced + 1);
  };
}

const findSet = (sets: readonly Rrset[], name: string | undefined, type: string): Rrset | undefined =>
  sets.find((set) => set.name === name && set.type === type);

type Checked = {
  readonly zone: string;
  readonly sets: readonly Rrset[];
  readonly original: Rrset | undefined;
  readonly edited: Rrset | undefined;
  readonly joined: Rrset | undefined;
  readonly change: ReturnType<typeof checkDraft>["change"];
  readonly ownerName: string | undefined;
};

/** What to send for the form, and what to say about it; undefined while something is wrong with it. */
function savingOf({ zone, sets, original, edited, joined, change }: Checked) {
  if (change === undefined) return undefined;
  const isMoved = edited && (edited.name !== change.name || edited.type !== change.type);
  const removal = isMoved ? [{ name: edited.name, type: edited.type, delete: true as const }] : [];
  const verb = original ? "Saved" : joined ? "Added to" : "Added";
  const from = isMoved ? `, formerly ${setInWords(edited)}` : "";
  return {
    ...changesOf(zone, [...removal, change]),
    known: sets,
    said: `${verb} ${setInWords(change)}${from}.`,
  };
}

/** The same for an A and an AAAA record together. */
function savingBoth({ zone, sets, ownerName }: Checked, drafts: readonly SetDraft[]) {
  const changes = drafts.map((each) => {
    const present = findSet(sets, ownerName, each.type);
    return checkDraft(present ? addedTo(present, each) : each, zone, sets).change;
  });
  const sent = changes.filter((each) => each !== undefined);
  if (sent.length === 0 || sent.length !== changes.length) return undefined;
  return { ...changesOf(zone, sent), known: sets, said: `Added ${sent.map(setInWords).join(" and ")}.` };
}

function ChangedElsewhere(props: { readonly original: Rrset | undefined; readonly edited: Rrset | undefined }) {
  const { original, edited } = props;
  if (original === undefined || contentOf(original) === contentOf(edited)) return null;
  return (
    <Text size="sm" role="status" className="bad">
      It was changed elsewhere after you opened it, to: {linesOf(null, edited ?? null).come.join(", ") || "nothing"}.
      Saving overwrites that.
    </Text>
  );
}

/** Why the form cannot be saved, apart from what is wrong with a field. */
const Obstacles = (props: {
  readonly inSet: string | undefined;
  readonly isTaken: boolean;
  readonly isAsking: boolean;
}) => (
  <>
    {props.inSet && <p className="bad">{props.inSet}</p>}
    {props.isTaken && (
      <p className="bad">A record set with this name and type already exists. Open it and add the value there.</p>
    )}
    {props.isAsking && (
      <p className="bad" role="alert" style={{ margin: 0 }}>
        Answer the question about the final dot first.
      </p>
    )}
  </>
);

/**
 * The value before a write: the event for our own change often arrives before the response, and must not look like
 * another user's change.
 */
function useFrozen<T>(value: T, isHeld: boolean): T {
  const [frozen, setHeld] = useState(value);
  if (!isHeld && frozen !== value) setHeld(value);
  return isHeld ? frozen : value;
}

function Place(props: {
  readonly draft: SetDraft;
  readonly zone: RrsetsZone;
  /** The existing set that a new record is added to. */
  readonly joined: Rrset | undefined;
  readonly onChange: (draft: SetDraft) => void;
  readonly show: (place: string) => string | undefined;
  readonly isNew: boolean;
}) {
  const { draft, zone, joined, onChange, show } = props;
  const ttlWords = (seconds: number) => durationInWords(seconds * 1_000);
  const name = draft.name.trim();
  return (
    <Group align="flex-start" gap="sm">
      <TextInput
        label="Name"
        inputWrapperOrder={belowField}
        description={name === "" ? `in ${nameToUnicode(zone.name)}` : nameToUnicode(absoluteName(name, zone.name))}
        placeholder="www, or @ for the zone itself"
        value={draft.name}
        onChange={(event) => onChange({ ...draft, name: event.currentTarget.value })}
        error={show("name")}
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus={props.isNew || undefined}
        style={{ flex: "1 1 14rem" }}
      />
      <TypeField label="Type" type={draft.type} onChoose={(type) => onChange(withType(draft, type))} w="7.5rem" />
      <TtlField
        value={draft.ttl}
        whenEmpty={joined?.ttl ? `stays ${ttlWords(joined.ttl)}` : `zone default: ${ttlWords(zone.ttl)}`}
        error={show("ttl")}
        onChange={(ttl) => onChange({ ...draft, ttl })}
      />
    </Group>
  );
}

/** Values are kept only if the new type has as many fields; otherwise they would mean nothing. */
function withType(draft: SetDraft, type: RecordType): SetDraft {
  const same = definitionOf(type).fields.length === definitionOf(draft.type).fields.length;
  return { ...draft, type, values: same ? draft.values : emptyDraft(type).values };
}

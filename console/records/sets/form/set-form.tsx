import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
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
import { addedTo, checkDraft, draftOf, emptyDraft, openQuestion, type SetDraft } from "../set-draft.ts";
import { typedOwner } from "../typed-owner.ts";
import { changesOf, useSetWrite } from "../write-set.ts";
import { BothFamilies } from "./both-families.tsx";
import { EditedActions } from "./edited-actions.tsx";
import { Existing, joinInWords } from "./existing-set.tsx";
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

/** If a set is deleted while its form is open, the form stays and can save it again. If it was deleted before, there is no form. */
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
function Form({ zone, onClose, ...props }: Props) {
  const write = useSetWrite(zone.name);
  const sets = useHeld(props.sets, write.isPending);
  const [draft, setDraft] = useState<SetDraft>(() => startOf({ zone, onClose, ...props }));
  const [original, setOriginal] = useState(props.edited);
  const [tried, setTried] = useState(false);
  const [hasLabels] = useState(draft.labels !== "");
  const [opened, setOpened] = useState(false);
  const body = useRef<HTMLFieldSetElement>(null);
  const edited = original && sets.find(({ id }) => id === original.id);
  const owner = typedOwner(draft.name, zone.name);
  const present = sets.find(
    (set) => draft.name.trim() !== "" && owner.ok && set.name === owner.value && set.type === draft.type,
  );
  // For a new record, the set that it is added to; for a renamed one, the set that already has the new name.
  const other = present?.id === original?.id ? undefined : present;
  const joined = original === undefined ? other : undefined;
  const { faults, change } = checkDraft(joined ? addedTo(joined, draft) : draft, zone.name, sets);
  const locked = (edited ?? joined)?.protection.change ?? false;
  const movedAway = original !== undefined && contentOf(original) !== contentOf(edited);
  const show = (place: string) => (tried ? faults.get(place) : undefined);
  const isAsking = draft.values.some((value) => openQuestion(draft.type, value, zone.name) !== undefined);
  const save = (then: "close" | "stay") => {
    setTried(true);
    if (isAsking) body.current?.querySelector<HTMLElement>(".dot-question")?.focus();
    if (isAsking || change === undefined || (other && !joined)) return;
    const isMoved = edited && (edited.name !== change.name || edited.type !== change.type);
    const removal = isMoved ? [{ name: edited.name, type: edited.type, delete: true as const }] : [];
    const verb = original ? "Saved" : joined ? "Added to" : "Added";
    const from = isMoved ? `, formerly ${setInWords(edited)}` : "";
    write.mutate({
      ...changesOf(zone.name, [...removal, change]),
      known: sets,
      said: `${verb} ${setInWords(change)}${from}.`,
      onDone: then === "close" ? onClose : startAnother,
    });
  };
  const startAnother = () => {
    setDraft(emptyDraft(draft.type));
    setTried(false);
    body.current?.querySelector("input")?.focus();
  };
  const families = familiesIn(draft);
  const saveBoth = () => {
    setTried(true);
    const changes = families?.drafts.map((each) => {
      const there = sets.find((set) => owner.ok && set.name === owner.value && set.type === each.type);
      return checkDraft(there ? addedTo(there, each) : each, zone.name, sets).change;
    });
    const sent = changes?.filter((each) => each !== undefined) ?? [];
    if (sent.length === 0 || sent.length !== changes?.length) return;
    write.mutate({
      ...changesOf(zone.name, sent),
      known: sets,
      said: `Added ${sent.map(setInWords).join(" and ")}.`,
      onDone: onClose,
    });
  };
  const open = (set: Rrset) => {
    const { values } = addedTo(set, draft);
    setOriginal(set);
    // Drops values that are still empty.
    setDraft({ ...draftOf(set), values: values.filter(({ texts }) => texts.some((text) => text.trim() !== "")) });
    setOpened(true);
  };
  // The button that had the focus is gone: the focus goes to the value that was brought along.
  useEffect(() => {
    if (opened) body.current?.querySelector<HTMLElement>("[data-value] :is(input, textarea)")?.focus();
  }, [opened]);

  return (
    <FormDialog
      title={edited ? setInWords(edited) : "Add a record"}
      size="xl"
      holds={draft}
      onClose={onClose}
      onSubmit={() => save("close")}
      submit={original ? "Save" : joined ? joinInWords(joined) : "Add"}
      cannot={locked || zone.mode === "secondary"}
      sending={write}
      other={
        original === undefined ? (
          <Button variant="default" onClick={() => save("stay")} disabled={write.isPending}>
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
      {movedAway && (
        <Text size="sm" role="status" className="bad">
          It was changed elsewhere after you opened it, to: {linesOf(null, edited ?? null).come.join(", ") || "nothing"}
          . Saving overwrites that.
        </Text>
      )}
      <fieldset
        ref={body}
        disabled={edited !== undefined && locked}
        style={{ border: 0, margin: 0, padding: 0, minWidth: 0 }}
      >
        <Stack gap="sm">
          <Place
            draft={draft}
            zone={zone}
            joined={joined}
            onChange={setDraft}
            show={show}
            isNew={original === undefined}
          />
          {joined && <Existing set={joined} onOpen={() => open(joined)} />}
          {families && (
            <BothFamilies
              families={families}
              mayAddBoth={original === undefined}
              onChangeType={() => setDraft({ ...draft, type: families.other })}
              onBoth={saveBoth}
            />
          )}
          <ValueList draft={draft} zone={zone.name} onChange={setDraft} show={show} />
          <details className="more" open={hasLabels || tried}>
            <summary>Labels</summary>
            <TextInput
              aria-label="Labels"
              description="Your own notes to filter by, such as team=ops, site=attic"
              value={draft.labels}
              onChange={(event) => setDraft({ ...draft, labels: event.currentTarget.value })}
              error={show("labels")}
            />
          </details>
        </Stack>
      </fieldset>
      {edited && <LastChange zone={zone.name} set={edited} />}
      {show("set") && <p className="bad">{show("set")}</p>}
      {tried && other && !joined && (
        <p className="bad">A record set with this name and type already exists. Open it and add the value there.</p>
      )}
      {tried && isAsking && (
        <p className="bad" role="alert" style={{ margin: 0 }}>
          Answer the question about the final dot first.
        </p>
      )}
    </FormDialog>
  );
}

/** The value before a write: the event for our own change often arrives before the response, and must not look like another user's change. */
function useHeld<T>(value: T, isHeld: boolean): T {
  const [held, setHeld] = useState(value);
  if (!isHeld && held !== value) setHeld(value);
  return isHeld ? held : value;
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
        description={name === "" ? `….${nameToUnicode(zone.name)}` : nameToUnicode(absoluteName(name, zone.name))}
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

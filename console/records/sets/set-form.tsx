import { Button, Group, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { Rrset, RrsetsZone } from "../../../src/contract/rrsets.ts";
import { absoluteName } from "../../../src/core/names/name.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { definitionOf, isRecordType, type RecordType } from "../../../src/core/rdata/table.ts";
import { Dialog } from "../../shared/dialog.tsx";
import { FormDialog } from "../../shared/form-dialog.tsx";
import { useLookFirst } from "../../shared/live/look-first.ts";
import { RequestProblem } from "../../shared/live/request.ts";
import { useSession } from "../../shared/session/session.tsx";
import { SureButton } from "../../shared/sure-button.tsx";
import { durationInWords } from "../../shared/time/words-of-time.ts";
import { readSet, setPath, zonePath } from "../api.ts";
import { linesOf } from "../history/describe-change.ts";
import { zoneAddress } from "../zones/zone-address.ts";
import { putSets, withoutSerial, type ZoneSets } from "./put-sets.ts";
import { checkDraft, draftOf, emptyDraft, type SetDraft } from "./set-draft.ts";
import { ttlInWords } from "./ttl.ts";
import { TypeField } from "./type-field.tsx";
import { belowField, ValueList } from "./value-list.tsx";

type Props = {
  readonly zone: RrsetsZone;
  readonly sets: readonly Rrset[];
  /** The set in the URL, such as `www/A`; null for a new one. */
  readonly asked: string | null;
  readonly edited: Rrset | undefined;
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

/** The form of a new or existing set. It is checked while the user types, with the service's own rules. */
function Form({ zone, type, onClose, ...props }: Props) {
  const write = useWrite(zone.name, props.sets, onClose);
  const sets = useHeld(props.sets, write.isPending);
  const edited = useHeld(props.edited, write.isPending);
  const [draft, setDraft] = useState<SetDraft>(() =>
    edited ? draftOf(edited) : emptyDraft(isRecordType(type) ? type : "A"),
  );
  const [tried, setTried] = useState(false);
  const [original] = useState(edited);
  const { faults, change } = checkDraft(draft, zone.name, sets);
  const isPlaceOf = (set: Rrset) => set.name === change?.name && set.type === change.type;
  const taken = !(edited && isPlaceOf(edited)) && sets.some(isPlaceOf);
  const locked = edited?.protection.change ?? false;
  const movedAway = original !== undefined && contentOf(original) !== contentOf(edited);
  const show = (place: string) => (tried ? faults.get(place) : undefined);
  const save = () => {
    setTried(true);
    if (change === undefined || taken) return;
    const removal = edited && !isPlaceOf(edited) ? [{ name: edited.name, type: edited.type, delete: true }] : [];
    const changes = [...removal, change];
    write.mutate({ path: `${zonePath(zone.name)}/changes`, body: { changes }, touches: changes, closes: true });
  };

  return (
    <FormDialog
      title={edited ? `${nameToUnicode(edited.name)} ${edited.type}` : "Add a record"}
      size="xl"
      holds={draft}
      onClose={onClose}
      onSubmit={save}
      submit={edited ? "Save" : "Add"}
      cannot={locked || zone.mode === "secondary"}
      sending={write}
      other={edited && zone.mode !== "secondary" && <EditedActions zone={zone.name} set={edited} write={write} />}
    >
      {locked && <Text size="sm">This record set is protected. Turn the protection off to change it.</Text>}
      {movedAway && (
        <Text size="sm" role="status" className="bad">
          It was changed elsewhere after you opened it, to: {linesOf(null, edited ?? null).come.join(", ") || "nothing"}
          . Saving overwrites that.
        </Text>
      )}
      <fieldset disabled={locked} style={{ border: 0, margin: 0, padding: 0, minWidth: 0 }}>
        <Stack gap="sm">
          <Place draft={draft} zone={zone} onChange={setDraft} show={show} isNew={edited === undefined} />
          <ValueList draft={draft} zone={zone.name} onChange={setDraft} show={show} />
          <TextInput
            label="Labels"
            description="Your own notes to filter by, such as team=ops, site=attic"
            value={draft.labels}
            onChange={(event) => setDraft({ ...draft, labels: event.currentTarget.value })}
            error={show("labels")}
          />
        </Stack>
      </fieldset>
      {show("set") && <p className="bad">{show("set")}</p>}
      {tried && taken && (
        <p className="bad">A record set with this name and type already exists. Open it and add the value there.</p>
      )}
    </FormDialog>
  );
}

/** The value from before a write: the event of one's own change often arrives before the response, and must not look like another user's. */
function useHeld<T>(value: T, isHeld: boolean): T {
  const [held, setHeld] = useState(value);
  if (!isHeld && held !== value) setHeld(value);
  return isHeld ? held : value;
}

/** Everything that saving the form replaces, in a form that can be compared: labels have no order. */
function contentOf(set: Rrset | undefined): string | undefined {
  if (set === undefined) return undefined;
  const records = set.records.map(({ value, comment }) => [withoutSerial(set.type, value), comment]);
  const labels = Object.entries(set.labels).map(([key, value]) => `${key}=${value}`);
  return JSON.stringify([records, set.ttl, labels.toSorted()]);
}

const changedMeanwhile =
  "It was changed elsewhere just now, so nothing was saved. Review the change, and send yours again if you still want it.";

type Write = {
  readonly path: string;
  readonly body: unknown;
  readonly touches: readonly Pick<Rrset, "name" | "type">[];
  readonly closes: boolean;
};

/**
 * Reads the sets before the write, because a page that is not live may be out of date. After the write it reads only what was
 * written: reading all of a large zone would take long.
 */
function useWrite(zone: string, known: readonly Rrset[], onDone: () => void) {
  const { request } = useSession();
  const queries = useQueryClient();
  const lookFirst = useLookFirst();
  const readAgain = async (touches: Write["touches"], serial: number | undefined) => {
    const now = await Promise.all(
      touches.map(async (each) => ({ id: `${each.name}/${each.type}`, set: await readSet(request, zone, each) })),
    );
    queries.setQueryData<ZoneSets>(["sets", zone], (sets) => sets && putSets(sets, now, serial));
    return now;
  };
  return useMutation({
    mutationFn: async ({ path, body, touches }: Write) => {
      const now = await lookFirst(readAgain(touches, undefined));
      const before = (id: string) => known.find((set) => set.id === id);
      if (now.some(({ id, set }) => contentOf(set) !== contentOf(before(id))))
        throw new RequestProblem(409, changedMeanwhile);
      return request<{ readonly serial?: number }>("POST", path, body);
    },
    onSuccess: async ({ serial }, { touches, closes }) => {
      void queries.invalidateQueries({ queryKey: ["first-sets", zone], refetchType: "none" });
      await readAgain(touches, serial).catch(() => void queries.invalidateQueries({ queryKey: ["sets", zone] }));
      if (closes) onDone();
    },
  });
}

function Place(props: {
  readonly draft: SetDraft;
  readonly zone: RrsetsZone;
  readonly onChange: (draft: SetDraft) => void;
  readonly show: (place: string) => string | undefined;
  readonly isNew: boolean;
}) {
  const { draft, zone, onChange, show } = props;
  const name = draft.name.trim() || "@";
  return (
    <Group align="flex-start" gap="sm">
      <TextInput
        label="Name"
        inputWrapperOrder={belowField}
        description={nameToUnicode(absoluteName(name, zone.name))}
        placeholder="www, or @ for the zone itself"
        value={draft.name}
        onChange={(event) => onChange({ ...draft, name: event.currentTarget.value })}
        error={show("name")}
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus={props.isNew || undefined}
        style={{ flex: "1 1 14rem" }}
      />
      <TypeField type={draft.type} onChoose={(type) => onChange(withType(draft, type))} />
      <TextInput
        label="TTL in seconds"
        inputWrapperOrder={belowField}
        description={
          draft.ttl.trim() === ""
            ? `zone default: ${durationInWords(zone.ttl * 1_000)}`
            : (ttlInWords(Number(draft.ttl)) ?? "how long resolvers cache it")
        }
        placeholder={String(zone.ttl)}
        value={draft.ttl}
        onChange={(event) => onChange({ ...draft, ttl: event.currentTarget.value })}
        error={show("ttl")}
        inputMode="numeric"
        w="11rem"
      />
    </Group>
  );
}

/** Values are kept only if the new type has as many fields; otherwise they would mean nothing. */
function withType(draft: SetDraft, type: RecordType): SetDraft {
  const same = definitionOf(type).fields.length === definitionOf(draft.type).fields.length;
  return { ...draft, type, values: same ? draft.values : emptyDraft(type).values };
}

function EditedActions(props: {
  readonly zone: string;
  readonly set: Rrset;
  readonly write: ReturnType<typeof useWrite>;
}) {
  const { zone, set, write } = props;
  const locked = set.protection.change;
  const gone = { changes: [{ name: set.name, type: set.type, delete: true }] };
  return (
    <Group gap="sm">
      <Switch
        label="Protected"
        checked={locked}
        onChange={(event) =>
          write.mutate({
            path: `${setPath(zone, set.name, set.type)}/actions/change_protection`,
            body: { change: event.currentTarget.checked },
            touches: [set],
            closes: false,
          })
        }
      />
      {set.type !== "SOA" && (
        <SureButton
          ask="Delete…"
          sure="Yes, delete it"
          disabled={locked || write.isPending}
          onSure={() => write.mutate({ path: `${zonePath(zone)}/changes`, body: gone, touches: [set], closes: true })}
        />
      )}
    </Group>
  );
}

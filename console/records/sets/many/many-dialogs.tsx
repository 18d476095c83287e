import { Button, Group, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Rrset, RrsetsZone } from "../../../../src/contract/rrsets.ts";
import { counted } from "../../../shared/counted.ts";
import { FormDialog } from "../../../shared/form-dialog.tsx";
import { TtlField } from "../form/ttl-field.tsx";
import { contentOf } from "../set-content.ts";
import { readLabels } from "../set-draft.ts";
import { ttlInWords, typedTtl, typedTtlFault } from "../ttl.ts";
import { type ManyWrite, useManyWrite } from "./write-many.ts";
import { namesOf } from "./write-parts.ts";

type Props = {
  readonly zone: RrsetsZone;
  readonly chosen: readonly Rrset[];
  readonly onClose: () => void;
  readonly onDone: () => void;
};

const presets = ["5m", "1h", "1d"];

export function TtlDialog({ zone, chosen, onClose, onDone }: Props) {
  const [text, setText] = useState("");
  const [tried, setTried] = useState(false);
  const write = useManyWrite(zone);
  const ttl = typedTtl(text);
  const changes = changesTo(chosen, (set) => (ttl === undefined ? set : { ...set, ttl }));
  const inWords = ttl === null ? "the zone's default" : (ttlInWords(ttl ?? 0) ?? "");
  return (
    <FormDialog
      title={`TTL of ${counted(chosen.length, "record set")}`}
      size="md"
      holds={text}
      onClose={onClose}
      submit={changes.length === 0 ? "Change TTL" : `Change ${counted(changes.length, "set")}`}
      cannot={changes.length === 0 && ttl !== undefined}
      sending={write}
      onSubmit={() => {
        setTried(true);
        if (ttl !== undefined && changes.length > 0)
          write.mutate({ changes, said: (count) => `TTL of ${count} changed to ${inWords}.`, onDone });
      }}
    >
      <TtlField
        value={text}
        whenEmpty="how long resolvers cache it"
        error={tried && ttl === undefined ? typedTtlFault(text) : undefined}
        onChange={setText}
        isFirst
      />
      <Group gap="xs">
        {presets.map((preset) => (
          <Button key={preset} size="compact-sm" variant="default" onClick={() => setText(preset)}>
            {ttlInWords(typedTtl(preset) ?? 0)}
          </Button>
        ))}
        <Button size="compact-sm" variant="default" onClick={() => setText("default")}>
          zone default
        </Button>
      </Group>
      <Kept chosen={chosen} />
    </FormDialog>
  );
}

/** Adds labels to all selected sets, and removes others. */
export function LabelDialog({ zone, chosen, onClose, onDone }: Props) {
  const [added, setAdded] = useState("");
  const [removed, setRemoved] = useState("");
  const write = useManyWrite(zone);
  const keys = new Set(Object.keys(readLabels(removed)));
  const changes = changesTo(chosen, (set) => ({
    ...set,
    labels: {
      ...Object.fromEntries(Object.entries(set.labels).filter(([key]) => !keys.has(key))),
      ...readLabels(added),
    },
  }));
  return (
    <FormDialog
      title={`Labels of ${counted(chosen.length, "record set")}`}
      size="md"
      holds={[added, removed]}
      onClose={onClose}
      submit={changes.length === 0 ? "Change labels" : `Change ${counted(changes.length, "set")}`}
      cannot={changes.length === 0}
      sending={write}
      onSubmit={() => {
        if (changes.length > 0) write.mutate({ changes, said: (count) => `Labels of ${count} changed.`, onDone });
      }}
    >
      <TextInput
        label="Add or change"
        placeholder="team=ops, site=attic"
        value={added}
        onChange={(event) => setAdded(event.currentTarget.value)}
        data-autofocus
      />
      <TextInput
        label="Remove"
        placeholder="team"
        value={removed}
        onChange={(event) => setRemoved(event.currentTarget.value)}
      />
      <Kept chosen={chosen} />
    </FormDialog>
  );
}

/** Only what really changes: a write that changes nothing could not be undone. */
const changesTo = (chosen: readonly Rrset[], change: (set: Rrset) => Rrset): ManyWrite["changes"] =>
  chosen
    .filter(({ protection }) => !protection.change)
    .map((seen) => ({ id: seen.id, seen, wanted: change(seen) }))
    .filter(({ seen, wanted }) => contentOf(seen) !== contentOf(wanted));

function Kept({ chosen }: { readonly chosen: readonly Rrset[] }) {
  const kept = chosen.filter(({ protection }) => protection.change);
  return kept.length === 0 ? null : <Text size="sm">Protected, so they stay as they are: {namesOf(kept)}</Text>;
}

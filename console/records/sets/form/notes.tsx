import { Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { hasNotes, type SetDraft } from "../set-draft.ts";

/** What is for people only: a comment per record, and labels. Folded, because most records have neither. */
export function Notes(props: {
  readonly draft: SetDraft;
  readonly onChange: (draft: SetDraft) => void;
  readonly error: string | undefined;
}) {
  const { draft, onChange } = props;
  // What was shown once stays: a field that is cleared or corrected must not disappear.
  const [isOpen, setOpen] = useState(false);
  if (!isOpen && (hasNotes(draft) || props.error !== undefined)) setOpen(true);
  return (
    <details className="more" open={isOpen}>
      <summary>Comment and labels</summary>
      <Stack gap="sm" mt="xs">
        {draft.values.map((value, at) => (
          <TextInput
            key={value.key}
            label={draft.values.length === 1 ? "Comment" : `Comment on record ${at + 1}`}
            value={value.comment}
            onChange={(event) =>
              onChange({ ...draft, values: draft.values.with(at, { ...value, comment: event.currentTarget.value }) })
            }
          />
        ))}
        <TextInput
          label="Labels"
          description="Your own notes to filter by, such as team=ops, site=attic"
          value={draft.labels}
          onChange={(event) => onChange({ ...draft, labels: event.currentTarget.value })}
          error={props.error}
        />
      </Stack>
    </details>
  );
}

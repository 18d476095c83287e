import { Button, Group, Stack } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type {
  EditableNames,
  FieldFault,
  NameFields,
  NamesEdit,
  NamesPreview,
} from "../../src/contract/updater-page.ts";
import { Dialog } from "../shared/dialog.tsx";
import { FormDialog } from "../shared/form-dialog.tsx";
import { Problem } from "../shared/live/problem.tsx";
import { Waiting } from "../shared/live/waiting.tsx";
import { useSession } from "../shared/session/session.tsx";
import { useFocusWhen } from "../shared/use-focus-when.ts";
import { WithCode } from "../shared/with-code.tsx";
import { DiffView } from "./diff-view.tsx";
import { missingIn } from "./missing-fields.ts";
import { type FieldErrors, NameForm } from "./name-form.tsx";
import { newFields } from "./new-fields.ts";

/** What somebody wants to do; `index` is the entry in the config file. */
export type Intent =
  | { readonly kind: "add" }
  | { readonly kind: "edit" | "pause" | "resume" | "remove"; readonly index: number };

type Props = {
  readonly known: EditableNames;
  readonly intent: Intent;
  readonly onIntent: (intent: Intent) => void;
  readonly onClose: () => void;
  /** The file was written. */
  readonly onSaved: () => void;
};

/** Changes a name in the config file, after showing the difference. */
export default function ChangeName(props: Props) {
  const { known, intent } = props;
  const entry = intent.kind === "add" ? undefined : known.entries[intent.index];
  if (known.cannot !== undefined) return <Cannot because={known.cannot} onClose={props.onClose} />;
  if (intent.kind === "add" || intent.kind === "edit")
    return <ByForm key={intent.kind} {...props} first={entry?.fields ?? newFields(known)} title={entry?.title} />;
  return <Confirm key={intent.kind} {...props} kind={intent.kind} index={intent.index} title={entry?.title ?? ""} />;
}

function useNames() {
  const { request } = useSession();
  return {
    preview: (namesEdit: NamesEdit) => request<NamesPreview>("POST", "/page/names/preview", namesEdit),
    write: (namesEdit: NamesEdit) => request<NamesPreview>("POST", "/page/names/write", namesEdit),
  };
}

type FormProps = Props & { readonly first: NameFields; readonly title: string | undefined };

function ByForm(props: FormProps) {
  const { known, intent, title, onIntent, onClose } = props;
  const { fields, change, errors, faults, reviewed, back, sending, submit } = useReviewedChange(props);
  const nothing = reviewed?.diff.every(({ kind }) => kind === "same") ?? false;
  const others = intent.kind === "edit" ? (known.entries[intent.index]?.others ?? []) : [];
  return (
    <FormDialog
      title={title === undefined ? "New dynamic name" : `Change ${title}`}
      holds={fields}
      onClose={onClose}
      onSubmit={submit}
      submit={reviewed ? "Save" : "Review"}
      cannot={nothing}
      sending={sending}
      other={
        reviewed ? (
          <Button variant="default" onClick={back}>
            Back
          </Button>
        ) : intent.kind === "edit" ? (
          <OtherActions known={known} index={intent.index} onIntent={onIntent} />
        ) : undefined
      }
    >
      {reviewed ? (
        <Difference file={known.file} preview={reviewed} isEmpty={nothing} />
      ) : (
        <>
          <NameForm known={known} fields={fields} errors={errors} onChange={change} />
          {others.length > 0 && (
            <p className="quiet" style={{ margin: 0, fontSize: "0.8125rem" }}>
              Can be changed only in the file: <span className="mono breaks">{others.join(", ")}</span>
            </p>
          )}
          <Elsewhere faults={faults} />
        </>
      )}
    </FormDialog>
  );
}

/** The fields are sent twice: first for the difference, which is then reviewed, and then to be written. */
function useReviewedChange({ known, intent, first, onSaved }: FormProps) {
  const names = useNames();
  const [fields, setFields] = useState(first);
  const [reviewed, setReviewed] = useState<NamesPreview>();
  const [faults, setFaults] = useState<readonly FieldFault[]>([]);
  const [tried, setTried] = useState(false);
  const { version } = known;
  const namesEdit: NamesEdit =
    intent.kind === "add"
      ? { kind: "add", version, fields }
      : { kind: "edit", version, index: "index" in intent ? intent.index : -1, fields };
  const sending = useMutation({
    mutationFn: () => (reviewed ? names.write(namesEdit) : names.preview(namesEdit)),
    onSuccess: (answer) => {
      setFaults(answer.faults);
      if (answer.faults.length > 0) setReviewed(undefined);
      else if (reviewed) onSaved();
      else setReviewed(answer);
    },
  });
  const missing = reviewed ? {} : missingIn(fields, known.sources);
  return {
    fields,
    change: (next: NameFields) => {
      setFields(next);
      setFaults([]);
    },
    errors: { ...errorsOf(faults), ...(tried ? missing : {}) },
    faults,
    reviewed,
    back: () => setReviewed(undefined),
    sending,
    submit: () => {
      setTried(true);
      if (Object.keys(missing).length === 0) sending.mutate();
    },
  };
}

function OtherActions({ known, index, onIntent }: Pick<Props, "known" | "onIntent"> & { readonly index: number }) {
  const isPaused = known.entries[index]?.fields.paused ?? false;
  return (
    <Group gap="xs">
      <Button variant="subtle" onClick={() => onIntent({ kind: isPaused ? "resume" : "pause", index })}>
        {isPaused ? "Resume…" : "Pause…"}
      </Button>
      <Button variant="subtle" color="red" onClick={() => onIntent({ kind: "remove", index })}>
        Remove…
      </Button>
    </Group>
  );
}

const errorsOf = (faults: readonly FieldFault[]): FieldErrors =>
  Object.fromEntries(
    faults
      .flatMap(({ field, message, todo }) => (field === undefined ? [] : [[field, `${message}; ${todo}.`] as const]))
      .toReversed(),
  );

const wordsOf = ({ line, message, todo }: Omit<FieldFault, "field">): string =>
  `${line === undefined ? "" : `Line ${line}: `}${message}; ${todo}.`;

/** Settings that the form has; a fault of any other is shown below it. */
const shownFields = ["name", "zone", "ipv4", "ipv6", "source", "target", "ttl", "create"];

function Elsewhere({ faults }: { readonly faults: readonly FieldFault[] }) {
  const rest = faults.filter(({ field }) => field === undefined || !shownFields.includes(field));
  if (rest.length === 0) return null;
  return (
    <div className="note" role="alert">
      {rest.map((fault) => (
        <p key={wordsOf(fault)} style={{ margin: 0 }}>
          <WithCode text={wordsOf(fault)} />
        </p>
      ))}
    </div>
  );
}

function Difference(props: { readonly file: string; readonly preview: NamesPreview; readonly isEmpty: boolean }) {
  if (props.isEmpty) return <p role="status">Nothing would change.</p>;
  return <DiffView file={props.file} lines={props.preview.diff} />;
}

const confirmWords = {
  pause: {
    title: "Pause",
    submit: "Pause",
    what: "The updater leaves the records of this name as they are until you resume the name. Nothing is removed from DNS.",
  },
  resume: { title: "Resume", submit: "Resume", what: "The updater keeps the records of this name up to date again." },
  remove: {
    title: "Remove",
    submit: "Remove",
    what: "The updater forgets this name. Its records stay in DNS as they are.",
  },
} as const;

type ConfirmProps = Props & {
  readonly kind: keyof typeof confirmWords;
  readonly index: number;
  readonly title: string;
};

function Confirm({ known, kind, index, title, onClose, onSaved }: ConfirmProps) {
  const names = useNames();
  const { version, file } = known;
  const namesEdit: NamesEdit =
    kind === "remove" ? { kind, version, index } : { kind: "pause", version, index, paused: kind === "pause" };
  const preview = useQuery({
    queryKey: ["names-preview", namesEdit],
    queryFn: () => names.preview(namesEdit),
    retry: false,
    staleTime: 0,
    gcTime: 0,
  });
  const sending = useMutation({
    mutationFn: () => names.write(namesEdit),
    onSuccess: ({ faults }) => (faults.length > 0 ? preview.refetch() : onSaved()),
  });
  const words = confirmWords[kind];
  const faults = preview.data?.faults ?? [];
  const canSend = preview.isSuccess && faults.length === 0;
  const button = useFocusWhen(canSend);
  return (
    <Dialog title={`${words.title} ${title}`} onClose={onClose}>
      <Stack gap="sm">
        <p style={{ margin: 0 }}>{words.what}</p>
        {preview.isPending && <Waiting />}
        <Problem error={preview.error ?? sending.error} />
        <Elsewhere faults={faults.map(({ field: _field, ...fault }) => fault)} />
        {preview.data && faults.length === 0 && <DiffView file={file} lines={preview.data.diff} />}
        <Group justify="end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button
            color={kind === "remove" ? "red" : "tide"}
            ref={button}
            disabled={!canSend}
            loading={sending.isPending}
            onClick={() => sending.mutate()}
          >
            {words.submit}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

const Cannot = ({ because, onClose }: { readonly because: string; readonly onClose: () => void }) => (
  <Dialog title="The names cannot be changed here" onClose={onClose}>
    <p className="breaks">
      <WithCode text={because} />
    </p>
    <Group justify="end">
      <Button onClick={onClose}>Close</Button>
    </Group>
  </Dialog>
);

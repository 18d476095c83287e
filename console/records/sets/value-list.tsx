import { ActionIcon, Button, Group, Stack, Text, Textarea, TextInput } from "@mantine/core";
import type { ClipboardEvent } from "react";
import { hostName } from "../../../src/core/rdata/field-name.ts";
import { definitionOf, type RecordType } from "../../../src/core/rdata/table.ts";
import { doubtOf } from "./doubtful-text.ts";
import { lacksDot, meaningOf, type SetDraft, type ValueDraft, withOneMore, withPasted } from "./set-draft.ts";
import { type FieldWords, fieldsOf } from "./value-fields.ts";

type Props = {
  readonly draft: SetDraft;
  readonly zone: string;
  readonly onChange: (draft: SetDraft) => void;
  readonly show: (place: string) => string | undefined;
};

/** The records of a set, each with the fields of its type. */
export function ValueList({ draft, zone, onChange, show }: Props) {
  const fields = fieldsOf(draft.type);
  const put = (at: number, value: ValueDraft) => onChange({ ...draft, values: draft.values.with(at, value) });
  const paste = (at: number, event: ClipboardEvent<HTMLInputElement>) => {
    const { selectionStart, selectionEnd, value } = event.currentTarget;
    const isWhole = selectionStart === 0 && selectionEnd === value.length;
    const pasted = withPasted(draft, at, event.clipboardData.getData("text"), isWhole);
    if (pasted === undefined) return;
    event.preventDefault();
    onChange(pasted);
  };
  const single = draft.type === "CNAME" || draft.type === "SOA";
  return (
    <Stack gap="sm">
      {draft.values.map((value, at) => (
        <Group key={value.key} align="flex-start" gap="xs" role="group" aria-label={`Record ${at + 1}`}>
          {fields.map((field, i) => (
            <Field
              key={field.name}
              field={field}
              focused={at === 0 && i === 0}
              counted={draft.type === "SOA" && field.name === "serial"}
              isText={draft.type === "TXT"}
              value={value.texts[i] ?? ""}
              error={show(`${at}.${i}`)}
              onPaste={(event) => paste(at, event)}
              onChange={(text) =>
                put(at, { ...value, texts: fields.map((_, j) => (j === i ? text : (value.texts[j] ?? ""))) })
              }
            />
          ))}
          <TextInput
            label="Comment"
            value={value.comment}
            onChange={(event) => put(at, { ...value, comment: event.currentTarget.value })}
            style={{ flex: "1 1 8rem" }}
          />
          {draft.values.length > 1 && (
            <ActionIcon
              variant="subtle"
              color="gray"
              mt={26}
              aria-label={`Remove record ${at + 1}`}
              onClick={() => onChange({ ...draft, values: draft.values.toSpliced(at, 1) })}
            >
              <span aria-hidden>✕</span>
            </ActionIcon>
          )}
          <Meaning
            meaning={meaningOf(draft.type, value.texts, zone)}
            undotted={lacksDot(draft.type, value.texts, zone)}
            isName={definitionOf(draft.type).fields.some(({ kind }) => kind === hostName)}
          />
          <Doubt warning={doubtOf(draft.type, value.texts)} />
        </Group>
      ))}
      <Group justify="space-between" gap="xs">
        <Text size="xs" c="dimmed" className="breaks">
          {adviceFor(draft.type)}
        </Text>
        {!single && (
          <Button size="compact-sm" variant="default" onClick={() => onChange(withOneMore(draft))}>
            Add value
          </Button>
        )}
      </Group>
    </Stack>
  );
}

/** The advice for TXT in zone files is about strings, but this form splits a text into strings automatically. */
const adviceFor = (type: RecordType): string =>
  type === "TXT" ? "a TXT record takes any text, such as v=spf1 -all" : definitionOf(type).todo;

/** The description goes below the input, so that inputs next to each other stay aligned. */
export const belowField: ("label" | "input" | "description" | "error")[] = ["label", "input", "description", "error"];

function Field(props: {
  readonly field: FieldWords;
  readonly isText: boolean;
  /** When the form opens for an existing set. */
  readonly focused: boolean;
  /** Set by the service, not by people. */
  readonly counted: boolean;
  readonly value: string;
  readonly error: string | undefined;
  readonly onPaste: (event: ClipboardEvent<HTMLInputElement>) => void;
  readonly onChange: (text: string) => void;
}) {
  const { label, example } = props.field;
  const shared = {
    label,
    placeholder: example,
    value: props.value,
    error: props.error,
    spellCheck: false,
    autoCapitalize: "none",
    classNames: { input: "mono" },
    "data-autofocus": props.focused || undefined,
    ...(props.counted && { readOnly: true, description: "set by the service", inputWrapperOrder: belowField }),
  };
  if (props.isText)
    return (
      <Textarea
        {...shared}
        autosize
        minRows={2}
        maxRows={8}
        style={{ flex: "3 1 16rem" }}
        onChange={(event) => props.onChange(event.currentTarget.value.replaceAll(/\s*\n\s*/g, " "))}
      />
    );
  const short = /^\d+$/.test(example);
  return (
    <TextInput
      {...shared}
      onPaste={props.onPaste}
      inputMode={short ? "numeric" : undefined}
      style={short ? { width: "6rem" } : { flex: "2 1 12rem" }}
      onChange={(event) => props.onChange(event.currentTarget.value)}
    />
  );
}

function Meaning(props: {
  readonly meaning: string | undefined;
  readonly undotted: string | undefined;
  readonly isName: boolean;
}) {
  const { meaning, undotted } = props;
  if (meaning === undefined) return null;
  if (undotted !== undefined)
    return (
      <p className="note" role="status" style={{ width: "100%", margin: 0 }}>
        <span className="mono">{undotted}</span> does not end with a dot, so the zone’s name is appended:{" "}
        <b className="mono">{meaning}</b> If you mean the full name, write <b className="mono">{undotted}.</b>
      </p>
    );
  return (
    <Text size="xs" w="100%" role="status">
      Published as <span className="mono">{meaning}</span>
      {props.isName && ", because the zone’s name is appended to names without a trailing dot"}
    </Text>
  );
}

const Doubt = ({ warning }: { readonly warning: string | undefined }) =>
  warning && (
    <p className="note" role="status" style={{ width: "100%", margin: 0 }}>
      {warning}
    </p>
  );

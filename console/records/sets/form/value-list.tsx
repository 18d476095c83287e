import { ActionIcon, Button, Group, Stack, Text } from "@mantine/core";
import { type ClipboardEvent, useEffect, useRef } from "react";
import { nameToUnicode } from "../../../../src/core/names/unicode.ts";
import { adviceOf, type RecordType } from "../../../../src/core/rdata/table.ts";
import { isTarget } from "../../../../src/core/rdata/target-fields.ts";
import { doubtOf } from "../doubtful-text.ts";
import {
  isSingle,
  meaningOf,
  openQuestion,
  type SetDraft,
  type ValueDraft,
  withOneMore,
  withPasted,
} from "../set-draft.ts";
import { type FieldWords, fieldsOf } from "../value-fields.ts";
import { choicesFor } from "./field-choices.ts";
import { ValueField } from "./value-field.tsx";
import "./value-list.css";

type Props = {
  readonly draft: SetDraft;
  readonly zone: string;
  readonly onChange: (draft: SetDraft) => void;
  readonly show: (place: string) => string | undefined;
  /** The key of the value that gets the focus when the form opens. */
  readonly first?: number | undefined;
};

/** The records of a set, each with the fields of its type. */
export function ValueList(props: Props) {
  const { draft, onChange } = props;
  const box = useRef<HTMLDivElement>(null);
  const { newest } = draft;
  useEffect(() => {
    if (newest !== undefined)
      box.current?.querySelector<HTMLElement>(`[data-value="${newest}"] :is(input, textarea)`)?.focus();
  }, [newest]);
  return (
    <Stack gap="sm" ref={box}>
      {draft.values.map((value, at) => (
        <OneValue key={value.key} {...props} value={value} at={at} />
      ))}
      <Group justify="space-between" gap="xs">
        <Text size="xs" c="dimmed" className="breaks">
          {adviceFor(draft.type)}
        </Text>
        {!isSingle(draft.type) && (
          <Button size="compact-sm" variant="default" onClick={() => onChange(withOneMore(draft))}>
            Add value
          </Button>
        )}
      </Group>
    </Stack>
  );
}

function OneValue(props: Props & { readonly value: ValueDraft; readonly at: number }) {
  const { draft, zone, onChange, show, first, value, at } = props;
  const fields = fieldsOf(draft.type);
  const put = (next: ValueDraft) => onChange({ ...draft, values: draft.values.with(at, next) });
  const putText = (i: number, text: string) =>
    put({ ...value, texts: fields.map((_, j) => (j === i ? text : (value.texts[j] ?? ""))) });
  const paste = (event: ClipboardEvent<HTMLInputElement>) => {
    const { selectionStart, selectionEnd, value: before } = event.currentTarget;
    const isWhole = selectionStart === 0 && selectionEnd === before.length;
    const pasted = withPasted(draft, at, event.clipboardData.getData("text"), isWhole);
    if (pasted === undefined) return;
    event.preventDefault();
    onChange(pasted);
  };
  return (
    <Stack gap="xs" role="group" aria-label={`Record ${at + 1}`} data-value={value.key}>
      <Group align="flex-start" gap="xs" wrap="nowrap">
        <Group align="flex-start" gap="xs" flex={1} miw={0}>
          {fields.map((field, i) => (
            <ValueField
              key={field.name}
              field={field}
              kind={kindOf(draft.type, field, i)}
              choices={choicesFor(draft.type, field.name)}
              zone={zone}
              isFocused={i === 0 && (first === undefined ? at === 0 : value.key === first)}
              isCounted={draft.type === "SOA" && field.name === "serial"}
              value={value.texts[i] ?? ""}
              error={show(`${at}.${i}`)}
              onPaste={paste}
              onChange={(text) => putText(i, text)}
            />
          ))}
        </Group>
        {draft.values.length > 1 && (
          <RemoveValue at={at} onRemove={() => onChange({ ...draft, values: draft.values.toSpliced(at, 1) })} />
        )}
      </Group>
      <Meaning type={draft.type} value={value} zone={zone} onChange={put} />
      <Doubt warning={doubtOf(draft.type, value.texts)} />
    </Stack>
  );
}

const RemoveValue = ({ at, onRemove }: { readonly at: number; readonly onRemove: () => void }) => (
  <ActionIcon variant="subtle" color="gray" mt={26} aria-label={`Remove record ${at + 1}`} onClick={onRemove}>
    <span aria-hidden>✕</span>
  </ActionIcon>
);

function kindOf(type: RecordType, { name }: FieldWords, at: number) {
  if (type === "TXT") return "text";
  if (name === "params") return "parameters";
  return isTarget(type, at) ? "target" : "plain";
}

/** The advice for TXT in zone files is about strings, but this form splits a text into strings automatically. */
const adviceFor = (type: RecordType): string =>
  type === "TXT" ? "a TXT record takes any text, such as v=spf1 -all" : adviceOf(type);

/**
 * Shows what is published, if that differs from what was typed, and asks about a target that looks like a full name.
 */
function Meaning(props: {
  readonly type: RecordType;
  readonly value: ValueDraft;
  readonly zone: string;
  readonly onChange: (value: ValueDraft) => void;
}) {
  const { type, value, zone, onChange } = props;
  const meaning = meaningOf(type, value.texts, zone);
  const target = openQuestion(type, value);
  if (target === undefined)
    return meaning === undefined ? null : (
      // For a target, only for screen readers: its field already shows this in grey.
      <Text size="xs" w="100%" role="status" className={value.texts.some((_, i) => isTarget(type, i)) ? "unseen" : ""}>
        Published as <span className="mono">{meaning}</span>
      </Text>
    );
  const whole = `${target}.`;
  const asWhole = value.texts.map((text, i) => (isTarget(type, i) && text.trim() === target ? whole : text));
  return (
    <div className="note" role="status" style={{ width: "100%", margin: 0 }}>
      <span className="mono">{target}</span> has no final dot. Is it a full name, or inside this zone?
      <Group gap="xs" mt={6}>
        <Button
          size="compact-sm"
          variant="default"
          className="dot-question"
          onClick={() => onChange({ ...value, texts: asWhole })}
        >
          Full name: {whole}
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => onChange({ ...value, keeps: target })}>
          Inside the zone: {target}.{nameToUnicode(zone)}.
        </Button>
      </Group>
    </div>
  );
}

const Doubt = ({ warning }: { readonly warning: string | undefined }) =>
  warning && (
    <p className="note" role="status" style={{ width: "100%", margin: 0 }}>
      {warning}
    </p>
  );

import { Button, Group, Paper, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Published, UpdaterDecision } from "../../src/contract/updater-page.ts";
import { Problem } from "../shared/live/problem.tsx";
import { NameText } from "../shared/name-text.tsx";
import { useNow, When } from "../shared/time/when.tsx";
import { minutesInWords } from "../shared/time/words-of-time.ts";
import { WithCode } from "../shared/with-code.tsx";
import { AddressStrip } from "./address-strip.tsx";
import { type NamedRecords, type NameState, stateOf, typeOf, worstTone } from "./group-names.ts";
import { movesOf } from "./moves.ts";

/** What can be done with an entry of the config; absent if names cannot be changed here. */
export type EntryActions = { readonly onEdit: () => void; readonly onPause: () => void };

type Shared = {
  /** Undefined while it is not known; null if it cannot be read. */
  readonly published: Published | null | undefined;
  readonly decisions: readonly UpdaterDecision[];
  readonly nextRound: string | null;
  /** Writes the wanted address now. */
  readonly putBack: (record: string) => Promise<unknown>;
};

type Props = Shared & {
  readonly name: NamedRecords;
  /** The entry of a record; its number tells whether two records are in the same one. */
  readonly entryOf: (record: string) => (EntryActions & { readonly index: number }) | undefined;
};

/** One name: the address of each family and whether its record has it. Everything else is behind Details. */
export function NameCard({ name: { host, records }, entryOf, ...shared }: Props) {
  const tones = records.map((record) => stateOf(record, publishedOf(record, shared.published)).tone);
  const entries = [...new Map(records.map(({ name }) => [entryOf(name)?.index, entryOf(name)])).values()];
  const isOne = entries.length === 1;
  const paused = records.every((record) => record.paused);
  return (
    <Paper withBorder p="md" component="section" aria-label={host} className={`card ${worstTone(tones)}`}>
      <Group justify="space-between" align="start" gap="xs">
        <Title order={2} className="mono" style={{ fontSize: "1rem" }}>
          <NameText name={host} />
        </Title>
        {isOne && <Actions of={host} isPaused={paused} entry={entries[0]} />}
      </Group>
      {records.map((record) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields of a form
        <div key={record.name} role="group" aria-label={record.name} className="family">
          <FamilyLine record={record} {...shared} />
          {!isOne && <Actions of={record.name} isPaused={record.paused ?? false} entry={entryOf(record.name)} />}
        </div>
      ))}
      <details className="more">
        <summary>Details</summary>
        {records.map((record) => (
          <Facts key={record.name} record={record} {...shared} />
        ))}
      </details>
    </Paper>
  );
}

const publishedOf = ({ name }: NameState, published: Shared["published"]) =>
  published === null ? null : published?.[name];

function Actions(props: { readonly of: string; readonly isPaused: boolean; readonly entry: EntryActions | undefined }) {
  if (props.entry === undefined) return null;
  const pause = props.isPaused ? "Resume" : "Pause";
  return (
    <Group gap={4} wrap="nowrap">
      <Button {...small} onClick={props.entry.onPause} aria-label={`${pause} ${props.of}`}>
        {pause}
      </Button>
      <Button {...small} onClick={props.entry.onEdit} aria-label={`Edit ${props.of}`}>
        Edit
      </Button>
    </Group>
  );
}

/** "→ 203.0.113.7 ✓ up to date for 3 days" */
function FamilyLine({ record, published, decisions, putBack }: Shared & { readonly record: NameState }) {
  const { name, wanted, stored, storedAt, because, todo, ok } = record;
  const now = useNow(15_000);
  const spans = useMemo(() => movesOf(name, decisions), [name, decisions]);
  const state = stateOf(record, publishedOf(record, published));
  // Of a service that fails as a whole, the page says it once for all names.
  const isSaid = ok || state.tone === "paused" || record.service !== undefined;
  const why = state.todo ?? (isSaid ? undefined : `${because}${todo ? `; ${todo}` : ""}`);
  return (
    <>
      <p className="address-line" role="status">
        <span className="mono">
          <span aria-hidden>→ </span>
          {(state.tone === "in-step" ? stored : wanted) ?? stored ?? `no ${typeOf(name)} address`}
        </span>{" "}
        <span className={toneClasses[state.tone]}>
          <span aria-hidden>{signs[state.tone]} </span>
          <b>{state.words}</b>
          {why !== undefined && <WithCode text={`: ${why}`} />}
        </span>{" "}
        {state.tone === "in-step" && storedAt !== null && (
          <span className="quiet nowrap">for {minutesInWords(now - Date.parse(storedAt))}</span>
        )}
      </p>
      {state.drifted && <PutBack address={wanted} putBack={() => putBack(name)} />}
      {spans.length > 1 && <AddressStrip name={name} spans={spans} />}
    </>
  );
}

function Facts({ record, published, decisions, nextRound }: Shared & { readonly record: NameState }) {
  const { name, wanted, stored, storedAt, what, because, todo } = record;
  const failure = decisions.find(({ about, kind }) => about === name && kind === "failing");
  const shown = publishedOf(record, published);
  return (
    <>
      <h3 className="mono">
        <NameText name={name} />
      </h3>
      <dl className="facts">
        <dt>Wanted</dt>
        <dd className="mono">{wanted ?? "no address"}</dd>
        <dt>Stored</dt>
        <dd className="mono">{stored ?? "nothing yet"}</dd>
        <dt>Published</dt>
        <dd className="mono">{shown === undefined ? "…" : (shown?.join(", ") ?? "unknown")}</dd>
        <dt>Last change</dt>
        <dd>{storedAt === null ? "never" : <When at={storedAt} />}</dd>
        <dt>Next check</dt>
        <dd>{nextRound === null ? "soon" : new Date(nextRound).toLocaleTimeString("en-GB")}</dd>
        <dt>Decision</dt>
        <dd>
          <WithCode text={`${what}: ${because}${todo ? `; ${todo}` : ""}`} />
        </dd>
        {failure && (
          <>
            <dt>Last failure</dt>
            <dd>
              <When at={failure.at} />: <WithCode text={failure.because ?? failure.what} />
            </dd>
          </>
        )}
      </dl>
    </>
  );
}

/** Shown only while the record has another address. It is mounted again each time, so its state is new. */
function PutBack(props: { readonly address: string | null; readonly putBack: () => Promise<unknown> }) {
  const back = useMutation({ mutationFn: props.putBack });
  return (
    <>
      <Button size="compact-sm" mb="xs" onClick={() => back.mutate()} loading={back.isPending || back.isSuccess}>
        Put {props.address} back
      </Button>
      <Problem error={back.error} />
    </>
  );
}

const small = { size: "compact-xs", variant: "subtle", color: "gray" } as const;

const toneClasses = { "in-step": "good", "out-of-step": "bad", paused: "quiet" } as const;
const signs = { "in-step": "✓", "out-of-step": "✗", paused: "‖" } as const;

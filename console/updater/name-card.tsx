import { Button, Group, Paper, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Suspense, useMemo } from "react";
import type { UpdaterDecision, UpdaterState } from "../../src/contract/updater-page.ts";
import { lazyPart } from "../shared/live/lazy-part.tsx";
import { Problem } from "../shared/live/problem.tsx";
import { When } from "../shared/time/when.tsx";
import { WithCode } from "../shared/with-code.tsx";
import { movesOf } from "./moves.ts";

const Timeline = lazyPart(async () => ({ default: (await import("../shared/time/timeline.tsx")).Timeline }));

type Props = {
  readonly name: UpdaterState["names"][number];
  readonly published: readonly string[] | null | undefined;
  readonly decisions: readonly UpdaterDecision[];
  readonly nextRound: string | null;
  /** Absent if names cannot be changed here. */
  readonly onEdit?: (() => void) | undefined;
  readonly onPause?: (() => void) | undefined;
  /** Writes the wanted address now. */
  readonly putBack: (name: string) => Promise<unknown>;
};

/** One name and family: the wanted address, the one written last, and the one that the record service has. */
export function NameCard({ name, published, decisions, nextRound, onEdit, onPause, putBack }: Props) {
  const spans = useMemo(() => movesOf(name.name, decisions), [name.name, decisions]);
  const failure = decisions.find(({ about, kind }) => about === name.name && kind === "failing");
  const state = stateOf(name, published);
  return (
    <Paper withBorder p="md" component="section" aria-label={name.name} className={`card ${state.tone}`}>
      <Group justify="space-between" align="start" wrap="nowrap" gap="xs">
        <Title order={2} className="mono" style={{ fontSize: "1rem" }}>
          {name.name}
        </Title>
        <Group gap={4} wrap="nowrap">
          {onPause && (
            <Button {...small} onClick={onPause} aria-label={`${name.paused ? "Resume" : "Pause"} ${name.name}`}>
              {name.paused ? "Resume" : "Pause"}
            </Button>
          )}
          {onEdit && (
            <Button {...small} onClick={onEdit} aria-label={`Edit ${name.name}`}>
              Edit
            </Button>
          )}
        </Group>
      </Group>
      <p className={toneClasses[state.tone]} role="status" style={{ margin: "0.25rem 0 0.5rem" }}>
        <b>{state.words}</b>
        {"todo" in state && <WithCode text={`: ${state.todo}`} />}
      </p>
      {"drifted" in state && <PutBack address={name.wanted} putBack={() => putBack(name.name)} />}
      <dl className="facts">
        <dt>Wanted</dt>
        <dd className="mono">{name.wanted ?? "no address"}</dd>
        <dt>Stored</dt>
        <dd className="mono">{name.stored ?? "nothing yet"}</dd>
        <dt>Published</dt>
        <dd className="mono">{published === undefined ? "…" : (published?.join(", ") ?? "unknown")}</dd>
        <dt>Last change</dt>
        <dd>{name.storedAt === null ? "never" : <When at={name.storedAt} />}</dd>
        <dt>Next check</dt>
        <dd>{nextRound === null ? "soon" : new Date(nextRound).toLocaleTimeString("en-GB")}</dd>
        <dt>Decision</dt>
        <dd>
          <WithCode text={`${name.what}: ${name.because}${name.todo ? `; ${name.todo}` : ""}`} />
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
      {spans.length > 1 && (
        <Suspense>
          <Timeline
            spans={spans}
            label={`Addresses of ${name.name} over time; the decisions below have the same data`}
          />
        </Suspense>
      )}
    </Paper>
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

function stateOf({ ok, wanted, stored, onDrift, paused }: Props["name"], published: Props["published"]) {
  if (paused) return { tone: "paused", words: "paused" } as const;
  if (!ok) return notUpToDate;
  if (published != null && wanted !== null && !published.includes(wanted))
    return { tone: "out-of-step", words: "the record has a different address", todo: onDrift, drifted: true } as const;
  return wanted === null || wanted !== stored ? notUpToDate : ({ tone: "in-step", words: "up to date" } as const);
}

const notUpToDate = { tone: "out-of-step", words: "not up to date" } as const;

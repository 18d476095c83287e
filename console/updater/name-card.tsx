import { Paper, Title } from "@mantine/core";
import { Suspense, useMemo } from "react";
import type { UpdaterDecision, UpdaterState } from "../../src/contract/updater-page.ts";
import { lazyPart } from "../shared/live/lazy-part.tsx";
import { useNow, When } from "../shared/time/when.tsx";
import { WithCode } from "../shared/with-code.tsx";
import { movesOf } from "./moves.ts";

const Timeline = lazyPart(async () => ({ default: (await import("../shared/time/timeline.tsx")).Timeline }));

type Props = {
  readonly name: UpdaterState["names"][number];
  readonly published: readonly string[] | null | undefined;
  readonly decisions: readonly UpdaterDecision[];
  readonly nextRound: string | null;
};

/** One name and family: the wanted address, the one written last, and the one that the record service has. */
export function NameCard({ name, published, decisions, nextRound }: Props) {
  const now = useNow(60_000);
  const spans = useMemo(() => movesOf(name.name, decisions), [name.name, decisions]);
  const failure = decisions.find(({ about, kind }) => about === name.name && kind === "failing");
  const state = stateOf(name, published);
  return (
    <Paper withBorder p="md" component="section" aria-label={name.name} className={`card ${state.tone}`}>
      <Title order={2} className="mono" style={{ fontSize: "1rem" }}>
        {name.name}
      </Title>
      <p className={state.tone === "in-step" ? "good" : "bad"} role="status" style={{ margin: "0.25rem 0 0.5rem" }}>
        <b>{state.words}</b>
        {"todo" in state && <WithCode text={`: ${state.todo}`} />}
      </p>
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
            until={now}
            label={`Addresses of ${name.name} over time; the decisions below have the same data`}
          />
        </Suspense>
      )}
    </Paper>
  );
}

function stateOf({ ok, wanted, stored, onDrift }: Props["name"], published: Props["published"]) {
  if (!ok) return { tone: "out-of-step", words: "not up to date" };
  if (published != null && wanted !== null && !published.includes(wanted))
    return { tone: "out-of-step", words: "the record has a different address", todo: onDrift };
  if (wanted === null || wanted !== stored) return { tone: "out-of-step", words: "not up to date" };
  return { tone: "in-step", words: "up to date" };
}

import { Button, Code, Group, Skeleton, Stack, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Suspense, useEffect, useState } from "react";
import { Redirect, Route, Switch } from "wouter";
import type { EditableNames, Published, UpdaterDecision, UpdaterState } from "../../src/contract/updater-page.ts";
import { counted } from "../shared/counted.ts";
import { lazyPart } from "../shared/live/lazy-part.tsx";
import { LiveMark } from "../shared/live/live-mark.tsx";
import { Problem } from "../shared/live/problem.tsx";
import { TypedAhead } from "../shared/live/typed-ahead.tsx";
import { useLongWait, Waiting } from "../shared/live/waiting.tsx";
import { SessionGate, useSession } from "../shared/session/session.tsx";
import { SignOutButton } from "../shared/session/sign-out-button.tsx";
import { Shell } from "../shared/shell.tsx";
import { useNow, When } from "../shared/time/when.tsx";
import { durationInWords } from "../shared/time/words-of-time.ts";
import { WithCode } from "../shared/with-code.tsx";
import type { Intent } from "./change-name.tsx";
import { DecisionTable } from "./decision-table.tsx";
import { groupNames } from "./group-names.ts";
import { NameCard } from "./name-card.tsx";

const ConfigView = lazyPart(() => import("./config-view.tsx"));
const ChangeName = lazyPart(() => import("./change-name.tsx"));

const words = {
  title: "moor updater",
  help: (
    <>
      The password is in a file; <Code>password:</Code> under <Code>control:</Code> in the updater's config says which.
    </>
  ),
} as const;

/** Without a password in the config, everybody on the updater's machine is let in. */
export function App() {
  return (
    <SessionGate words={words}>
      <Switch>
        <Route path="/sign-in">
          <Redirect to="/" replace />
        </Route>
        <Route>
          <NamesPage />
        </Route>
      </Switch>
    </SessionGate>
  );
}

/** The names that the updater maintains, and whether they are up to date. */
function NamesPage() {
  const { session, request: ask } = useSession();
  const queries = useQueryClient();
  const state = useQuery({
    queryKey: ["state"],
    queryFn: () => ask<UpdaterState>("GET", "/page/state"),
    staleTime: 0,
    refetchInterval: 1_000,
    retry: false,
  });
  const rounds = state.data?.rounds ?? 0;
  const published = useQuery({
    queryKey: ["published", storedIn(state.data)],
    queryFn: () => ask<{ readonly published: Published }>("GET", "/page/published"),
    refetchInterval: 15_000,
    placeholderData: (before) => before,
  });
  const decisions = useQuery({
    queryKey: ["decisions", storedIn(state.data)],
    queryFn: () => ask<{ readonly decisions: readonly UpdaterDecision[] }>("GET", "/page/decisions"),
    refetchInterval: 10_000,
    placeholderData: (before) => before,
  });
  const done = decisions.data?.decisions;
  const check = useMutation({
    mutationFn: () => ask("POST", "/page/check"),
    onSuccess: () => queries.invalidateQueries(),
  });
  const mayChange = session.privileges?.includes("change-names") ?? false;
  const names = useQuery({
    queryKey: ["names"],
    queryFn: () => ask<EditableNames>("GET", "/page/names"),
    enabled: mayChange,
    refetchInterval: 10_000,
  });
  const [intent, setIntent] = useState<{ readonly wish: Intent; readonly known: EditableNames }>();
  const [saved, setSaved] = useState(false);
  useEffect(() => {
    const timer = saved ? setTimeout(() => setSaved(false), 10_000) : undefined;
    return () => clearTimeout(timer);
  }, [saved]);
  // Reads the file again first, because entries may have moved. The service notices changes made while the dialog is open.
  const begin = useMutation({
    mutationFn: async (wish: Intent) => ({ wish, known: await ask<EditableNames>("GET", "/page/names") }),
    onSuccess: setIntent,
  });
  const isHung = useLongWait(state.isFetching);
  const gone = state.failureCount > 0 || isHung;
  const entryOf = (record: string) => {
    const index = names.data?.entries.findIndex(({ records }) => records.includes(record)) ?? -1;
    if (index < 0) return undefined;
    const isPaused = names.data?.entries[index]?.fields.paused;
    return {
      index,
      onEdit: () => begin.mutate({ kind: "edit", index }),
      onPause: () => begin.mutate({ kind: isPaused ? "resume" : "pause", index }),
    };
  };
  const end = (isSaved: boolean) => {
    setIntent(undefined);
    setSaved(isSaved);
    if (isSaved) void queries.invalidateQueries();
  };
  const aside = (
    <>
      <LiveMark state={gone ? "connecting" : "live"} />
      {session.name !== "" && <SignOutButton service="updater" />}
    </>
  );
  return (
    <Shell service="updater" title={words.title} places={[]} aside={aside}>
      <Stack gap="md">
        <Group justify="space-between">
          <Title order={1}>Names</Title>
          <Group gap="sm">
            {state.data && <Rounds state={state.data} />}
            <Button
              variant={mayChange ? "default" : "filled"}
              onClick={() => check.mutate()}
              loading={check.isPending}
              disabled={gone}
            >
              Check now
            </Button>
            {mayChange && (
              <Button onClick={() => begin.mutate({ kind: "add" })} disabled={gone || names.data === undefined}>
                Add name
              </Button>
            )}
          </Group>
        </Group>
        {gone && (
          <p className="note" role="status">
            The updater is not responding. It may be restarting; this page keeps trying.
          </p>
        )}
        <Problem error={check.error} />
        <Problem error={begin.error ?? names.error} />
        {saved && (
          <p className="note good-note" role="status">
            Saved. The updater uses the new config.
          </p>
        )}
        {state.data === undefined && !gone && <Skeleton h={160} />}
        {state.data && rounds === 0 && <p role="status">The updater has not checked yet.</p>}
        {state.data?.sources
          .filter(({ up }) => !up)
          .map(({ source, called, because }) => (
            <p className="note" key={source} role="alert">
              The {called} {source} cannot be read: <WithCode text={because ?? ""} />
            </p>
          ))}
        {state.data?.services.map(({ service, because, todo, records }) => (
          <p className="note" key={service} role="alert">
            <b>
              {counted(records, "record")} cannot be written to {service}:
            </b>{" "}
            <WithCode text={`${because}; ${todo}`} />
          </p>
        ))}
        <div className="cards">
          {groupNames(state.data?.names ?? []).map((name) => (
            <NameCard
              key={name.host}
              name={name}
              published={published.error ? null : published.data?.published}
              decisions={done ?? []}
              nextRound={state.data?.nextRound ?? null}
              putBack={(title) => ask("POST", "/page/put-back", { name: title })}
              entryOf={entryOf}
            />
          ))}
        </div>
        <DecisionTable decisions={done} error={decisions.error} />
        {/* Below the long parts that load later, so that it does not move away from under the pointer. */}
        {!decisions.isPending && (
          <Suspense fallback={<Waiting />}>
            <ConfigView ask={ask} mayChange={mayChange} />
          </Suspense>
        )}
        {intent && (
          <Suspense fallback={<TypedAhead />}>
            <ChangeName
              known={intent.known}
              intent={intent.wish}
              onIntent={(wish) => setIntent({ ...intent, wish })}
              onClose={() => end(false)}
              onSaved={() => end(true)}
            />
          </Suspense>
        )}
      </Stack>
    </Shell>
  );
}

/** Changes exactly when the record service or the history has something new. */
const storedIn = (state: UpdaterState | undefined): string =>
  state?.names.map(({ name, stored, storedAt, ok }) => `${name} ${stored} ${storedAt} ${ok}`).join(",") ?? "";

function Rounds({ state }: { readonly state: UpdaterState }) {
  const now = useNow(1_000);
  const pushed = state.sources.find(({ how }) => how === "events");
  const next = state.nextRound === null ? undefined : Date.parse(state.nextRound) - now;
  return (
    <span className="quiet" style={{ fontSize: "0.8125rem" }}>
      {state.lastRound === null ? (
        "not checked yet"
      ) : (
        <>
          checked <When at={state.lastRound} />
        </>
      )}
      {!pushed && next !== undefined && next > 0 && ` · next check in ${durationInWords(next)}`}
      {pushed && ` · the ${pushed.called} pushes changes`}
    </span>
  );
}

import { Button, Code, Group, Skeleton, Stack, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, Suspense, useEffect, useState } from "react";
import { Redirect, Route, Switch } from "wouter";
import type { EditableNames, Published, UpdaterDecision, UpdaterState } from "../../src/contract/updater-page.ts";
import { counted } from "../shared/counted.ts";
import { lazyPart } from "../shared/live/lazy-part.tsx";
import type { LiveState } from "../shared/live/live.ts";
import { LiveMark } from "../shared/live/live-mark.tsx";
import { Problem } from "../shared/live/problem.tsx";
import { TypeAhead } from "../shared/live/type-ahead.tsx";
import { useLongWait, Waiting } from "../shared/live/waiting.tsx";
import { NotFound } from "../shared/not-found.tsx";
import { OnlyReads } from "../shared/session/only-reads.tsx";
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
import { NewToken } from "./new-token.tsx";
import { useShownConfig } from "./use-shown-config.ts";

const AccountPage = lazyPart(() => import("../shared/session/account-page.tsx"));
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
        <Route path="/account">
          <AccountRoute />
        </Route>
        <Route path="/">
          <NamesPage />
        </Route>
        <Route>
          <Frame>
            <NotFound />
          </Frame>
        </Route>
      </Switch>
    </SessionGate>
  );
}

const places = [
  { to: "/", name: "Names" },
  { to: "/account", name: "Account" },
] as const;

/** Without a sign-in, there is no account. */
const placesFor = ({ name }: { readonly name: string }) => (name === "" ? [] : places);

function AccountRoute() {
  const { session } = useSession();
  if (session.name === "") return <Redirect to="/" replace />;
  return (
    <Frame>
      <Suspense fallback={<Waiting />}>
        <AccountPage service="updater" />
      </Suspense>
    </Frame>
  );
}

/** `live`: whether the page gets changes as they happen; absent if it shows none. */
function Frame({ live, children }: { readonly live?: LiveState; readonly children: ReactNode }) {
  const { session } = useSession();
  const aside = (
    <>
      {live && <LiveMark state={live} />}
      {session.name !== "" && <SignOutButton service="updater" />}
    </>
  );
  return (
    <Shell service="updater" title={words.title} places={placesFor(session)} aside={aside}>
      <OnlyReads />
      {children}
    </Shell>
  );
}

/** The names that the updater maintains, and whether they are up to date. */
function NamesPage() {
  const { request: ask } = useSession();
  const { state, published, decisions, isGone } = useUpdater(ask);
  const { mayChange, names, change } = useNameChanges();
  return (
    <Frame live={isGone ? "connecting" : "live"}>
      <Stack gap="md">
        <Actions
          state={state.data}
          isGone={isGone}
          isReady={names.data !== undefined}
          onAdd={mayChange ? () => change.begin({ kind: "add" }) : undefined}
        />
        {isGone && (
          <p className="note" role="status">
            The updater is not responding. It may be restarting; this page keeps trying.
          </p>
        )}
        <Problem error={change.error ?? names.error} />
        {change.isSaved && (
          <p className="note good-note" role="status">
            Saved. The updater uses the new config.
          </p>
        )}
        {state.data === undefined && !isGone && <Skeleton h={160} />}
        {state.data && state.data.rounds === 0 && <p role="status">The updater has not checked yet.</p>}
        {state.data && <Troubles state={state.data} mayChange={mayChange} />}
        <div className="cards">
          {groupNames(state.data?.names ?? []).map((name) => (
            <NameCard
              key={name.host}
              name={name}
              published={published.error ? null : published.data?.published}
              decisions={decisions.data?.decisions ?? []}
              nextRound={state.data?.nextRound ?? null}
              putBack={(title) => ask("POST", "/page/put-back", { name: title })}
              entryOf={(record) => entryOf(record, names.data, change.begin)}
            />
          ))}
        </div>
        <DecisionTable decisions={decisions.data?.decisions} error={decisions.error} />
        {/* Below the long parts that load later, so that it does not move away from under the pointer. */}
        {!decisions.isPending && (
          <Suspense fallback={<Waiting />}>
            <ConfigView mayChange={mayChange} />
          </Suspense>
        )}
        {change.dialog}
      </Stack>
    </Frame>
  );
}

type Ask = ReturnType<typeof useSession>["request"];

/** What the updater knows, kept current. */
function useUpdater(ask: Ask) {
  const state = useQuery({
    queryKey: ["state"],
    queryFn: () => ask<UpdaterState>("GET", "/page/state"),
    staleTime: 0,
    refetchInterval: 1_000,
    retry: false,
  });
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
  const isHung = useLongWait(state.isFetching);
  return { state, published, decisions, isGone: state.failureCount > 0 || isHung };
}

/** The names in the config file, for those who may change them, and the dialog that does. */
function useNameChanges() {
  const { session, request: ask } = useSession();
  const queries = useQueryClient();
  const mayChange = session.privileges?.includes("change-names") ?? false;
  const read = () => ask<EditableNames>("GET", "/page/names");
  const names = useQuery({ queryKey: ["names"], queryFn: read, enabled: mayChange, refetchInterval: 10_000 });
  const [intent, setIntent] = useState<{ readonly task: Intent; readonly known: EditableNames }>();
  const [isSaved, setSaved] = useState(false);
  useEffect(() => {
    const timer = isSaved ? setTimeout(() => setSaved(false), 10_000) : undefined;
    return () => clearTimeout(timer);
  }, [isSaved]);
  // Reads the file again first, because entries may have moved. The service notices changes made while the dialog is
  // open.
  const begin = useMutation({
    mutationFn: async (task: Intent) => ({ task, known: await read() }),
    onSuccess: setIntent,
  });
  const end = (hasSaved: boolean) => {
    setIntent(undefined);
    setSaved(hasSaved);
    if (hasSaved) void queries.invalidateQueries();
  };
  const dialog = intent && (
    <Suspense fallback={<TypeAhead />}>
      <ChangeName
        known={intent.known}
        intent={intent.task}
        onIntent={(task) => setIntent({ ...intent, task })}
        onClose={() => end(false)}
        onSaved={() => end(true)}
      />
    </Suspense>
  );
  return { mayChange, names, change: { begin: begin.mutate, error: begin.error, isSaved, dialog } };
}

/** How a record's entry in the config file can be changed, if it has one. */
function entryOf(record: string, names: EditableNames | undefined, begin: (task: Intent) => void) {
  const index = names?.entries.findIndex(({ records }) => records.includes(record)) ?? -1;
  if (index < 0) return undefined;
  const isPaused = names?.entries[index]?.fields.paused;
  return {
    index,
    onEdit: () => begin({ kind: "edit", index }),
    onPause: () => begin({ kind: isPaused ? "resume" : "pause", index }),
  };
}

/** `onAdd` is absent for those who may not change names. */
function Actions(props: {
  readonly state: UpdaterState | undefined;
  readonly isGone: boolean;
  readonly isReady: boolean;
  readonly onAdd: (() => void) | undefined;
}) {
  const { request: ask } = useSession();
  const queries = useQueryClient();
  const check = useMutation({
    mutationFn: () => ask("POST", "/page/check"),
    onSuccess: () => queries.invalidateQueries(),
  });
  return (
    <>
      <Group justify="space-between">
        <Title order={1}>Dynamic names</Title>
        <Group gap="sm">
          {props.state && <Rounds state={props.state} />}
          <Button
            variant={props.onAdd ? "default" : "filled"}
            onClick={() => check.mutate()}
            loading={check.isPending}
            disabled={props.isGone}
          >
            Check now
          </Button>
          {props.onAdd && (
            <Button onClick={props.onAdd} disabled={props.isGone || !props.isReady}>
              New dynamic name
            </Button>
          )}
        </Group>
      </Group>
      <Problem error={check.error} />
    </>
  );
}

/** Sources that cannot be read, and services that cannot be written to. */
function Troubles({ state, mayChange }: { readonly state: UpdaterState; readonly mayChange: boolean }) {
  const config = useShownConfig().data;
  /** " (Hetzner)"; nothing while the config is not known. */
  const inBrackets = (of: "sources" | "targets", asked: string) => {
    const called = config?.[of].find(({ name }) => name === asked)?.called;
    return called === undefined ? "" : ` (${called})`;
  };
  return (
    <>
      {state.sources
        .filter(({ up }) => !up)
        .map(({ source, called, because }) => (
          <p className="note" key={source} role="alert">
            The {called} {source}
            {inBrackets("sources", source)} cannot be read: <WithCode text={because ?? ""} />
          </p>
        ))}
      {state.services.map(({ service, because, todo, records, isUnauthorised }) => (
        <div className="note" key={service}>
          <div role="alert">
            <b>
              {counted(records, "record")} cannot be written to {service}
              {inBrackets("targets", service)}:
            </b>{" "}
            <WithCode text={`${because}; ${todo}`} />
          </div>
          {isUnauthorised && <NewToken service={service} mayChange={mayChange} />}
        </div>
      ))}
    </>
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

import { type ReactNode, Suspense } from "react";
import { Redirect, Route, Switch } from "wouter";
import type { ServiceName } from "../../../src/contract/console.ts";
import type { LiveState } from "../live/live.ts";
import { LiveMark } from "../live/live-mark.tsx";
import { Waiting } from "../live/waiting.tsx";
import { NotFound } from "../not-found.tsx";
import { type Place, Shell } from "../shell.tsx";
import { NoPassword } from "./no-password.tsx";
import { OnlyReads } from "./only-reads.tsx";
import { SignOutButton } from "./sign-out-button.tsx";

/** The frame around the pages of a signed-in user. */
export function SignedInFrame(props: {
  readonly service: ServiceName;
  readonly title: string;
  /** The first is the start page. */
  readonly places: readonly Place[];
  readonly subject?: string | undefined;
  /** Undefined if the page listens to no events. */
  readonly live: LiveState | undefined;
  /** Routes. */
  readonly children: ReactNode;
}) {
  const aside = (
    <>
      {props.live && <LiveMark state={props.live} />}
      <SignOutButton service={props.service} />
    </>
  );
  return (
    <Shell service={props.service} title={props.title} places={props.places} subject={props.subject} aside={aside}>
      <OnlyReads />
      <NoPassword />
      <Suspense fallback={<Waiting />}>
        <Switch>
          {props.children}
          <Route path="/sign-in">
            <Redirect to="/" replace />
          </Route>
          <Route>{() => <NotFound />}</Route>
        </Switch>
      </Suspense>
    </Shell>
  );
}

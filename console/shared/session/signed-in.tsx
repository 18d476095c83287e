import { type ReactNode, Suspense } from "react";
import { Link, Redirect, Route, Switch } from "wouter";
import type { LiveState } from "../live/live.ts";
import { LiveMark } from "../live/live-mark.tsx";
import { Waiting } from "../live/waiting.tsx";
import { type Place, Shell } from "../shell.tsx";
import { NoPassword } from "./no-password.tsx";
import { SignOutButton } from "./sign-out-button.tsx";

/** What everyone who is signed in has around the page. */
export function SignedInFrame(props: {
  readonly title: string;
  /** The first is where everything begins. */
  readonly places: readonly Place[];
  readonly subject?: string | undefined;
  /** Undefined where nothing is followed. */
  readonly live: LiveState | undefined;
  /** Routes. */
  readonly children: ReactNode;
}) {
  const aside = (
    <>
      {props.live && <LiveMark state={props.live} />}
      <SignOutButton />
    </>
  );
  return (
    <Shell title={props.title} places={props.places} subject={props.subject} aside={aside}>
      <NoPassword />
      <Suspense fallback={<Waiting />}>
        <Switch>
          {props.children}
          <Route path="/sign-in">
            <Redirect to="/" replace />
          </Route>
          <Route>
            There is no such page. <Link href="/">To the {props.places[0]?.name.toLowerCase()}</Link>
          </Route>
        </Switch>
      </Suspense>
    </Shell>
  );
}

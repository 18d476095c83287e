import { Loader } from "@mantine/core";
import { lazy, Suspense } from "react";
import { Link, Route, Switch } from "wouter";
import { LiveMark } from "../shared/live-mark.tsx";
import { NoPassword } from "../shared/no-password.tsx";
import { SessionGate } from "../shared/session.tsx";
import { Shell } from "../shared/shell.tsx";
import { SignOutButton } from "../shared/sign-out-button.tsx";
import { useLiveRecords } from "./live-sets.tsx";
import { ZoneList } from "./zone-list.tsx";

const ZonePage = lazy(() => import("./zone-page.tsx"));
const TokenPage = lazy(() => import("./token-page.tsx"));
const AccountPage = lazy(() => import("../shared/account-page.tsx"));

const words = {
  title: "moor DNS",
  nameLabel: "Account",
  linkCommand: "moor sign-in",
} as const;

const places = [
  { to: "/", name: "Zones" },
  { to: "/tokens", name: "Tokens" },
  { to: "/account", name: "Account" },
] as const;

export function App() {
  return (
    <SessionGate words={words}>
      <SignedIn />
    </SessionGate>
  );
}

function SignedIn() {
  const live = useLiveRecords();
  const aside = (
    <>
      <LiveMark state={live} />
      <SignOutButton />
    </>
  );
  return (
    <Shell title="moor DNS" places={places} aside={aside}>
      <NoPassword />
      <Suspense fallback={<Loader aria-label="Loading" />}>
        <Switch>
          <Route path="/">{() => <ZoneList />}</Route>
          <Route path="/zones">{() => <ZoneList />}</Route>
          <Route path="/zones/:zone/:part?">
            {({ zone, part }) => <ZonePage key={zone} zone={decodeURIComponent(zone ?? "")} part={part ?? "records"} />}
          </Route>
          <Route path="/tokens">{() => <TokenPage />}</Route>
          <Route path="/account">{() => <AccountPage nameLabel="Account" />}</Route>
          <Route>
            There is no such page. <Link href="/">To the zones</Link>
          </Route>
        </Switch>
      </Suspense>
    </Shell>
  );
}

import { Button, Loader } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { Link, Route, Switch, useLocation } from "wouter";
import { LiveMark } from "../shared/live-mark.tsx";
import { SessionGate, useSession } from "../shared/session.tsx";
import { Shell } from "../shared/shell.tsx";
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
  const { session } = useSession();
  return (
    <Shell title="moor DNS" places={places} aside={<Aside live={<LiveMark state={live} />} />}>
      {!session.hasPassword && <NoPassword />}
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

function Aside({ live }: { readonly live: React.ReactNode }) {
  const { request } = useSession();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const signOut = useMutation({
    mutationFn: () => request("POST", "/console/sign-out"),
    onSettled: async () => {
      navigate("/");
      await queries.resetQueries({ queryKey: ["session"] });
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
    },
  });
  return (
    <>
      {live}
      <Button size="compact-sm" variant="subtle" color="gray" onClick={() => signOut.mutate()}>
        Sign out
      </Button>
    </>
  );
}

function NoPassword() {
  const [location] = useLocation();
  if (location === "/account") return null;
  return (
    <p className="note">
      This account has no password yet: the next way in would be a new link from the terminal.{" "}
      <Link href="/account">Set a password</Link>
    </p>
  );
}

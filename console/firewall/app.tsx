import { Loader } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import { Link, Route, Switch } from "wouter";
import { useLive } from "../shared/live.ts";
import { LiveMark } from "../shared/live-mark.tsx";
import { NoPassword } from "../shared/no-password.tsx";
import { SessionGate, useSession } from "../shared/session.tsx";
import { Shell } from "../shared/shell.tsx";
import { SignOutButton } from "../shared/sign-out-button.tsx";
import { InterfacePage } from "./interface-page.tsx";
import type { WireReport } from "./report.ts";

const UserPage = lazy(() => import("./user-page.tsx"));
const GroupPage = lazy(() => import("./group-page.tsx"));
const AuditPage = lazy(() => import("./audit-page.tsx"));
const AccountPage = lazy(() => import("../shared/account-page.tsx"));

const words = {
  title: "moor firewall",
  nameLabel: "User",
  linkCommand: "moor sign-in --firewall",
} as const;

const managing = [
  { to: "/users", name: "Users" },
  { to: "/groups", name: "Groups" },
  { to: "/audit", name: "Audit" },
] as const;

export function App() {
  return (
    <SessionGate words={words}>
      <SignedIn />
    </SessionGate>
  );
}

function SignedIn() {
  const { session } = useSession();
  const [report, setReport] = useState<WireReport>();
  const live = useLive(
    "/console/events",
    ["snapshot", "change"],
    (data) => setReport(data as WireReport),
    () => undefined,
  );
  const manages = session.privileges?.some((held) => held === "all" || held === "user-management") ?? false;
  const places = [{ to: "/", name: "Interfaces" }, ...(manages ? managing : []), { to: "/account", name: "Account" }];
  const aside = (
    <>
      <LiveMark state={live} />
      <SignOutButton />
    </>
  );
  return (
    <Shell title="moor firewall" places={places} aside={aside}>
      <NoPassword />
      <Suspense fallback={<Loader aria-label="Loading" />}>
        <Switch>
          <Route path="/">{() => <InterfacePage report={report} />}</Route>
          <Route path="/users">{() => <UserPage />}</Route>
          <Route path="/groups">{() => <GroupPage />}</Route>
          <Route path="/audit">{() => <AuditPage />}</Route>
          <Route path="/account">{() => <AccountPage nameLabel="User" />}</Route>
          <Route>
            There is no such page. <Link href="/">To the interfaces</Link>
          </Route>
        </Switch>
      </Suspense>
    </Shell>
  );
}

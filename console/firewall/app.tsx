import { useState } from "react";
import { Route } from "wouter";
import { lazyPart } from "../shared/live/lazy-part.tsx";
import { useLive } from "../shared/live/live.ts";
import { SessionGate, useSession } from "../shared/session/session.tsx";
import { SignedInFrame } from "../shared/session/signed-in.tsx";
import { InterfacePage } from "./interface-page.tsx";
import type { WireReport } from "./report.ts";

const UserPage = lazyPart(() => import("./user-page.tsx"));
const AuditPage = lazyPart(() => import("./audit-page.tsx"));
const AccountPage = lazyPart(() => import("../shared/session/account-page.tsx"));

const words = {
  title: "moor firewall",
  nameLabel: "User",
  linkCommand: "moor sign-in --firewall",
} as const;

const managing = [
  { to: "/users", name: "Users" },
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
  const may = (privilege: string): boolean =>
    session.privileges?.some((each) => each === "all" || each === privilege) ?? false;
  const [sees, manages] = [may("interface-status"), may("all")];
  const [report, setReport] = useState<WireReport>();
  const live = useLive({
    path: sees ? "/console/events" : undefined,
    names: ["snapshot", "change"],
    onEvent: (data) => setReport(data as WireReport),
  });
  const places = [{ to: "/", name: "Interfaces" }, ...(manages ? managing : []), { to: "/account", name: "Account" }];
  return (
    <SignedInFrame service="firewall" title={words.title} places={places} live={live}>
      <Route path="/">{() => <InterfacePage report={report} sees={sees} />}</Route>
      <Route path="/users">{() => (manages ? <UserPage /> : <NoPrivilege />)}</Route>
      <Route path="/audit">{() => (manages ? <AuditPage /> : <NoPrivilege />)}</Route>
      <Route path="/account">{() => <AccountPage service="firewall" nameLabel="User" />}</Route>
    </SignedInFrame>
  );
}

const NoPrivilege = () => <p>Only an administrator can manage users.</p>;

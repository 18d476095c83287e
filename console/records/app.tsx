import { Redirect, Route, useRoute, useSearch } from "wouter";
import { nameToUnicode } from "../../src/core/names/unicode.ts";
import { lazyPart } from "../shared/live/lazy-part.tsx";
import { SessionGate } from "../shared/session/session.tsx";
import { SignedInFrame } from "../shared/session/signed-in.tsx";
import { Toasts } from "../shared/toasts/toasts.tsx";
import { NamesPage } from "./names/names-page.tsx";
import { useLiveRecords } from "./sets/live-sets.tsx";
import { keptZone } from "./sets/shown-name.ts";
import { zoneAddress, zoneInAddress } from "./zones/zone-address.ts";
import { ZoneList } from "./zones/zone-list.tsx";

const ZonePage = lazyPart(() => import("./zones/zone-page.tsx"));
const DynamicPage = lazyPart(() => import("./dynamic/dynamic-page.tsx"));
const TokenPage = lazyPart(() => import("./tokens/token-page.tsx"));
const AccountPage = lazyPart(() => import("../shared/session/account-page.tsx"));

const words = {
  title: "moor DNS",
  nameLabel: "Account",
  linkCommand: "moor sign-in",
} as const;

const places = [
  { to: "/", name: "Names" },
  { to: "/zones", name: "Zones" },
  { to: "/tokens", name: "Tokens" },
  { to: "/account", name: "Account" },
] as const;

export function App() {
  return (
    <SessionGate words={words}>
      <Toasts>
        <SignedIn />
      </Toasts>
    </SessionGate>
  );
}

function SignedIn() {
  const live = useLiveRecords();
  const [, at] = useRoute("/zones/:zone/:part?");
  const zone = at?.zone && nameToUnicode(keptZone(zoneInAddress(at.zone)));
  const [isDynamic] = useRoute("/dynamic");
  const subject = isDynamic ? "New dynamic name" : zone;
  return (
    <SignedInFrame service="records" title={words.title} places={places} subject={subject} live={live}>
      <Route path="/">{() => <NamesPage />}</Route>
      <Route path="/zones">{() => <ZoneList />}</Route>
      <Route path="/zones/:zone/:part?">
        {({ zone, part }) => <OneZone asked={zoneInAddress(zone ?? "")} part={part} />}
      </Route>
      <Route path="/dynamic">{() => <DynamicPage />}</Route>
      <Route path="/tokens">{() => <TokenPage />}</Route>
      <Route path="/account">{() => <AccountPage service="records" nameLabel="Account" />}</Route>
    </SignedInFrame>
  );
}

function OneZone({ asked, part }: { readonly asked: string; readonly part: string | undefined }) {
  const search = useSearch();
  const zone = keptZone(asked);
  if (zone !== asked) return <Redirect to={`${zoneAddress(zone, part)}${search && `?${search}`}`} replace />;
  return <ZonePage key={zone} zone={zone} part={part ?? "records"} />;
}

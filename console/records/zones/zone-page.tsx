import { Badge, Group, Skeleton, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo } from "react";
import { Link } from "wouter";
import type { RrsetsZone } from "../../../src/contract/rrsets.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { counted } from "../../shared/counted.ts";
import { lazyPart } from "../../shared/live/lazy-part.tsx";
import { Problem } from "../../shared/live/problem.tsx";
import { RequestProblem } from "../../shared/live/request.ts";
import { Waiting } from "../../shared/live/waiting.tsx";
import { useSearchPart } from "../../shared/search-part.ts";
import { useSession } from "../../shared/session/session.tsx";
import { readZone } from "../api.ts";
import { publicationInWords } from "../publication/publication-words.ts";
import {
  notPublished,
  SetStates,
  statesByKey,
  usePublication,
  useUnpublishedSets,
} from "../publication/read-publication.ts";
import { SetTable } from "../sets/set-table.tsx";
import { closeSetup, offersSetup } from "./setup-closed.ts";
import { zoneAddress } from "./zone-address.ts";

const HistoryPart = lazyPart(() => import("../history/history-part.tsx"));
const MovingPart = lazyPart(() => import("../history/moving-part.tsx"));
const DnssecPart = lazyPart(() => import("./dnssec-part.tsx"));
const PublicationPart = lazyPart(() => import("../publication/publication-part.tsx"));
const SettingsPart = lazyPart(() => import("./settings-part.tsx"));
const SetupChecklist = lazyPart(() => import("./setup-checklist.tsx"));

const parts = [
  { part: "records", path: "", name: "Records" },
  { part: "history", path: "history", name: "History" },
  { part: "moving", path: "moving", name: "Address changes", short: "Addresses" },
  { part: "dnssec", path: "dnssec", name: "DNSSEC" },
  { part: "provider", path: "provider", name: "Provider" },
  { part: "settings", path: "settings", name: "Settings" },
] as const;

export default function ZonePage({ zone: name, part }: { readonly zone: string; readonly part: string }) {
  const { request } = useSession();
  const found = useQuery({ queryKey: ["zone", name], queryFn: () => readZone(request, name) });
  const zone = found.data;
  const { query, set } = useSearchPart();
  const setsUp = query.has("setup") && part === "records" && zone?.mode === "primary";
  if (found.error instanceof RequestProblem && found.error.status === 404) return <NoZone name={name} />;
  return (
    <>
      <Group gap="sm" align="baseline">
        <Title order={1} className="mono" style={{ fontSize: "1.25rem" }}>
          {nameToUnicode(name)}
        </Title>
        {zone && <Facts zone={zone} />}
        {zone && !setsUp && offersSetup(zone, Date.now()) && <SetupLink zone={name} />}
      </Group>
      <Tabs name={name} part={part} />
      <Problem error={found.error} retry={() => void found.refetch()} />
      {zone?.mode === "secondary" && <Origin zone={zone} />}
      {found.isPending && (
        <Waiting>
          <Skeleton h={200} />
        </Waiting>
      )}
      {zone && (
        <Suspense fallback={<Waiting />}>
          {setsUp && (
            <SetupChecklist
              zone={zone}
              onDismiss={() => {
                closeSetup(zone);
                set({ setup: null });
              }}
            />
          )}
          {/* Not below the checklist: two scroll areas are hard to use on a phone. */}
          {part === "records" && !setsUp && <Records zone={zone} />}
          {part === "history" && <HistoryPart zone={zone} />}
          {part === "moving" && <MovingPart zone={zone} />}
          {part === "dnssec" && <SignedZone zone={zone} />}
          {part === "provider" && <PublicationPart zone={zone} />}
          {part === "settings" && <SettingsPart zone={zone} />}
          {!parts.some((each) => each.part === part) && (
            <p>
              Page not found. <Link href={zoneAddress(name)}>Go to the records</Link>
            </p>
          )}
        </Suspense>
      )}
    </>
  );
}

/** Not for a zone that is published at a provider: its nameservers and its delegation are the provider's. */
function SetupLink({ zone }: { readonly zone: string }) {
  const publication = usePublication(zone).data;
  return (
    publication === null && (
      <Link href={`${zoneAddress(zone)}?setup`} style={{ fontSize: "0.8125rem" }}>
        Set-up checklist
      </Link>
    )
  );
}

const Tabs = ({ name, part }: { readonly name: string; readonly part: string }) => (
  <nav aria-label={`Sections of ${nameToUnicode(name)}`}>
    <ul className="tabs">
      {parts.map((each) => (
        <li key={each.part}>
          <Link
            href={zoneAddress(name, each.path)}
            className="tab"
            aria-current={each.part === part ? "page" : undefined}
          >
            {"short" in each ? <ShorterOnPhones {...each} /> : each.name}
          </Link>
        </li>
      ))}
    </ul>
  </nav>
);

/** All tabs fit one line of a phone. */
const ShorterOnPhones = ({ name, short }: { readonly name: string; readonly short: string }) => (
  <>
    <span className="on-desks">{name}</span>
    <span className="on-phones">{short}</span>
  </>
);

/** The table of the zone, in which each set that its provider does not hold is marked. */
function Records({ zone }: { readonly zone: RrsetsZone }) {
  const publication = usePublication(zone.name).data;
  const sets = useUnpublishedSets(zone.name, publication).data;
  const states = useMemo(
    () => statesByKey(publication && notPublished(publication) > 0 && sets ? sets : []),
    [publication, sets],
  );
  return (
    <SetStates value={states}>
      <SetTable zone={zone} />
    </SetStates>
  );
}

/** The records of a secondary zone come signed, or not, from its primary servers. */
function SignedZone({ zone }: { readonly zone: RrsetsZone }) {
  return (
    <section aria-labelledby="dnssec" style={{ maxWidth: "46rem" }}>
      <Title order={2} id="dnssec" mb="xs">
        DNSSEC
      </Title>
      {zone.mode === "primary" ? (
        <DnssecPart zone={zone} />
      ) : (
        <p>This zone is signed, or not, by its primary server.</p>
      )}
    </section>
  );
}

function Facts({ zone }: { readonly zone: RrsetsZone }) {
  return (
    <>
      <span className="quiet" style={{ fontSize: "0.8125rem" }}>
        {counted(zone.record_count, "record")} · serial <span className="mono">{zone.serial}</span>
      </span>
      {zone.protection.delete && (
        <Badge variant="default" size="sm" tt="none">
          protected
        </Badge>
      )}
      {zone.mode === "secondary" && (
        <Badge variant="default" size="sm" tt="none">
          secondary
        </Badge>
      )}
      {zone.mode === "primary" && <PublicationFact zone={zone.name} />}
    </>
  );
}

function PublicationFact({ zone }: { readonly zone: string }) {
  const publication = usePublication(zone).data;
  if (!publication) return null;
  const isWell = publication.trouble === null && notPublished(publication) === 0;
  return (
    <Link
      href={zoneAddress(zone, "provider")}
      className={isWell ? "good" : "warn"}
      style={{ fontSize: "0.8125rem" }}
      aria-live="polite"
    >
      {publicationInWords(publication)}
    </Link>
  );
}

/** Where the records of a secondary zone come from, and whether the last transfer succeeded. */
function Origin({ zone: { primary_nameservers: servers, status } }: { readonly zone: RrsetsZone }) {
  const from = servers.map(({ address }) => address).join(", ");
  if (status === "error") {
    const todo = "Allow transfers to this service there; the log of this service says what failed.";
    return <Problem error={new Error(`The zone could not be transferred from ${from}. ${todo}`)} />;
  }
  return (
    <p className="quiet">
      {status === "updating"
        ? `The zone is being transferred from ${from}.`
        : `Its records are transferred from ${from} and can only be changed there.`}
    </p>
  );
}

const NoZone = ({ name }: { readonly name: string }) => (
  <>
    <Title order={1}>Zone {nameToUnicode(name)} not found</Title>
    <p>
      It may have been deleted, or belong to another account. <Link href="/zones">Go to the zones</Link>
    </p>
  </>
);

import { Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, Redirect, useSearch } from "wouter";
import type { Overview } from "../../../src/contract/overview.ts";
import { counted } from "../../shared/counted.ts";
import { withKey } from "../../shared/keys/key-use.ts";
import { Problem } from "../../shared/live/problem.tsx";
import { Waiting } from "../../shared/live/waiting.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { ZoneList } from "../zones/zone-list.tsx";
import { AttentionList } from "./attention-list.tsx";
import { conditionOf, inOrder, isAboutName } from "./condition.ts";
import { ExamplesPart } from "./examples-part.tsx";
import { LatestChanges } from "./latest-changes.tsx";
import { NameCards } from "./name-cards.tsx";
import { NameList } from "./name-list.tsx";
import "./names.css";

/** From this many names on, rows take the place of cards. */
const many = 12;

/** The start page: every dynamic name, what needs attention, and recent changes. A newcomer sees the first steps. */
export function NamesPage() {
  const { request } = useSession();
  const search = useSearch();
  const overview = useQuery({
    queryKey: ["overview"],
    queryFn: () => request<Overview>("GET", "/console/overview"),
    staleTime: 0,
    // Changes of records are pushed; the state of an updater and the calls of devices are not.
    refetchInterval: ({ state: { data } }) => (data?.updater ? 3_000 : 15_000),
  });
  // For old links: the list of zones used to be the start page.
  if (search !== "") return <Redirect to={`/zones?${search}`} replace />;
  const { data } = overview;
  if (data?.zones === 0 && data.names.length === 0) return <ZoneList />;
  return (
    <Stack gap="xl" className="names">
      <Group justify="space-between">
        <Title order={1}>Names</Title>
        <Button component={Link} href="/dynamic" {...withKey("n")}>
          New name
        </Button>
      </Group>
      <Problem error={overview.error} retry={() => void overview.refetch()} />
      {overview.isPending && (
        <Waiting>
          <div className="name-cards">
            <Skeleton h={168} radius="md" />
            <Skeleton h={168} radius="md" />
          </div>
        </Waiting>
      )}
      {data && <Parts of={data} />}
    </Stack>
  );
}

function Parts({ of: { names, moreNames, attention, since, writes, examples } }: { readonly of: Overview }) {
  const shown = inOrder(names.map((name) => ({ name, condition: conditionOf(name, attention) })));
  // What is wrong with a name that is shown stands there.
  const listed = new Set(names.map(({ name }) => name));
  const others = attention.filter((each) => !(isAboutName(each) && listed.has(each.name)));
  const isFine = shown.every(({ condition: { tone } }) => tone !== "failing" && tone !== "silent");
  return (
    <>
      {names.length === 0 && <NoNames />}
      {names.length > 0 && (
        <section aria-label="Your names">
          {names.length < many ? <NameCards names={shown} since={since} /> : <NameList names={shown} since={since} />}
          {moreNames > 0 && (
            <p className="quiet small">{counted(moreNames, "more name")}, which changed longer ago, are not shown.</p>
          )}
        </section>
      )}
      <AttentionList attention={others} isFine={isFine} />
      <LatestChanges writes={writes} />
      <ExamplesPart examples={examples} />
    </>
  );
}

const NoNames = () => (
  <section className="no-names" aria-label="Your names">
    <Title order={2}>No name follows an address yet</Title>
    <Text>
      Each name gets its own token, and the page says what to enter in your FRITZ!Box, router, NAS or ddclient. It then
      waits with you for the first update.
    </Text>
    <Button component={Link} href="/dynamic">
      Choose a name
    </Button>
  </section>
);

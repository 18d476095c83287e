import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, Redirect, useSearch } from "wouter";
import type { MovingName, Overview } from "../../../src/contract/overview.ts";
import { counted } from "../../shared/counted.ts";
import { ListTable } from "../../shared/list-table.tsx";
import { Loading } from "../../shared/live/loading.tsx";
import { NameText } from "../../shared/name-text.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { When } from "../../shared/time/when.tsx";
import { dayAndTime } from "../../shared/time/words-of-time.ts";
import { WithCode } from "../../shared/with-code.tsx";
import { zoneAddress } from "../zones/zone-address.ts";
import { ZoneList } from "../zones/zone-list.tsx";
import { AttentionList } from "./attention-list.tsx";
import { byOtherClient } from "./client-words.ts";
import { ExamplesPart } from "./examples-part.tsx";
import { LatestWrites } from "./latest-writes.tsx";
import { useShownFirst } from "./shown-first.tsx";

/** The start page: dynamic names, recent changes, and what needs attention. A newcomer sees the first steps instead. */
export function OverviewPage() {
  const { request } = useSession();
  const search = useSearch();
  const overview = useQuery({
    queryKey: ["overview"],
    queryFn: () => request<Overview>("GET", "/console/overview"),
    staleTime: 0,
    // Changes of records are pushed; the state of an updater is not.
    refetchInterval: ({ state: { data } }) => (data?.updater ? 3_000 : 60_000),
  });
  // For old links: the list of zones used to be the start page.
  if (search !== "") return <Redirect to={`/zones?${search}`} replace />;
  const { data } = overview;
  if (data?.zones === 0) return <ZoneList />;
  return (
    <Stack gap="xl" className="overview">
      <Group justify="space-between">
        <Title order={1}>Overview</Title>
        {data && (
          <Group gap="md">
            <Text size="sm">
              <Link href="/zones" className="alone">
                {counted(data.zones, "zone")}
              </Link>
            </Text>
            <Button component={Link} href="/dynamic">
              New dynamic name
            </Button>
          </Group>
        )}
      </Group>
      <Loading of={overview} height={240} />
      {data && (
        <>
          <AttentionList attention={data.attention} />
          <MovingNames overview={data} />
          <LatestWrites writes={data.writes} />
          <ExamplesPart examples={data.examples} />
        </>
      )}
    </Stack>
  );
}

function MovingNames({ overview: { names, updater, since } }: { readonly overview: Overview }) {
  const [shown, more] = useShownFirst(names, 20);
  const state = updater ? "State" : "Address changes";
  return (
    <section aria-labelledby="moving">
      <Title order={2} id="moving" mb="xs">
        Dynamic names
      </Title>
      {names.length === 0 && <NoNames updater={updater} />}
      {names.length > 0 && (
        <ListTable className="list moving-names" heads={["Name", "Address", state, "Last change"]}>
          {shown.map((name) => (
            <tr key={`${name.name} ${name.type}`}>
              <td className="breaks">
                <NameLink name={name} /> <span className="quiet">{name.type}</span>
              </td>
              <td data-label="Address" className="mono">
                {name.values.join(", ") || "—"}
              </td>
              <td data-label={state}>
                <State name={name} updater={updater} />
              </td>
              <td data-label="Last change">
                <span>
                  {name.changed ? (
                    <>
                      <When at={name.changed.at} /> <span className="quiet">by {name.changed.by}</span>
                    </>
                  ) : (
                    "—"
                  )}
                </span>
              </td>
            </tr>
          ))}
        </ListTable>
      )}
      {more}
      {since !== null && (
        <p className="quiet" style={{ fontSize: "0.8125rem" }}>
          Based on changes since {dayAndTime(Date.parse(since))}.
        </p>
      )}
    </section>
  );
}

function NameLink({ name: { name, type, at, moves } }: { readonly name: MovingName }) {
  const shown = <NameText name={name} />;
  if (at === null) return shown;
  const record = `${zoneAddress(at.zone)}?${new URLSearchParams({ edit: `${at.owner}/${type}` })}`;
  return <Link href={moves > 0 ? zoneAddress(at.zone, "moving") : record}>{shown}</Link>;
}

function State(props: { readonly name: MovingName; readonly updater: boolean }) {
  const {
    name: { state, moves },
    updater,
  } = props;
  if (state === null) return updater ? byOtherClient(moves) : moves;
  if (state.paused) return <span className="quiet">paused</span>;
  if (state.ok) return <span className="good">up to date</span>;
  return (
    <span>
      <span className="bad">{state.what}</span>: <WithCode text={state.because} />
    </span>
  );
}

const NoNames = ({ updater }: { readonly updater: boolean }) =>
  updater ? (
    <Text>The updater has no names yet. Add one on its page.</Text>
  ) : (
    <Text>
      There is no dynamic name yet. <Link href="/dynamic">Set one up</Link> for your router, ddclient or moor. Names
      appear here with their first address change.
    </Text>
  );

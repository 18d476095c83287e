import { Button, Group, Select, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { WirePublication, WireSetState } from "../../../src/contract/front.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { counted } from "../../shared/counted.ts";
import { ListTable } from "../../shared/list-table.tsx";
import { Problem } from "../../shared/live/problem.tsx";
import { usePassingError } from "../../shared/live/use-passing-error.ts";
import { useSession } from "../../shared/session/session.tsx";
import { SureButton } from "../../shared/sure-button.tsx";
import { When } from "../../shared/time/when.tsx";
import { durationInWords } from "../../shared/time/words-of-time.ts";
import { setPath, zonePath } from "../api.ts";
import { ReplaceToken } from "./provider-list.tsx";
import { contentInWords, stateInWords } from "./publication-words.ts";
import { notPublished, useUnpublishedSets } from "./read-publication.ts";

type Props = { readonly zone: string; readonly publication: WirePublication };

/** The state of a published zone, and what can be decided about it. */
export function Published({ zone, publication }: Props) {
  const { service, counts, trouble, provider } = publication;
  const left = notPublished(publication);
  return (
    <>
      <Text>
        Published at <strong>{service}</strong> <span className="quiet">({provider})</span>:{" "}
        {left === 0 ? (
          <span className="good">all {counted(counts.published, "record set")}.</span>
        ) : (
          <span className="warn">{`${counts.published} of ${counted(counts.published + left, "record set")}.`}</span>
        )}
      </Text>
      {trouble && (
        <p className="note" role="alert" style={{ margin: 0 }}>
          Nothing can be sent since <When at={trouble.since} />: {trouble.text}. It is tried again automatically.
        </p>
      )}
      {left > 0 && <UnpublishedSets zone={zone} publication={publication} />}
      <Text size="sm" className="quiet">
        {publication.read_at === null ? (
          `Not read from ${service} yet since its token was replaced. `
        ) : (
          <>
            Last read from {service} <When at={publication.read_at} />.{" "}
          </>
        )}
        The nameservers (NS) and the SOA of the zone stay the provider’s.
      </Text>
      <PublicationSettings zone={zone} publication={publication} />
    </>
  );
}

function UnpublishedSets({ zone, publication }: Props) {
  const read = useUnpublishedSets(zone, publication);
  const decide = useDecision(zone);
  const sets = read.data ?? [];
  return (
    <>
      <Problem error={read.error} retry={() => void read.refetch()} />
      <ListTable heads={["Name", "State", "Here", `At ${publication.service}`]} actions>
        {sets.map((set) => (
          <tr key={`${set.name}/${set.type}`}>
            <td>
              <span className="mono">{nameToUnicode(set.name)}</span> {set.type}
            </td>
            <td data-label="State" className={set.state === "waiting" ? "quiet" : "warn"}>
              {/* One element: on a phone, the parts of a cell are columns. */}
              <span>
                {stateInWords(set, publication.service)}
                {set.since !== null && (
                  <span className="quiet">
                    , <When at={set.since} />
                  </span>
                )}
              </span>
            </td>
            <td data-label="Here" className="mono">
              {contentInWords(set.ours)}
            </td>
            <td data-label={`At ${publication.service}`} className="mono">
              {set.state === "drifted" ? contentInWords(set.theirs) : ""}
            </td>
            <td>
              <Decisions set={set} busy={decide.isPending} onDecide={(action) => decide.mutate({ set, action })} />
            </td>
          </tr>
        ))}
      </ListTable>
      <Problem error={decide.error} />
    </>
  );
}

type Decision = "take_theirs" | "put_ours_back" | "publish_again";

function Decisions(props: {
  readonly set: WireSetState;
  readonly busy: boolean;
  readonly onDecide: (decision: Decision) => void;
}) {
  const { state, name, type } = props.set;
  const button = (decision: Decision, label: string) => (
    <Button
      size="compact-sm"
      variant="default"
      loading={props.busy}
      aria-label={`${label}: ${nameToUnicode(name)} ${type}`}
      onClick={() => props.onDecide(decision)}
    >
      {label}
    </Button>
  );
  return (
    <Group gap="xs" wrap="nowrap">
      {state === "drifted" && button("take_theirs", "Take theirs")}
      {state === "drifted" && button("put_ours_back", "Put ours back")}
      {state === "refused" && button("publish_again", "Send again")}
    </Group>
  );
}

function useDecision(zone: string) {
  const { request } = useSession();
  const queries = useQueryClient();
  return usePassingError(
    useMutation({
      mutationFn: ({ set, action }: { readonly set: WireSetState; readonly action: Decision }) =>
        request("POST", `${setPath(zone, set.name, set.type)}/actions/${action}`, {}),
      onSuccess: () => queries.invalidateQueries({ queryKey: ["zone", zone, "publication"] }),
    }),
  );
}

const driftRules = [
  { value: "ask", label: "Show it here, and change nothing" },
  { value: "ours", label: "Put ours back" },
];

const usualIntervals = [
  { value: "60", label: "every minute" },
  { value: "900", label: "every 15 minutes" },
  { value: "3600", label: "every hour" },
  { value: "86400", label: "every day" },
  { value: "0", label: "never: changes there are not noticed" },
];

/** Another program may have set one that is not in the list. */
const readIntervals = (current: number) =>
  usualIntervals.some(({ value }) => value === String(current))
    ? usualIntervals
    : [{ value: String(current), label: `every ${durationInWords(current * 1_000)}` }, ...usualIntervals];

function PublicationSettings({ zone, publication }: Props) {
  const { request } = useSession();
  const queries = useQueryClient();
  const write = usePassingError(
    useMutation({
      mutationFn: ({ path, body }: { readonly path: string; readonly body: object }) => request("POST", path, body),
      onSuccess: () => queries.invalidateQueries({ queryKey: ["zone", zone, "publication"] }),
    }),
  );
  const act = (action: string, body: object) => write.mutate({ path: `${zonePath(zone)}/actions/${action}`, body });
  const [replaces, setReplaces] = useState(false);
  const { provider, service } = publication;
  return (
    <Stack gap="sm" mt="md">
      <Select
        label={`When somebody changes a record at ${publication.service}`}
        data={driftRules}
        value={publication.drift}
        allowDeselect={false}
        onChange={(drift) => drift && act("change_publication", { drift })}
        style={{ maxWidth: "24rem" }}
      />
      <Select
        label={`Read the zone at ${publication.service}`}
        data={readIntervals(publication.read_every)}
        value={String(publication.read_every)}
        allowDeselect={false}
        onChange={(seconds) => seconds && act("change_publication", { read_every: Number(seconds) })}
        style={{ maxWidth: "24rem" }}
      />
      <Group gap="xs">
        <Button variant="default" onClick={() => setReplaces(true)}>
          Replace the token…
        </Button>
        <SureButton
          ask="Stop publishing…"
          sure={`Stop publishing; ${publication.service} keeps its records`}
          loading={write.isPending}
          onSure={() => act("unpublish", {})}
        />
      </Group>
      <Problem error={write.error} />
      {replaces && <ReplaceToken provider={{ name: provider, service }} onClose={() => setReplaces(false)} />}
    </Stack>
  );
}

import { Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ChangeEvent } from "../../../src/contract/change-events.ts";
import type { Rrset } from "../../../src/contract/rrsets.ts";
import { Dialog } from "../../shared/dialog.tsx";
import { Problem } from "../../shared/live/problem.tsx";
import { Waiting } from "../../shared/live/waiting.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { useFocusWhen } from "../../shared/use-focus-when.ts";
import { readSet, setFromEvent } from "../api.ts";
import { contentOf, setInWords } from "../sets/set-content.ts";
import { changesOf, useSetWrite } from "../sets/write-set.ts";
import { Lines } from "./change-lines.tsx";

/** Restores one set as it was before a change, and nothing else of that write. Says first what that changes now. */
export function RestoreDialog(props: {
  readonly zone: string;
  readonly change: ChangeEvent;
  readonly onClose: () => void;
}) {
  const { zone, change, onClose } = props;
  const { request } = useSession();
  const write = useSetWrite(zone);
  const wanted = setFromEvent({ ...change, after: change.before });
  const now = useQuery({
    queryKey: ["restored-set", zone, change.id],
    queryFn: async () => ({ set: wanted && (await readSet(request, zone, wanted)) }),
    staleTime: 0,
    gcTime: 0,
  });
  const present = now.data?.set;
  const isSame = present !== undefined && wanted !== undefined && contentOf(present) === contentOf(wanted);
  const canRestore = now.data !== undefined && !isSame;
  const restore = useFocusWhen(canRestore);
  if (wanted === undefined) return null;
  return (
    <Dialog title={`Restore ${setInWords(wanted)}`} onClose={onClose} size="md">
      <Stack gap="sm">
        {now.isPending && <Waiting />}
        <Problem error={now.error} retry={() => void now.refetch()} />
        {now.data && (
          <Text size="sm" component="div">
            {isSame
              ? "It already has these values."
              : "Only this record set is changed, back to what it was before this write:"}
            <div>{!isSame && <Lines before={present ?? null} after={wanted} />}</div>
          </Text>
        )}
        <Problem error={write.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button
            ref={restore}
            disabled={!canRestore}
            loading={write.isPending}
            onClick={() =>
              write.mutate({
                ...changesOf(zone, [partOf(wanted)]),
                known: present ? [present] : [],
                said: `Restored ${setInWords(wanted)}.`,
                onDone: onClose,
              })
            }
          >
            Restore
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

const partOf = ({ name, type, ttl, labels, records }: Rrset) => ({ name, type, ttl, labels, records });

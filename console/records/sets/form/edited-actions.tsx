import { Group, Switch } from "@mantine/core";
import type { Rrset } from "../../../../src/contract/rrsets.ts";
import { SureButton } from "../../../shared/sure-button.tsx";
import { setPath } from "../../api.ts";
import { deletionOf, type useSetWrite } from "../write-set.ts";

/** Protects and deletes the set in the form. */
export function EditedActions(props: {
  readonly zone: string;
  readonly set: Rrset;
  readonly known: readonly Rrset[];
  readonly write: ReturnType<typeof useSetWrite>;
  readonly onClose: () => void;
}) {
  const { zone, set, known, write } = props;
  const locked = set.protection.change;
  return (
    <Group gap="sm">
      <Switch
        label="Protected"
        checked={locked}
        onChange={(event) =>
          write.mutate({
            path: `${setPath(zone, set.name, set.type)}/actions/change_protection`,
            body: { change: event.currentTarget.checked },
            touches: [set],
            known,
          })
        }
      />
      {set.type !== "SOA" && (
        <SureButton
          ask="Delete…"
          sure="Yes, delete it"
          disabled={locked || write.isPending}
          onSure={() => write.mutate({ ...deletionOf(zone, set), known, onDone: props.onClose })}
        />
      )}
    </Group>
  );
}

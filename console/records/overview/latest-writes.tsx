import { Stack, Text, Title } from "@mantine/core";
import { Link } from "wouter";
import type { ChangedPlace, LatestWrite } from "../../../src/contract/overview.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { counted } from "../../shared/counted.ts";
import { ListTable } from "../../shared/list-table.tsx";
import { NameText } from "../../shared/name-text.tsx";
import { When } from "../../shared/time/when.tsx";
import { zoneAddress } from "../zones/zone-address.ts";

/** Who changed what recently, in all zones. */
export function LatestWrites({ writes }: { readonly writes: readonly LatestWrite[] }) {
  return (
    <section aria-labelledby="latest">
      <Title order={2} id="latest" mb="xs">
        Latest changes
      </Title>
      {writes.length === 0 ? (
        <Text>No changes are recorded yet.</Text>
      ) : (
        <ListTable className="list latest-writes" heads={["Zone", "What", "When"]}>
          {writes.map(({ zone, serial, at, by, sets, more }) => (
            <tr key={`${zone} ${serial}`}>
              <td data-label="Zone" className="breaks">
                <Link href={zoneAddress(zone, "history")}>
                  <NameText name={zone} />
                </Link>
              </td>
              <td data-label="What">
                <Stack gap={2}>
                  {sets.map((set) => (
                    <Change key={`${set.owner}/${set.type}`} set={set} />
                  ))}
                  {more > 0 && <span className="quiet">and {counted(more, "more set")}</span>}
                </Stack>
              </td>
              <td data-label="When">
                <span>
                  <When at={at} /> <span className="quiet">by {by}</span>
                </span>
              </td>
            </tr>
          ))}
        </ListTable>
      )}
    </section>
  );
}

const verbs = { create: "added", replace: "changed", delete: "deleted", settings: "changed" } as const;

function Change({ set: { kind, owner, type, before, after, others } }: { readonly set: ChangedPlace }) {
  if (owner === null) return <span>zone settings changed</span>;
  // The SOA set is created and deleted with its zone.
  if (type === "SOA" && kind !== "replace") return <b>zone {kind === "create" ? "created" : "deleted"}</b>;
  const values = kind === "replace" && before.join() !== after.join() ? [before, after] : [after];
  return (
    <span className="breaks">
      <b>
        {nameToUnicode(owner)} {type}
      </b>{" "}
      {others.length > 0 && `${others.join(", ")} `}
      {verbs[kind]}{" "}
      {kind !== "delete" && others.length === 0 && (
        <span className="mono">{values.map((side) => side.join(", ")).join(" → ")}</span>
      )}
    </span>
  );
}

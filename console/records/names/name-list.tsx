import { TextInput } from "@mantine/core";
import { useState } from "react";
import { withKey } from "../../shared/keys/key-use.ts";
import { ListTable } from "../../shared/list-table.tsx";
import { matching, type NameInCondition } from "./condition.ts";
import { MonthLine } from "./month-line.tsx";
import { Addresses, NameLink, Reporter, ToneMark, TroubleOf } from "./name-parts.tsx";

type Props = { readonly names: readonly NameInCondition[]; readonly since: string | null };

/** Many names: the content of the cards in rows, with a filter. */
export function NameList({ names, since }: Props) {
  const [typed, setTyped] = useState("");
  const shown = matching(names, typed);
  return (
    <>
      <TextInput
        type="search"
        aria-label="Filter names"
        placeholder="Filter by name, address or device"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        {...withKey("/")}
        maw="24rem"
        mb="xs"
      />
      <ListTable className="list name-list" heads={["Name", "Address", "Reported by", "30 days"]}>
        {shown.map(({ name, condition }) => (
          <tr key={name.name} className={condition.tone}>
            <td className="breaks">
              <span className="name-title">
                <ToneMark tone={condition.tone} />
                <NameLink name={name} />
              </span>
            </td>
            <td data-label="Address">
              <Addresses of={name} />
            </td>
            <td data-label="Reported by">
              <div>
                <Reporter of={condition} />
                <TroubleOf condition={condition} />
              </div>
            </td>
            <td data-label="30 days">
              <MonthLine name={name} since={since} isBrief />
            </td>
          </tr>
        ))}
      </ListTable>
      <p className="quiet small" role="status">
        {typed.trim() === "" ? "" : `${shown.length} of ${names.length} names`}
      </p>
    </>
  );
}

import { Kbd, Menu } from "@mantine/core";
import type { Rrset } from "../../../../src/contract/rrsets.ts";
import { setInWords } from "../set-content.ts";

export type OpenMenu = { readonly set: Rrset; readonly button: HTMLElement };

/** One menu for all rows: rendering one in each would slow down scrolling. */
export function RowMenu(props: {
  readonly open: OpenMenu;
  readonly mayWrite: boolean;
  readonly onEdit: () => void;
  readonly onDuplicate: () => void;
  readonly onCopy: () => void;
  readonly onHistory: () => void;
  readonly onToken: () => void;
  readonly onDelete: () => void;
  readonly onClose: () => void;
}) {
  const { set, button } = props.open;
  const { right, bottom } = button.getBoundingClientRect();
  const isKept = !props.mayWrite || set.protection.change || set.type === "SOA";
  return (
    <Menu
      opened
      onClose={props.onClose}
      position="bottom-end"
      returnFocus={false}
      withinPortal={false}
      withInitialFocusPlaceholder={false}
      width="15rem"
      shadow="md"
    >
      <Menu.Target>
        <button
          type="button"
          tabIndex={-1}
          aria-hidden
          style={{ position: "fixed", left: right, top: bottom, width: 0, height: 0, padding: 0, border: 0 }}
        />
      </Menu.Target>
      <Menu.Dropdown aria-label={`Actions for ${setInWords(set)}`}>
        <Menu.Item onClick={props.onEdit} rightSection={hintOf("Enter")}>
          {props.mayWrite ? "Edit" : "Show"}
        </Menu.Item>
        <Menu.Item onClick={props.onDuplicate} disabled={!props.mayWrite || set.type === "SOA"}>
          Duplicate…
        </Menu.Item>
        <Menu.Item onClick={props.onCopy}>Copy {set.records.length === 1 ? "value" : "values"}</Menu.Item>
        <Menu.Item onClick={props.onHistory}>History</Menu.Item>
        <Menu.Item onClick={props.onToken}>New token for this name…</Menu.Item>
        <Menu.Item
          onClick={props.onDelete}
          disabled={isKept}
          rightSection={hintOf("Del")}
          style={isKept ? {} : { color: "var(--mantine-color-error)" }}
        >
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

const hintOf = (key: string) => (
  <Kbd aria-hidden className="key-hint">
    {key}
  </Kbd>
);

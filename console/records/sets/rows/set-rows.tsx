import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import type { Rrset, RrsetsZone } from "../../../../src/contract/rrsets.ts";
import { useKeys } from "../../../shared/keys/keys.tsx";
import { changed } from "../../../shared/search-part.ts";
import { zoneAddress } from "../../zones/zone-address.ts";
import { type SortBy, takenTogether } from "../order-sets.ts";
import type { RowAct } from "./row-act.ts";
import { type OpenMenu, RowMenu } from "./row-menu.tsx";
import { SetRow } from "./set-row.tsx";
import "./set-rows.css";
import { useInlineEdit } from "./use-inline-edit.ts";
import { useRowActions } from "./use-row-actions.ts";
import { useRowFocus } from "./use-row-focus.ts";

const columns: readonly { readonly by: SortBy; readonly name: string }[] = [
  { by: "name", name: "Name" },
  { by: "type", name: "Type" },
  { by: "ttl", name: "TTL" },
  { by: "value", name: "Value" },
];

type Props = {
  readonly rows: readonly Rrset[];
  /** Including those that are not shown. */
  readonly sets: readonly Rrset[];
  readonly zone: RrsetsZone;
  readonly by: SortBy;
  readonly descending: boolean;
  readonly narrow: boolean;
  readonly onSort: (by: SortBy) => void;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (ids: ReadonlySet<string>) => void;
};

/** Only the rows on the screen are rendered. */
export function SetRows(props: Props) {
  const { rows, zone, narrow, selected, onSelect } = props;
  const box = useRef<HTMLDivElement>(null);
  const [query] = useSearchParams();
  const { virtual, focus, inline, actions, menu, setMenu, act, onKeyDown } = useRows(props, box);
  const mayWrite = zone.mode !== "secondary";
  const items = virtual.getVirtualItems();
  const [first] = items;
  const isThere = items.some(({ index }) => index === focus.current);
  const current = isThere ? focus.current : (first?.index ?? 0);
  const taken = takenTogether(rows);
  const all = taken.length > 0 && taken.every(({ id }) => selected.has(id));
  return (
    <>
      <div className="sets" role="table" aria-label="Record sets" aria-rowcount={rows.length + 1} ref={box}>
        <Head
          {...props}
          isAll={all}
          isSome={!all && rows.some(({ id }) => selected.has(id))}
          onAll={() => onSelect(all ? without(selected, rows) : new Set([...selected, ...taken.map(({ id }) => id)]))}
        />
        <div
          role="rowgroup"
          className="set-rows"
          style={{ height: virtual.getTotalSize() }}
          onKeyDown={onKeyDown}
          onFocus={({ target }) => focus.onFocus(target)}
        >
          {items.map(({ index, size, start }) => {
            const set = rows[index];
            return (
              set && (
                <SetRow
                  key={set.id}
                  {...{ set, index, size, start, act }}
                  href={`${zoneAddress(zone.name)}?${changed(query, { add: null, like: null, edit: set.id })}`}
                  isSelected={selected.has(set.id)}
                  isCurrent={index === current}
                  mayEdit={mayWrite && !narrow && !set.protection.change && set.type !== "SOA"}
                  editing={inline.editing?.set.id === set.id ? inline.editing : undefined}
                />
              )
            );
          })}
        </div>
      </div>
      {menu && <OpenRowMenu menu={menu} mayWrite={mayWrite} actions={actions} onClose={() => setMenu(undefined)} />}
    </>
  );
}

/** What the rows do: scroll, move the focus, edit a value, open a menu, select. */
function useRows({ rows, sets, zone, narrow, selected, onSelect }: Props, box: RefObject<HTMLDivElement | null>) {
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => (narrow ? 58 : 34),
    overscan: 12,
    // The head stays above the rows, and moves them down: both ends of a row are that much lower than it knows.
    scrollPaddingStart: headHeight(narrow),
    scrollPaddingEnd: headHeight(narrow) + (narrow && selected.size > 0 ? selectionHeight : 0),
  });
  // Otherwise the rows overlap after a phone is turned: the heights depend on it.
  useEffect(() => virtual.measure(), [virtual, narrow]);
  const focus = useRowFocus(box, rows.length, (row) => virtual.scrollToIndex(row));
  const inline = useInlineEdit(zone, sets, ({ id }, place) => {
    const row = rows.findIndex((each) => each.id === id);
    if (row >= 0) focus.go(row, `value${place}`);
  });
  const [menu, setMenu] = useState<OpenMenu>();
  const actions = useRowActions(zone, sets, (row) => focus.go(row, "name"), rows);
  const [anchor, setAnchor] = useState(0);
  const act = useSteady((done: RowAct) => {
    if (done.kind === "edit") inline.begin(done.set, done.value);
    else if (done.kind === "type") inline.type(done.text);
    else if (done.kind === "save") inline.save();
    else if (done.kind === "leave") inline.leave();
    else if (done.kind === "menu") setMenu({ set: done.set, button: done.button });
    else if (done.kind === "select") {
      const picked = done.isRange
        ? takenTogether(rows.slice(Math.min(anchor, done.index), Math.max(anchor, done.index) + 1))
        : [];
      setAnchor(done.index);
      onSelect(withPicked(selected, done.set, picked));
    }
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLElement) || event.target.matches('input:not([type="checkbox"])')) return;
    const row = Number(event.target.closest("[data-row]")?.getAttribute("data-row") ?? Number.NaN);
    const set = rows[row];
    if (focus.onKey(event, Math.max(1, virtual.getVirtualItems().length - 26)) || set === undefined || event.repeat)
      return;
    if (event.key === "x") act({ kind: "select", set, index: row, isRange: false });
    else if (event.key === "Delete" && zone.mode !== "secondary") actions.remove(set);
  };
  useKeys(rowKeys);
  return { virtual, focus, inline, actions, menu, setMenu, act, onKeyDown };
}

const rowKeys = [
  { key: "↑ ↓", does: "Go to another record" },
  { key: "Enter", does: "Open the record; on a value: edit it there" },
  { key: "x", does: "Select the record" },
  { key: "Delete", does: "Delete the record" },
];

function OpenRowMenu(props: {
  readonly menu: OpenMenu;
  readonly mayWrite: boolean;
  readonly actions: ReturnType<typeof useRowActions>;
  readonly onClose: () => void;
}) {
  const { menu, mayWrite, actions } = props;
  return (
    <RowMenu
      open={menu}
      mayWrite={mayWrite}
      onEdit={() => actions.edit(menu.set)}
      onDuplicate={() => actions.duplicate(menu.set)}
      onCopy={() => void actions.copy(menu.set)}
      onHistory={() => actions.history(menu.set)}
      onToken={() => actions.token(menu.set)}
      onDelete={() => actions.remove(menu.set)}
      onClose={() => {
        props.onClose();
        menu.button.focus({ preventScroll: true });
      }}
    />
  );
}

/** Of its bar over the end of the list on a phone. */
const selectionHeight = 72;

/** It has two lines on a phone. */
const headHeight = (narrow: boolean): number => (narrow ? 61 : 33);

/** Rows that are picked together get the new state of the clicked one. */
function withPicked(selected: ReadonlySet<string>, { id }: Rrset, range: readonly Rrset[]): ReadonlySet<string> {
  const next = new Set(selected);
  const picked = [id, ...range.map((each) => each.id)];
  for (const each of picked) {
    if (selected.has(id)) next.delete(each);
    else next.add(each);
  }
  return next;
}

const without = (selected: ReadonlySet<string>, rows: readonly Rrset[]): ReadonlySet<string> =>
  selected.difference(new Set(rows.map(({ id }) => id)));

/** A function that stays the same object, so that rows need not be rendered again. */
function useSteady<T>(latest: (value: T) => void): (value: T) => void {
  const latestRef = useRef(latest);
  latestRef.current = latest;
  const [steady] = useState(() => (value: T) => latestRef.current(value));
  return steady;
}

function Head(props: Props & { readonly isAll: boolean; readonly isSome: boolean; readonly onAll: () => void }) {
  const { by, descending, isSome } = props;
  const pick = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (pick.current) pick.current.indeterminate = isSome;
  }, [isSome]);
  return (
    <div role="rowgroup" className="sets-head">
      <div role="row" className="set-row">
        <div role="columnheader" className="set-pick">
          <label>
            <input
              ref={pick}
              type="checkbox"
              checked={props.isAll}
              aria-label="Select all records shown"
              onChange={props.onAll}
            />
          </label>
        </div>
        {columns.map((column) => (
          <div
            key={column.by}
            role="columnheader"
            aria-sort={column.by !== by ? "none" : descending ? "descending" : "ascending"}
            className={`set-${column.by}`}
          >
            <button type="button" className="sort" onClick={() => props.onSort(column.by)}>
              {column.name}
              <span aria-hidden>{column.by !== by ? "" : descending ? " ↓" : " ↑"}</span>
            </button>
          </div>
        ))}
        <div role="columnheader" className="set-does">
          <span className="unseen">Actions</span>
        </div>
      </div>
    </div>
  );
}

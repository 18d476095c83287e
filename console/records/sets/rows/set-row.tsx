import { memo, use } from "react";
import { Link } from "wouter";
import type { Rrset } from "../../../../src/contract/rrsets.ts";
import { nameToUnicode } from "../../../../src/core/names/unicode.ts";
import { readableValue } from "../../../../src/core/rdata/rdata.ts";
import { typeName } from "../../../../src/core/rdata/table.ts";
import { SetStates } from "../../publication/read-publication.ts";
import { shownValue } from "../shown-value.ts";
import { useOf } from "../type-use.ts";
import { InlineValue } from "./inline-value.tsx";
import type { Editing, RowAct } from "./row-act.ts";

type Props = {
  readonly set: Rrset;
  readonly index: number;
  readonly start: number;
  readonly size: number;
  /** Of the form for this set. */
  readonly href: string;
  readonly isSelected: boolean;
  /** Tab reaches only one row; arrow keys move to the others. */
  readonly isCurrent: boolean;
  readonly mayEdit: boolean;
  readonly editing: Editing | undefined;
  readonly act: (act: RowAct) => void;
};

/** Rendered again only if something in it changes, so that scrolling stays smooth. */
export const SetRow = memo(function SetRow({ set, index, start, size, isSelected, isCurrent, ...props }: Props) {
  const name = nameToUnicode(set.name);
  const tabIndex = isCurrent ? 0 : -1;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      data-row={index}
      className={`set-row${isSelected ? " set-selected" : ""}${props.editing?.fault ? " set-faulty" : ""}`}
      style={{ minHeight: size, transform: `translateY(${start}px)` }}
    >
      <RowPick set={set} index={index} isSelected={isSelected} tabIndex={tabIndex} act={props.act} />
      <div role="cell" className="set-name">
        <Link
          href={props.href}
          aria-label={`${name} ${typeName(set.type)}`}
          className="set-link"
          data-part="name"
          tabIndex={tabIndex}
        >
          {name}
        </Link>
      </div>
      <div role="cell" className={`set-type use-${useOf(typeName(set.type))}`}>
        {typeName(set.type)}
      </div>
      <div role="cell" className="set-ttl quiet">
        {set.ttl ?? "default"}
      </div>
      <div role="cell" className="set-value">
        {set.records.map(({ value, comment }, i) => (
          <span key={value} className="set-one">
            <Value set={set} value={value} part={`value${i}`} tabIndex={tabIndex} {...props} />
            {comment && <bdi className="quiet"> {comment}</bdi>}
          </span>
        ))}
        <Marks set={set} />
      </div>
      <div role="cell" className="set-does">
        <button
          type="button"
          className="row-button"
          data-part="menu"
          tabIndex={tabIndex}
          aria-label={`Actions for ${name} ${typeName(set.type)}`}
          aria-haspopup="menu"
          onClick={({ currentTarget: button }) => props.act({ kind: "menu", set, button })}
        >
          <span aria-hidden>⋯</span>
        </button>
      </div>
    </div>
  );
});

function RowPick(props: Pick<Props, "set" | "index" | "isSelected" | "act"> & { readonly tabIndex: number }) {
  const { set, index, isSelected, tabIndex, act } = props;
  return (
    <div role="cell" className="set-pick">
      <label>
        <input
          type="checkbox"
          data-part="pick"
          tabIndex={tabIndex}
          checked={isSelected}
          aria-label={`Select ${nameToUnicode(set.name)} ${typeName(set.type)}`}
          onChange={({ nativeEvent }) => {
            const isRange = nativeEvent instanceof MouseEvent && nativeEvent.shiftKey;
            act({ kind: "select", set, index, isRange });
          }}
        />
      </label>
    </div>
  );
}

function Value(
  props: Pick<Props, "set" | "mayEdit" | "editing" | "act"> & {
    readonly value: string;
    readonly part: string;
    readonly tabIndex: number;
  },
) {
  const { set, value, editing, act } = props;
  if (editing?.value === value) return <InlineValue editing={editing} act={act} />;
  if (!props.mayEdit)
    return (
      <bdi dir="ltr" className="mono">
        {shownValue(readableValue(set.type, value))}
      </bdi>
    );
  return (
    <button
      type="button"
      className="mono value-button"
      data-part={props.part}
      tabIndex={props.tabIndex}
      title="Edit here"
      onClick={() => act({ kind: "edit", set, value })}
    >
      <bdi dir="ltr">{shownValue(readableValue(set.type, value))}</bdi>
    </button>
  );
}

function Marks({ set }: { readonly set: Rrset }) {
  const state = use(SetStates).get(`${set.name}/${set.type}`);
  const labels = Object.entries(set.labels).map(([key, value]) => (value === "" ? key : `${key}=${value}`));
  return (
    <>
      {labels.map((label) => (
        <span key={label} className="set-mark">
          {label}
        </span>
      ))}
      {set.protection.change && <span className="set-mark">protected</span>}
      {state && (
        <span className={`set-mark set-${state.state}`} title={state.because ?? undefined}>
          {stateMarks[state.state]}
        </span>
      )}
    </>
  );
}

/** What the provider of the zone does not hold as it is here. */
const stateMarks = {
  published: "published",
  waiting: "on the way to the provider",
  refused: "refused by the provider",
  drifted: "changed at the provider",
} as const;

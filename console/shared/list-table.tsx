import { Pagination } from "@mantine/core";
import type { ReactNode } from "react";

/** The text of a column's head, with a class if the column needs one. */
type Head = string | { readonly text: string; readonly className: string };

/** A table whose cells repeat the name of their column on narrow screens. */
export function ListTable(props: {
  readonly heads: readonly Head[];
  /** The last column has buttons. */
  readonly actions?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  const heads = props.heads.map((head) => (typeof head === "string" ? { text: head, className: undefined } : head));
  return (
    <table className={props.className ?? "list"}>
      <thead>
        <tr>
          {heads.map(({ text, className }) => (
            <th key={text} scope="col" className={className}>
              {text}
            </th>
          ))}
          {props.actions && <ActionHead />}
        </tr>
      </thead>
      <tbody>{props.children}</tbody>
    </table>
  );
}

/** The buttons below explain themselves; this head is for screen readers. */
const ActionHead = () => (
  <th scope="col" className="does">
    <span style={{ position: "absolute", left: "-999rem" }}>Action</span>
  </th>
);

/** The page that an address names; the first if it names none. */
export const readPage = (query: URLSearchParams): number =>
  Math.max(1, Number.parseInt(query.get("page") ?? "", 10) || 1);

/** Leads to the pages of a list; nothing if there is only one. */
export function Pages(props: {
  readonly last: number;
  readonly page: number;
  readonly onChange: (page: number) => void;
}) {
  if (props.last <= 1) return null;
  const turnTo = (page: number) => {
    props.onChange(page);
    window.scrollTo(0, 0);
  };
  return (
    <Pagination
      mt="md"
      total={props.last}
      value={props.page}
      onChange={turnTo}
      getControlProps={(control) => ({ "aria-label": `${control} page` })}
      getItemProps={(item) => ({ "aria-label": `page ${item}` })}
    />
  );
}

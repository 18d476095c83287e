import type { ReactNode } from "react";

/** `text`, or with the class of its column. */
type Head = string | { readonly text: string; readonly className: string };

/** A table whose cells carry their column's name for narrow screens. */
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

/** Over buttons that say themselves what they do: a head is there for who hears the table. */
const ActionHead = () => (
  <th scope="col" className="does">
    <span style={{ position: "absolute", left: "-999rem" }}>Action</span>
  </th>
);

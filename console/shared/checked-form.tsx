import { type ReactNode, useEffect, useRef, useState } from "react";

/**
 * A form that says what is wrong with it when it is sent: the focus is then on the first field that is wrong. Text in a
 * choice field that is not a choice (`data-leftover`) must be settled first: without it, the form would mean something
 * else than it shows.
 */
export function CheckedForm(props: {
  readonly isPending: boolean;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}) {
  const form = useRef<HTMLFormElement>(null);
  const [tries, setTries] = useState(0);
  const settled = props.isPending ? 0 : tries;
  useEffect(() => {
    if (settled > 0) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [settled]);
  return (
    <form
      noValidate
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        setTries(tries + 1);
        const left = event.currentTarget.querySelector<HTMLElement>("[data-leftover]");
        if (left) left.focus();
        else props.onSubmit();
      }}
    >
      {props.children}
    </form>
  );
}

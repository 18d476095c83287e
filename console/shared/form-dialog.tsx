import { Button, Group, Stack } from "@mantine/core";
import { type ReactNode, type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { Dialog } from "./dialog.tsx";
import { Problem } from "./live/problem.tsx";
import { useStay, useWayBack } from "./session/way-back.ts";

type Props = {
  readonly title: string;
  readonly size?: string;
  /** Everything that was typed and chosen. */
  readonly holds: unknown;
  readonly onClose: () => void;
  readonly onSubmit: () => void;
  /** The label of the submit button. */
  readonly submit: string;
  readonly cannot?: boolean;
  readonly sending: { readonly isPending: boolean; readonly error: Error | null };
  /** Further actions, next to the buttons. */
  readonly other?: ReactNode;
  readonly children: ReactNode;
};

/**
 * A dialog with a form; the submit button and Enter send it. Escape, a click outside and the browser's back button are
 * easily hit by accident: once the form was changed, the first attempt only warns, and the second closes it. Text in a
 * choice field that is not a choice (`data-leftover`) must be settled first: without it, the form would mean something
 * else than it shows.
 */
export function FormDialog(props: Props) {
  const { isPending, error } = props.sending;
  const content = JSON.stringify(props.holds);
  const [first] = useState(content);
  const [askedFor, setAskedFor] = useState(first);
  const asks = content !== first && content !== askedFor;
  const ask = useCallback(() => setAskedFor(content), [content]);
  const form = useRef<HTMLFormElement>(null);
  const [tries, setTries] = useState(0);
  useFocusOnFault(form, isPending ? 0 : tries);
  useWayBack(asks, ask);
  useStay(content !== first);
  return (
    <Dialog title={props.title} onClose={asks ? ask : props.onClose} {...(props.size && { size: props.size })}>
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
        <Stack gap="sm">
          {props.children}
          {content !== first && content === askedFor && (
            <p className="note" role="alert" style={{ margin: 0 }}>
              You have unsaved changes. Close again to discard them.
            </p>
          )}
          <Problem error={error} />
          <Buttons {...props} />
        </Stack>
      </form>
    </Dialog>
  );
}

/** After a try to send the form, the focus is on the first field that is wrong. */
function useFocusOnFault(form: RefObject<HTMLFormElement | null>, tries: number): void {
  useEffect(() => {
    if (tries > 0) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [form, tries]);
}

const Buttons = ({ other, onClose, sending, cannot = false, submit }: Props) => (
  <Group justify="space-between" gap="xs">
    {other ?? <span />}
    <Group gap="xs" ml="auto">
      <Button variant="default" onClick={onClose}>
        Cancel
      </Button>
      <Button type="submit" loading={sending.isPending} disabled={cannot}>
        {submit}
      </Button>
    </Group>
  </Group>
);

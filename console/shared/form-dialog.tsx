import { Button, Group, Stack } from "@mantine/core";
import { type ReactNode, useCallback, useState } from "react";
import { Dialog } from "./dialog.tsx";
import { Problem } from "./live/problem.tsx";
import { useStay, useWayBack } from "./session/way-back.ts";

/**
 * A dialog with a form; the submit button and Enter send it. Escape, a click outside and the browser's back button are
 * easily hit by accident: once the form was changed, the first attempt only warns, and the second closes it. Text in a
 * choice field that is not a choice (`data-leftover`) must be settled first: without it, the form would mean something
 * else than it shows.
 */
export function FormDialog(props: {
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
}) {
  const { isPending, error } = props.sending;
  const held = JSON.stringify(props.holds);
  const [first] = useState(held);
  const [askedFor, setAskedFor] = useState(first);
  const asks = held !== first && held !== askedFor;
  const ask = useCallback(() => setAskedFor(held), [held]);
  useWayBack(asks, ask);
  useStay(held !== first);
  return (
    <Dialog title={props.title} onClose={asks ? ask : props.onClose} {...(props.size && { size: props.size })}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          const left = event.currentTarget.querySelector<HTMLElement>("[data-leftover]");
          if (left) left.focus();
          else props.onSubmit();
        }}
      >
        <Stack gap="sm">
          {props.children}
          {held !== first && held === askedFor && (
            <p className="note" role="alert" style={{ margin: 0 }}>
              You have unsaved changes. Close again to discard them.
            </p>
          )}
          <Problem error={error} />
          <Group justify="space-between" gap="xs">
            {props.other ?? <span />}
            <Group gap="xs">
              <Button variant="default" onClick={props.onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={isPending} disabled={props.cannot ?? false}>
                {props.submit}
              </Button>
            </Group>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

import { Button, Group, Stack } from "@mantine/core";
import { type ReactNode, useCallback, useState } from "react";
import { Dialog } from "./dialog.tsx";
import { Problem } from "./live/problem.tsx";
import { useStay, useWayBack } from "./session/way-back.ts";

/**
 * A dialog to type into. Its one button sends what was typed, and so does Enter. Escape, a click beside it and the way back are
 * soon done by accident: once it holds something else than at first they only ask, and close it the second time.
 */
export function FormDialog(props: {
  readonly title: string;
  readonly size?: string;
  /** All that was typed and chosen. */
  readonly holds: unknown;
  readonly onClose: () => void;
  readonly onSubmit: () => void;
  /** What sending it does. */
  readonly submit: string;
  readonly cannot?: boolean;
  readonly sending: { readonly isPending: boolean; readonly error: Error | null };
  /** What else can be done, beside the buttons. */
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
          props.onSubmit();
        }}
      >
        <Stack gap="sm">
          {props.children}
          {held !== first && held === askedFor && (
            <p className="note" role="alert" style={{ margin: 0 }}>
              What you typed is not saved yet. Close it once more to leave it.
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

import { Button, Group, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { Dialog } from "./dialog.tsx";
import { Problem } from "./problem.tsx";

/** A dialog to type into. Its one button sends what was typed, and so does Enter. */
export function FormDialog(props: {
  readonly title: string;
  readonly size?: string;
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
  return (
    <Dialog title={props.title} onClose={props.onClose} {...(props.size && { size: props.size })}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          props.onSubmit();
        }}
      >
        <Stack gap="sm">
          {props.children}
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

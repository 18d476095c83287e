import { Button, Group, Stack } from "@mantine/core";
import { type ReactNode, useCallback, useState } from "react";
import { CheckedForm } from "./checked-form.tsx";
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
 * easily hit by accident: once the form was changed, the first attempt only warns, and the second closes it.
 */
export function FormDialog(props: Props) {
  const { isPending, error } = props.sending;
  const content = JSON.stringify(props.holds);
  const [first] = useState(content);
  const [askedFor, setAskedFor] = useState(first);
  const asks = content !== first && content !== askedFor;
  const ask = useCallback(() => setAskedFor(content), [content]);
  useWayBack(asks, ask);
  useStay(content !== first);
  return (
    <Dialog title={props.title} onClose={asks ? ask : props.onClose} {...(props.size && { size: props.size })}>
      <CheckedForm isPending={isPending} onSubmit={props.onSubmit}>
        <Stack gap="sm">
          {props.children}
          {content !== first && content === askedFor && (
            <p ref={showIt} className="note" role="alert" style={{ margin: 0 }}>
              You have unsaved changes. Close again to discard them.
            </p>
          )}
          <Problem error={error} />
          <Buttons {...props} />
        </Stack>
      </CheckedForm>
    </Dialog>
  );
}

/** The end of a long form can be out of view. */
const showIt = (warning: HTMLElement | null) => warning?.scrollIntoView({ block: "nearest" });

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

import { Button, Group, Stack } from "@mantine/core";
import { type ReactNode, useCallback, useState } from "react";
import { Dialog } from "./dialog.tsx";
import { SureButton } from "./sure-button.tsx";

/**
 * For a secret that is shown only once. The first focus must be on what copies it, and only the button below closes it:
 * if nothing was copied or downloaded, it asks first.
 */
export function SecretDialog(props: {
  readonly title: string;
  /** The button that closes it after `onKept` was called: "I have copied it". */
  readonly done: string;
  readonly onClose: () => void;
  readonly other?: ReactNode;
  readonly children: (onKept: () => void) => ReactNode;
}) {
  const [isKept, setKept] = useState(false);
  const onKept = useCallback(() => setKept(true), []);
  return (
    <Dialog title={props.title} onClose={props.onClose} size="xl" stays>
      <Stack gap="sm">
        {props.children(onKept)}
        <Group justify="space-between">
          {props.other ?? <span />}
          <Group ml="auto">
            {isKept ? (
              <Button onClick={props.onClose}>{props.done}</Button>
            ) : (
              <SureButton ask="Close…" sure="Yes, close without copying it" onSure={props.onClose} />
            )}
          </Group>
        </Group>
      </Stack>
    </Dialog>
  );
}

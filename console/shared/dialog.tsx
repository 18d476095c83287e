import { Modal } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { useStay, useWayBack } from "./session/way-back.ts";

/**
 * A dialog whose parts have the roles that screen readers look for. Escape and a click beside it close it, and who opened
 * it without a mouse goes on from there.
 */
export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly size?: string;
  /** For dialogs whose content is lost when they close by accident. */
  readonly stays?: boolean;
  readonly children: ReactNode;
}) {
  useFocusReturn();
  useWayBack(props.stays ?? false, nothing);
  useStay(props.stays ?? false);
  return (
    <Modal.Root
      opened
      onClose={props.onClose}
      size={props.size ?? "lg"}
      closeOnClickOutside={!props.stays}
      closeOnEscape={!props.stays}
    >
      <Modal.Overlay />
      <Modal.Content>
        {/* Not Modal.Header: a header element there counts as a second banner of the page. */}
        <div className="dialog-head">
          <Modal.Title component="h2" fw={600}>
            {props.title}
          </Modal.Title>
          <Modal.CloseButton aria-label="Close" />
        </div>
        <Modal.Body>{props.children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

const nothing = () => undefined;

/**
 * Mantine gives the focus back when a dialog is closed; ours are closed by being there no longer. Where what opened it has gone
 * too, such as the row of what was deleted, one goes on from the beginning of the content.
 */
function useFocusReturn(): void {
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      const isThere = opener instanceof HTMLElement && opener.isConnected && opener !== document.body;
      (isThere ? opener : document.getElementById("content"))?.focus({ preventScroll: true });
    },
    [opener],
  );
}

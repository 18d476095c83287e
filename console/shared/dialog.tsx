import { Modal } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { useStay, useWayBack } from "./session/way-back.ts";

/**
 * A dialog with the roles that screen readers expect. Escape or a click outside closes it, and the focus returns to the
 * element that opened it.
 */
export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly size?: string;
  /** For dialogs whose content would be lost if they were closed by accident: only their own buttons close them. */
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
        {/* Not Modal.Header: its header element would count as a second banner of the page. */}
        <div className="dialog-head">
          <Modal.Title component="h2" fw={600}>
            {props.title}
          </Modal.Title>
          {!props.stays && <Modal.CloseButton aria-label="Close" />}
        </div>
        <Modal.Body>{props.children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

const nothing = () => undefined;

/** What had the focus on the page when the first of several dialogs was opened, each of which replaced the last. */
let pageOpener: Element | null = null;

function openerNow(): Element | null {
  const now = document.activeElement;
  if (now !== document.body && now?.closest('[role="dialog"]') === null) pageOpener = now;
  return pageOpener;
}

/**
 * Mantine returns the focus when a dialog is closed, but ours are unmounted instead. If the element that opened the
 * dialog is gone too, the focus goes to the row that takes its place, otherwise to the beginning of the content.
 */
function useFocusReturn(): void {
  const [opener] = useState(openerNow);
  useEffect(
    () => () => {
      // The page may have grown above the element; the content as a whole is never out of view.
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
      else (rowInPlaceOf(opener) ?? document.getElementById("content"))?.focus({ preventScroll: true });
    },
    [opener],
  );
}

/** After the last row was deleted, the one above it. */
function rowInPlaceOf(gone: Element | null): HTMLElement | null {
  const row = gone?.closest("[data-row]")?.getAttribute("data-row");
  const linkOf = (at: number) => document.querySelector<HTMLElement>(`[data-row="${at}"] a`);
  return row == null ? null : (linkOf(Number(row)) ?? linkOf(Number(row) - 1));
}

import { Button, Group, Text } from "@mantine/core";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { Dialog } from "../../shared/dialog.tsx";
import { useHeldPage } from "../../shared/session/way-back.ts";

/** Where somebody wants to go; `undefined`: back. */
type Way = { readonly to: string | undefined };

/** Asks before a page is left that shows a secret which nobody has copied. */
export function HeldSecret({ isHeld, children }: { readonly isHeld: boolean; readonly children: ReactNode }) {
  const [, navigate] = useLocation();
  const [asked, setAsked] = useState<Way>();
  const [left, setLeft] = useState<Way>();
  const ask = useCallback((to: string | undefined) => setAsked({ to }), []);
  useHeldPage(isHeld && asked === undefined && left === undefined, ask);
  // Only now the page is no longer held.
  useEffect(() => {
    if (left === undefined) return;
    const to = left.to === undefined ? undefined : new URL(left.to);
    if (to === undefined) history.back();
    else if (to.origin === location.origin) navigate(to.pathname + to.search + to.hash);
    else location.assign(to);
  }, [left, navigate]);
  if (!isHeld || asked === undefined || left !== undefined) return null;
  return (
    <Dialog title="Leave without the token?" onClose={() => setAsked(undefined)} size="md">
      <Text size="sm" mb="md">
        {children}
      </Text>
      <Group justify="flex-end">
        <Button variant="subtle" color="red" onClick={() => setLeft(asked)}>
          Leave without copying it
        </Button>
        <Button onClick={() => setAsked(undefined)}>Stay</Button>
      </Group>
    </Dialog>
  );
}

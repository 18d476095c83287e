import { Button, type ButtonProps } from "@mantine/core";
import { useState } from "react";

/** For what cannot be taken back: the first click only asks. */
export function SureButton(props: {
  readonly ask: string;
  readonly sure: string;
  /** For screen readers, where the words alone do not say what is meant: "the key abc of mona". */
  readonly what?: string;
  readonly onSure: () => void;
  readonly disabled?: boolean;
  readonly loading?: boolean;
  readonly size?: ButtonProps["size"];
}) {
  const [asked, setAsked] = useState(false);
  const words = asked ? props.sure : props.ask;
  return (
    <Button
      variant={asked ? "filled" : "subtle"}
      color="red"
      disabled={props.disabled ?? false}
      loading={props.loading ?? false}
      size={props.size ?? "sm"}
      onClick={() => (asked ? props.onSure() : setAsked(true))}
      {...(props.what && { "aria-label": `${words.replace(/…$| it$/, "")} ${props.what}` })}
    >
      {words}
    </Button>
  );
}

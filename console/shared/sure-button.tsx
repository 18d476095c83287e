import { Button, type ButtonProps } from "@mantine/core";
import { useState } from "react";

/**
 * For what cannot be undone: the first click only asks. A double click or a key held down does not count as the answer.
 */
export function SureButton(props: {
  readonly ask: string;
  readonly sure: string;
  /** For screen readers, if the label alone is ambiguous: "the key abc of mona". */
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
      onClick={({ detail }) => {
        if (!asked) setAsked(true);
        else if (detail < 2) props.onSure();
      }}
      onKeyDown={(event) => event.repeat && event.key === "Enter" && event.preventDefault()}
      {...(props.what && {
        "aria-label": asked ? `${words}: ${props.what}` : `${words.replace(/…$/, "")} ${props.what}`,
      })}
    >
      {words}
    </Button>
  );
}

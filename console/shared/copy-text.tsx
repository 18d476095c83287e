import { Button } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { useEffect } from "react";

export function CopyText(props: {
  readonly text: string;
  readonly label: string;
  readonly block?: boolean;
  /** The button gets the focus when the dialog opens. */
  readonly isFirst?: boolean;
  readonly onCopied?: () => void;
}) {
  const { text, label, block, isFirst, onCopied } = props;
  const { copied, error, copy } = useClipboard({ timeout: 2_000 });
  useEffect(() => {
    if (copied) onCopied?.();
  }, [copied, onCopied]);
  return (
    <>
      <div className="to-copy">
        <pre
          className="mono"
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a long text scrolls, so it must be reachable without a mouse
          tabIndex={0}
          style={{ whiteSpace: block ? "pre" : "pre-wrap" }}
          onCopy={onCopied}
        >
          {text}
        </pre>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => copy(text)}
          aria-label={copied ? `${label}: copied` : `Copy ${label}`}
          data-autofocus={isFirst || undefined}
        >
          {copied ? "Copied" : "Copy"}
        </Button>
      </div>
      {error && (
        <p className="bad" role="alert" style={{ margin: 0 }}>
          The browser does not allow copying here. Select the text and copy it yourself.
        </p>
      )}
    </>
  );
}

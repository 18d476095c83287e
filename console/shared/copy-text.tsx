import { Button, CopyButton } from "@mantine/core";

export function CopyText({
  text,
  label,
  block,
}: {
  readonly text: string;
  readonly label: string;
  readonly block?: boolean;
}) {
  return (
    <div className="to-copy">
      <pre
        className="mono"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls, so it must be reachable without a mouse
        tabIndex={0}
        style={{ whiteSpace: block ? "pre" : "pre-wrap" }}
      >
        {text}
      </pre>
      <CopyButton value={text} timeout={2_000}>
        {({ copied, copy }) => (
          <Button
            size="compact-xs"
            variant="default"
            onClick={copy}
            aria-label={copied ? `${label}: copied` : `Copy ${label}`}
          >
            {copied ? "Copied" : "Copy"}
          </Button>
        )}
      </CopyButton>
    </div>
  );
}

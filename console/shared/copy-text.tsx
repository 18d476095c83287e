import { Button, CopyButton } from "@mantine/core";

/** A text that people take elsewhere, with the button that does it. */
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
    <div style={{ position: "relative" }}>
      <pre
        className="mono"
        // A long text scrolls, so it must be reachable without a mouse.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
        tabIndex={0}
        style={{
          margin: 0,
          padding: "0.5rem 5.5rem 0.5rem 0.625rem",
          overflowX: "auto",
          whiteSpace: block ? "pre" : "pre-wrap",
          background: "var(--mantine-color-default-hover)",
          borderRadius: "var(--mantine-radius-sm)",
          minHeight: "2.25rem",
        }}
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
            style={{ position: "absolute", top: "0.375rem", right: "0.375rem" }}
          >
            {copied ? "Copied" : "Copy"}
          </Button>
        )}
      </CopyButton>
    </div>
  );
}

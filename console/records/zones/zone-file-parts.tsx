import { Alert, Button, FileButton as MantineFileButton } from "@mantine/core";
import { useRef } from "react";
import { counted } from "../../shared/counted.ts";

const shown = 20;

/** The first faults of a file, each with its line. */
export function FaultList({ faults }: { readonly faults: readonly string[] }) {
  if (faults.length === 0) return null;
  return (
    <Alert
      color="red"
      variant="light"
      role="alert"
      title={`Nothing can be imported yet: ${counted(faults.length, "error")}`}
      styles={{ message: { color: "inherit" } }}
    >
      <ul style={{ margin: 0, paddingLeft: "1.25rem" }}>
        {faults.slice(0, shown).map((fault) => (
          <li key={fault}>{fault}</li>
        ))}
      </ul>
      {faults.length > shown && `and ${faults.length - shown} more`}
    </Alert>
  );
}

export function FileButton({ onText }: { readonly onText: (text: string) => void }) {
  // Without this, the browser fires no event when the same file is chosen again, for example after a correction.
  const forget = useRef<() => void>(null);
  const take = (file: File | null) => {
    void file?.text().then(onText);
    forget.current?.();
  };
  return (
    <div>
      <MantineFileButton onChange={take} resetRef={forget} inputProps={{ "aria-label": "Zone file to read" }}>
        {(props) => (
          <Button {...props} size="compact-sm" variant="default">
            Choose a file…
          </Button>
        )}
      </MantineFileButton>
    </div>
  );
}

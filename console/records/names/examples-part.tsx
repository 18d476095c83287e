import { Text } from "@mantine/core";
import type { Example } from "../../../src/contract/overview.ts";
import { CopyText } from "../../shared/copy-text.tsx";

/** Commands for those who try moor on one machine. */
export function ExamplesPart({ examples }: { readonly examples: readonly Example[] }) {
  if (examples.length === 0) return null;
  return (
    <details className="more examples">
      <summary>Commands to try in a terminal</summary>
      {examples.map(({ about, command }) => (
        <div key={command}>
          <Text size="sm" mt="xs">
            {about[0]?.toUpperCase()}
            {about.slice(1)}:
          </Text>
          <CopyText text={command} label={`the command: ${about}`} />
        </div>
      ))}
    </details>
  );
}

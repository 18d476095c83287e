import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";

/** The first items of a list, and a button that shows the rest. */
export function useShownFirst<T>(all: readonly T[], first: number): readonly [readonly T[], ReactNode] {
  const [isAll, setAll] = useState(false);
  if (isAll || all.length <= first) return [all, null];
  const more = (
    <Button mt="xs" variant="default" size="compact-sm" onClick={() => setAll(true)}>
      Show all {all.length}
    </Button>
  );
  return [all.slice(0, first), more];
}

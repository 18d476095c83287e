import { Skeleton } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { Problem } from "./problem.tsx";
import { Waiting } from "./waiting.tsx";

/** Shown above the result of a query: its error, or a placeholder of the given height while it loads. */
export function Loading({ of, height }: { readonly of: UseQueryResult; readonly height: number }) {
  return (
    <>
      <Problem error={of.error} retry={() => void of.refetch()} />
      {of.isPending && (
        <Waiting>
          <Skeleton h={height} />
        </Waiting>
      )}
    </>
  );
}

import { Skeleton } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { Problem } from "./problem.tsx";
import { Waiting } from "./waiting.tsx";

/** Stands above what a question brings: what went wrong with it, or the room that its answer will take. */
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

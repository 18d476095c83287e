import { type UseMutationResult, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

/** For writes whose error stays on the page: it disappears when any later write succeeds. */
export function usePassingError<T extends Pick<UseMutationResult, "isError" | "submittedAt" | "reset">>(write: T): T {
  const cache = useQueryClient().getMutationCache();
  const { isError, submittedAt, reset } = write;
  useEffect(() => {
    if (!isError) return;
    return cache.subscribe((event) => {
      if (event.type !== "updated" || event.action.type !== "success") return;
      if (event.mutation.state.submittedAt >= submittedAt) reset();
    });
  }, [cache, isError, submittedAt, reset]);
  return write;
}

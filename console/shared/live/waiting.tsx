import { Skeleton } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { ServiceGoneNote } from "./service-gone.tsx";

const patience = 10_000;

/** A placeholder while something loads; after a while it says what the reason may be. */
export function Waiting({ children = <Lines /> }: { readonly children?: ReactNode }) {
  return useLongWait(true) ? <ServiceGoneNote /> : children;
}

/** Where text will be. */
const Lines = () => (
  <div className="skeleton" role="status" aria-label="Loading">
    {["40%", "100%", "100%", "70%"].map((width, i) => (
      // oxlint-disable-next-line react/no-array-index-key -- they never change
      <Skeleton key={i} h={20} w={width} />
    ))}
  </div>
);

/** Whether the wait is too long. A hung service sends no error that could be shown. */
export function useLongWait(isWaiting: boolean): boolean {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setTimeout(() => setLong(true), patience);
    return () => {
      clearTimeout(timer);
      setLong(false);
    };
  }, [isWaiting]);
  return isLong;
}

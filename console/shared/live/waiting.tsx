import { Loader } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { ServiceGoneNote } from "./service-gone.tsx";

const patience = 10_000;

/** A placeholder while something loads; after a while it says what the reason may be. */
export function Waiting({ children = <Loader aria-label="Loading" /> }: { readonly children?: ReactNode }) {
  return useLongWait(true) ? <ServiceGoneNote /> : children;
}

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

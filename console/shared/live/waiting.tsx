import { Loader } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { ServiceGoneNote } from "./service-gone.tsx";

const patience = 10_000;

/** A placeholder for something that loads; after a while it says why that probably takes so long. */
export function Waiting({ children = <Loader aria-label="Loading" /> }: { readonly children?: ReactNode }) {
  return useLongWait(true) ? <ServiceGoneNote /> : children;
}

/** Whether the wait has gone on for too long. A hung service refuses nothing, so there is no error to show. */
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

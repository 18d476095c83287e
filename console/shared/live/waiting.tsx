import { Loader } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { ServiceGoneNote } from "./service-gone.tsx";

const patience = 10_000;

/** Stands where something comes; after a while it says what that most likely waits for. */
export function Waiting({ children = <Loader aria-label="Loading" /> }: { readonly children?: ReactNode }) {
  return useLongWait(true) ? <ServiceGoneNote /> : children;
}

/** Whether it has been waited for so long without a break that nobody believes in it any more. A hung service refuses nothing. */
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

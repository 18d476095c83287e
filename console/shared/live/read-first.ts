import { useEffect, useRef } from "react";
import { RequestProblem, signedOut } from "./request.ts";

/** For a read before a write: if it fails, or the form was closed in the meantime, nothing is sent. */
export function useReadFirst(): <T>(read: Promise<T>) => Promise<T> {
  const isOpen = useRef(false);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);
  return async (read) => {
    const found = await read.catch(unsent);
    if (!isOpen.current) throw new RequestProblem(409, "The form was closed before it was sent.");
    return found;
  };
}

function unsent(error: unknown): never {
  if (error instanceof RequestProblem && error.status === 401) throw new RequestProblem(401, signedOut("POST"));
  throw error;
}

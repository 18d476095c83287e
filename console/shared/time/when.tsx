import { useEffect, useState } from "react";
import { agoInWords, toSecond } from "./words-of-time.ts";

/** "3 minutes ago", and the exact time as a tooltip. */
export function When({ at }: { readonly at: string | number }) {
  const time = new Date(at).getTime();
  const now = useNow(15_000);
  return (
    <time dateTime={new Date(time).toISOString()} title={toSecond(time)} className="nowrap">
      {agoInWords(time, now)}
    </time>
  );
}

export function useNow(every: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

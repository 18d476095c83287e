import { type ComponentType, lazy, useEffect } from "react";
import { ServiceGoneNote } from "./service-gone.tsx";

/**
 * A part of the page that is fetched when it is first shown. If that fails, the service is down, or was upgraded while
 * the page was open and its files have new names: the page reloads when the service responds.
 */
export const lazyPart = <P,>(load: () => Promise<{ readonly default: ComponentType<P> }>) =>
  lazy(() => load().catch(() => ({ default: ReloadsWhenServed })));

const between = 1_000;
const patience = 10_000;

function ReloadsWhenServed() {
  useEffect(() => {
    let isAsked = false;
    const look = async () => {
      if (isAsked) return;
      isAsked = true;
      await reloadIfServed();
      isAsked = false;
    };
    const timer = setInterval(() => void look(), between);
    return () => clearInterval(timer);
  }, []);
  return <ServiceGoneNote />;
}

/** At most once per minute, so that a broken service cannot make the page reload forever. */
async function reloadIfServed(): Promise<void> {
  const served = await fetch(location.pathname, { signal: AbortSignal.timeout(patience) }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!served || Date.now() - Number(sessionStorage.getItem("reloaded") ?? 0) < 60_000) return;
  sessionStorage.setItem("reloaded", String(Date.now()));
  location.reload();
}

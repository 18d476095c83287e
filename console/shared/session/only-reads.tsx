import { useSession } from "./session.tsx";

/** On every page of somebody who may change nothing. */
export function OnlyReads() {
  const { session } = useSession();
  return session.readOnly && <p className="note">You may look at everything here, but change nothing.</p>;
}

import { Link, useLocation } from "wouter";
import { useSession } from "./session.tsx";

/** What users should know on every page: that they may only look, or that they have no password yet. */
export function NoPassword() {
  const { session } = useSession();
  const [location] = useLocation();
  if (session.readOnly) return <p className="note">You may look at everything here, but change nothing.</p>;
  if (session.canReturn || location === "/account") return null;
  return (
    <p className="note">
      You have no password yet. Without one, you need a new link from the terminal to sign in again.{" "}
      <Link href="/account">Set a password</Link>
    </p>
  );
}

import { Link, useLocation } from "wouter";
import { useSession } from "./session.tsx";

/** A reminder on every page but the one where it is set. */
export function NoPassword() {
  const { session } = useSession();
  const [location] = useLocation();
  if (session.hasPassword || location === "/account") return null;
  return (
    <p className="note">
      You have no password yet: the next way in would be a new link from the terminal.{" "}
      <Link href="/account">Set a password</Link>
    </p>
  );
}

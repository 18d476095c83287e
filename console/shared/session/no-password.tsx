import { Link, useLocation } from "wouter";
import { useSession } from "./session.tsx";

/** A reminder on every page except the one where the password is set. */
export function NoPassword() {
  const { session } = useSession();
  const [location] = useLocation();
  if (session.canReturn || location === "/account") return null;
  return (
    <p className="note">
      You have no password yet. Without one, you need a new link from the terminal to sign in again.{" "}
      <Link href="/account">Set a password</Link>
    </p>
  );
}

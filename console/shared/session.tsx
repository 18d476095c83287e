import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import type { ConsoleSession } from "../../src/contract/console.ts";
import { createRequest, type Request, RequestProblem } from "./request.ts";
import { ServiceGone } from "./service-gone.tsx";
import { SignIn } from "./sign-in.tsx";
import { useSignInLink } from "./sign-in-link.ts";

type Signed = { readonly session: ConsoleSession; readonly request: Request };

const SessionContext = createContext<Signed | undefined>(undefined);

/** Who is signed in, and the way to ask the service as that one. */
export function useSession(): Signed {
  const signed = useContext(SessionContext);
  if (signed === undefined) throw new Error("nobody is signed in here");
  return signed;
}

export type SignInWords = { readonly title: string; readonly nameLabel: string; readonly linkCommand: string };

/** Shows its children to whoever is signed in, and the sign-in page to everybody else; the address stays as it is. */
export function SessionGate({ words, children }: { readonly words: SignInWords; readonly children: ReactNode }) {
  const queries = useQueryClient();
  const link = useSignInLink();
  const found = useQuery({
    queryKey: ["session"],
    queryFn: readSession,
    staleTime: 60_000,
    refetchOnWindowFocus: true,
  });
  const session = found.data;
  const signed = useMemo((): Signed | undefined => {
    if (!session) return undefined;
    const onSignedOut = () => void queries.invalidateQueries({ queryKey: ["session"] });
    return { session, request: createRequest(session.csrf, onSignedOut) };
  }, [session, queries]);
  if (found.isPending) return found.failureCount > 0 ? <ServiceGone /> : null;
  if (signed === undefined || link.secret !== "") return <SignIn words={words} link={link} present={session?.name} />;
  return <SessionContext value={signed}>{children}</SessionContext>;
}

async function readSession(): Promise<ConsoleSession | null> {
  const ask = createRequest(undefined, () => undefined);
  try {
    return await ask<ConsoleSession>("GET", "/console/session");
  } catch (error) {
    if (error instanceof RequestProblem && error.status === 401) return null;
    throw error;
  }
}

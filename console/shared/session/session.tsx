import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Activity, createContext, type ReactNode, useContext, useMemo, useState } from "react";
import type { ConsoleSession } from "../../../src/contract/console.ts";
import { Problem } from "../live/problem.tsx";
import { createRequest, type Request, RequestProblem } from "../live/request.ts";
import { ServiceGone } from "../live/service-gone.tsx";
import { useLongWait } from "../live/waiting.tsx";
import { useProviderReturn } from "./provider-return.ts";
import { forgetTheRest, sessionKey } from "./session-cache.ts";
import { SignIn, type SignInWords } from "./sign-in.tsx";
import { useSignInLink } from "./sign-in-link.ts";

type Signed = { readonly session: ConsoleSession; readonly request: Request };

const SessionContext = createContext<Signed | undefined>(undefined);

/** The session, and a function that sends requests with it. */
export function useSession(): Signed {
  const signed = useContext(SessionContext);
  if (signed === undefined) throw new Error("useSession is called outside a session");
  return signed;
}

/**
 * Shows its children to users who are signed in, and the sign-in page to everybody else; the URL does not change. If a
 * session expires or is ended elsewhere, what was typed is kept, hidden, until the same user signs in again.
 */
export function SessionGate({ words, children }: { readonly words: SignInWords; readonly children: ReactNode }) {
  const queries = useQueryClient();
  const link = useSignInLink();
  const back = useProviderReturn();
  const [last, setLast] = useState<Signed>();
  const found = useQuery({
    queryKey: sessionKey,
    queryFn: async () => {
      const session = await readSession();
      if (session !== null && last !== undefined && session.name !== last.session.name) forgetTheRest(queries);
      return session;
    },
    staleTime: 60_000,
    refetchOnWindowFocus: "always",
  });
  const isHung = useLongWait(found.isPending);
  const session = found.data;
  const signed = useMemo((): Signed | undefined => {
    if (!session) return undefined;
    const onSignedOut = () => void queries.invalidateQueries({ queryKey: sessionKey });
    return { session, request: createRequest(session.csrf, onSignedOut) };
  }, [session, queries]);
  const isIn = signed !== undefined && link.secret === "" && back.query === "";
  const shown = isIn ? signed : last;
  if (isIn && last !== signed) setLast(signed);
  if (found.isPending && last !== undefined) setLast(undefined);
  if (found.isPending) return found.failureCount > 0 || isHung ? <ServiceGone /> : null;
  if (session === undefined) return <Unknown error={found.error} retry={() => void found.refetch()} />;
  return (
    <>
      {!isIn && <SignIn words={words} link={link} back={back} present={session?.name} kept={shown !== undefined} />}
      {shown && (
        <Activity mode={isIn ? "visible" : "hidden"}>
          <SessionContext key={shown.session.name} value={shown}>
            {children}
          </SessionContext>
        </Activity>
      )}
    </>
  );
}

const Unknown = ({ error, retry }: { readonly error: Error | null; readonly retry: () => void }) => (
  <main className="main">
    <Problem error={error} retry={retry} />
  </main>
);

async function readSession(): Promise<ConsoleSession | null> {
  const ask = createRequest(undefined, () => undefined);
  try {
    return await ask<ConsoleSession>("GET", "/console/session");
  } catch (error) {
    if (error instanceof RequestProblem && error.status === 401) return null;
    throw error;
  }
}

import type { ListenAddress } from "../http/listen.ts";
import { listenOn } from "../http/listen.ts";
import { closeServer, createPlainServer, type Handle } from "../http/page-server.ts";
import { AcmeFailure } from "./failure.ts";

const path = "/.well-known/acme-challenge/";

/** Answers the authority's HTTP-01 challenges (RFC 8555 section 8.3), and nothing else, until it is closed. */
export async function serveChallenges(
  at: ListenAddress,
  answers: ReadonlyMap<string, string>,
): Promise<() => Promise<void>> {
  const handle: Handle = (request, response) => {
    const { url = "", method } = request;
    const answer = method === "GET" && url.startsWith(path) ? answers.get(url.slice(path.length)) : undefined;
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "text/plain", connection: "close" });
    response.end(answer ?? "");
  };
  const server = createPlainServer({ handle, most: 100 });
  try {
    await listenOn(server, at, "--acme-http");
  } catch (error) {
    const { message } = error as Error;
    throw new AcmeFailure(
      "unavailable",
      `${message}; the authority connects to port 80, so forward port 80 to the address in --acme-http`,
      {
        cause: error,
      },
    );
  }
  return () => closeServer(server);
}

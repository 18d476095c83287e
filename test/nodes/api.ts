import { Agent, request } from "undici";

/** One answer of a node; status 0 if there was none. */
export type Answer = { readonly status: number; readonly body: unknown };

/** The two APIs of the record service, at any node. */
export type Api = {
  readonly call: (node: { readonly url: string }, method: string, path: string, body?: unknown) => Promise<Answer>;
  readonly close: () => Promise<void>;
};

/** Longer than a node retries while its database is down, so that the outcome of most calls is known. */
const patience = 15_000;

export function openApi(token: string): Api {
  const agent = new Agent({ connections: 32, pipelining: 1, keepAliveTimeout: 1_000 });
  return {
    call: async ({ url }, method, path, body) => {
      const headers = path.startsWith("/api/") ? { "auth-api-token": token } : { authorization: `Bearer ${token}` };
      try {
        const answer = await request(`${url}${path}`, {
          method: method as "GET",
          headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
          body: body === undefined ? null : JSON.stringify(body),
          dispatcher: agent,
          signal: AbortSignal.timeout(patience),
        });
        const text = await answer.body.text();
        return { status: answer.statusCode, body: text === "" ? undefined : JSON.parse(text) };
      } catch {
        return { status: 0, body: undefined };
      }
    },
    close: () => agent.destroy(),
  };
}

/** Why a request was not done; `message` is for people. `status` is 0 when the service did not answer at all. */
export class RequestProblem extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, message: string, code = "") {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Nobody answers, or only what stands in front of the service or knows that it cannot work now: it may be back soon. */
export const isAway = (error: Error): boolean => error instanceof RequestProblem && awayStatus.includes(error.status);

const awayStatus: readonly number[] = [0, 502, 503, 504];

export type Method = "GET" | "POST" | "PUT" | "DELETE";
export type Request = <T>(method: Method, path: string, body?: unknown) => Promise<T>;

const longest = 30_000;

/** `csrf` proves to the service that its own page asks; `onSignedOut` hears when the session has ended, or is another one. */
export function createRequest(csrf: string | undefined, onSignedOut: () => void): Request {
  return async <T>(method: Method, path: string, body?: unknown): Promise<T> => {
    const response = await send(method, path, csrf, body);
    const silent = noAnswer(method, csrf !== undefined);
    if (response.ok && response.status === 204) return undefined as T;
    if (response.ok) return (await response.json().catch(cutOff(silent))) as T;
    const problem = await problemOf(response, silent);
    if (csrf === undefined || (problem.status !== 401 && problem.code !== "forged")) throw problem;
    onSignedOut();
    throw new RequestProblem(problem.status, signedOut(method), problem.code);
  };
}

async function send(method: Method, path: string, csrf: string | undefined, body: unknown): Promise<Response> {
  try {
    return await fetch(path, {
      method,
      credentials: "same-origin",
      signal: AbortSignal.timeout(longest),
      headers: {
        accept: "application/json",
        ...(csrf !== undefined && { "x-csrf-token": csrf }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch (error) {
    throw new RequestProblem(0, noAnswer(method, csrf !== undefined), String(error));
  }
}

/** The connection was lost within the answer, or it was somebody else's: a proxy's, or that of a network one has to sign in to. */
const cutOff = (silent: string) => (error: unknown) => {
  throw new RequestProblem(0, silent, String(error));
};

/** Nobody knows whether a write was done: only its answer may have been lost. */
export function noAnswer(method: Method, signedIn: boolean): string {
  if (method === "GET" || !signedIn) return "The service does not answer. It may be restarting; try again in a moment.";
  return "The service does not answer: your change may not have been saved. Look before you try again.";
}

export const signedOut = (method: Method): string =>
  method === "GET"
    ? "You were signed out."
    : "You were signed out meanwhile, and nothing was saved: send it once more.";

type ErrorBody = {
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly details?: { readonly fields?: readonly { readonly messages?: readonly string[] }[] } | null;
  };
  readonly message?: string;
};

/** With what the service advises, which stands only in the details; `silent` where something else answers in its place. */
export async function problemOf(response: Response, silent: string): Promise<RequestProblem> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody;
  const bare = awayStatus.includes(response.status) ? silent : `The service answered ${response.status}.`;
  const message = body.error?.message ?? body.message ?? bare;
  const advice = (body.error?.details?.fields ?? [])
    .flatMap(({ messages = [] }) => messages)
    .filter((each) => !message.includes(each));
  return new RequestProblem(response.status, [message, ...new Set(advice)].join("; "), body.error?.code);
}

/** Why a request failed; `message` is shown to users. `status` is 0 if the service did not respond. */
export class RequestProblem extends Error {
  readonly status: number;
  readonly code: string;
  /** Each place in the request that has a fault, with what is wrong there. */
  readonly faults: readonly string[];

  constructor(status: number, message: string, code = "", faults: readonly string[] = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.faults = faults;
  }
}

/**
 * There was no response, a proxy responded instead of the service, or the service said that it is unavailable: it may
 * be back soon.
 */
export const isAway = (error: Error): boolean => error instanceof RequestProblem && awayStatus.includes(error.status);

const awayStatus: readonly number[] = [0, 502, 503, 504];

export type Method = "GET" | "POST" | "PUT" | "DELETE";
export type Request = <T>(method: Method, path: string, body?: unknown) => Promise<T>;

const longest = 30_000;

/** The record-set API answers this with 401, as the original does, though the session goes on. */
const onlyReads = "token_readonly";

/**
 * `csrf` proves that the request comes from the service's own page; `onSignedOut` is called when the session was ended
 * or replaced.
 */
export function createRequest(csrf: string | undefined, onSignedOut: () => void): Request {
  return async <T>(method: Method, path: string, body?: unknown): Promise<T> => {
    const response = await send(method, path, csrf, body);
    const silent = noAnswer(method, csrf !== undefined);
    if (response.ok && response.status === 204) return undefined as T;
    if (response.ok) return (await response.json().catch(cutOff(silent))) as T;
    const problem = await problemOf(response, silent);
    if (problem.code === onlyReads)
      throw new RequestProblem(403, "You may look at everything here, but change nothing.");
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

/**
 * The connection was lost during the response, or the response came from something else: a proxy or a captive portal.
 */
const cutOff = (silent: string) => (error: unknown) => {
  throw new RequestProblem(0, silent, String(error));
};

/** A write may have succeeded anyway: perhaps only its response was lost. */
export function noAnswer(method: Method, signedIn: boolean): string {
  if (method === "GET" || !signedIn)
    return "The service is not responding. It may be restarting; try again in a moment.";
  return "The service is not responding. Your change may not have been saved; check before you try again.";
}

export const signedOut = (method: Method): string =>
  method === "GET" ? "You were signed out." : "You were signed out before this was saved. Send it again.";

type Field = { readonly name: string; readonly messages?: readonly string[] };

type ErrorBody = {
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly details?: { readonly fields?: readonly Field[] } | null;
  };
  readonly message?: string;
};

/**
 * Includes the service's advice, which is only in the details. `silent` is the message if something else responded in
 * its place.
 */
export async function problemOf(response: Response, silent: string): Promise<RequestProblem> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody;
  const bare = awayStatus.includes(response.status) ? silent : `The service responded with status ${response.status}.`;
  const message = body.error?.message ?? body.message ?? bare;
  const fields = body.error?.details?.fields ?? [];
  const faults = fields.flatMap(({ name, messages = [] }) =>
    messages.length > 0 ? [`${name}: ${messages.join("; ")}`] : [],
  );
  const advice = fields.flatMap(({ messages = [] }) => messages).filter((each) => !message.includes(each));
  return new RequestProblem(response.status, [message, ...new Set(advice)].join("; "), body.error?.code, faults);
}

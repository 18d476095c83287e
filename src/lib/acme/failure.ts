import { printable } from "../../core/visible-text.ts";

/**
 * Why there is no certificate, with a message for users. `refused`: the authority refused, and retrying soon would
 * count against its limits. `unavailable`: it could not be reached, or it failed itself.
 */
export class AcmeFailure extends Error {
  override readonly name = "AcmeFailure";
  readonly kind: "refused" | "unavailable";
  /** Milliseconds to wait, from the authority's Retry-After. */
  readonly retryAfter: number | undefined;
  /** The last part of the type of the authority's problem document, such as `badNonce`. */
  readonly problem: string | undefined;

  constructor(
    kind: AcmeFailure["kind"],
    message: string,
    more: { readonly retryAfter?: number | undefined; readonly problem?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.kind = kind;
    this.retryAfter = more.retryAfter;
    this.problem = more.problem;
  }
}

/** RFC 7807, as RFC 8555 section 6.7 uses it. */
export type Problem = {
  readonly type?: string;
  readonly detail?: string;
  readonly subproblems?: readonly (Problem & { readonly identifier?: { readonly value?: string } })[];
};

/** `malformed` if the type is not an ACME error type. */
export const problemKind = ({ type = "" }: Problem): string =>
  /^urn:ietf:params:acme:error:(\w+)$/.exec(type)?.[1] ?? "malformed";

/** What the authority says, and what to do about it. */
export function describeProblem(problem: Problem): string {
  const kind = problemKind(problem);
  const parts = (problem.subproblems ?? []).map(
    ({ identifier, detail = "" }) => `${identifier?.value ?? "a name"}: ${detail}`,
  );
  const reason = printable([problem.detail ?? kind, ...parts].join("; ").slice(0, longest));
  const todo = todos[kind];
  return todo === undefined ? reason : `${reason}; ${todo}`;
}

const longest = 1_000;

const reach =
  "check that public DNS delegates the zone to this service (DNS-01), or that port 80 of the name reaches it (HTTP-01)";

const todos: Readonly<Record<string, string>> = {
  caa: "a CAA record of the domain forbids this authority: change the record, or choose another authority with --acme-directory",
  connection: reach,
  dns: reach,
  unauthorized: reach,
  incorrectResponse: reach,
  externalAccountRequired:
    "moor does not support external account binding: choose another authority with --acme-directory",
  invalidContact: "correct the mail address in --acme",
  unsupportedContact: "correct the mail address in --acme",
  rejectedIdentifier: "this authority does not issue certificates for that name: correct --name",
  unsupportedIdentifier: "this authority does not issue certificates for that name: correct --name",
  userActionRequired: "the authority requires an action from you: follow the link in its message",
};

import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { longestKey } from "../../../contract/rrsets-limits.ts";
import type { MaybeLater } from "../../../core/maybe-later.ts";
import { zoneNameOf } from "../../../core/names/name.ts";
import { badInput, type Fault, fail, ok, type Result } from "../../../core/result.ts";
import type { IdempotencyOption, SetTarget } from "../../commands/requests.ts";
import type { Action, ZoneKey } from "../../model.ts";
import type { ObfuscatedIds } from "../../queries/obfuscated-ids.ts";
import { type Actor, type NotDone, refused } from "../../queries/permitted-view.ts";
import { sendRefused } from "../shared/refused-requests.ts";
import { answerTo, type ErrorAnswer } from "./errors.ts";
import { type BodyFields, readBody } from "./input.ts";
import { linkHeader, type Paging, paginationToWire } from "./paging.ts";
import { actionToWire } from "./wire.ts";

declare module "fastify" {
  interface FastifyInstance {
    shownIdsFor: (actor: Actor) => MaybeLater<ObfuscatedIds>;
  }
}

/** Turns requests of the record-set API into calls of the service, and outcomes into answers. */

type DoneOf<Outcome> = Extract<Outcome, { readonly kind: "done" }>;
type Done = { readonly kind: "done"; readonly action: Action | undefined };

export type ReadBodyFields<Draft> = (fields: BodyFields, faults: Fault[]) => Draft;
export const readNothing: ReadBodyFields<undefined> = () => undefined;

/**
 * Reads the body, carries it out, and answers with the action and what `answerOf` adds. The object is returned for
 * Fastify to send: a reply is a thenable, which would be waited for.
 */
export async function act<Draft, Outcome extends Done | NotDone>(
  request: FastifyRequest,
  reply: FastifyReply,
  call: {
    readonly read: ReadBodyFields<Draft>;
    readonly run: (draft: Draft, idempotency: IdempotencyOption) => Promise<Outcome>;
    readonly answerOf?: (done: DoneOf<NoInfer<Outcome>>) => MaybeLater<Readonly<Record<string, unknown>>>;
    readonly status?: (done: DoneOf<NoInfer<Outcome>>) => number;
    /** For a refusal that the usual messages do not fit. */
    readonly refusal?: (notDone: NotDone) => ErrorAnswer;
  },
): Promise<object> {
  const { refusal = answerTo, status = () => 201, answerOf } = call;
  const draft = readBody(request.body, call.read);
  if (!draft.ok) return sendFaults(reply, draft.faults);
  const idempotency = idempotencyAt(request);
  if (!idempotency.ok) return sendFaults(reply, idempotency.faults);
  const outcome = await call.run(draft.value, idempotency.value);
  if (!isDone(outcome)) return sendError(reply, refusal(outcome as NotDone));
  const shownIds = await request.server.shownIdsFor(request.actor);
  const answer = answerOf && (await answerOf(outcome));
  const action = outcome.action && { action: actionToWire(outcome.action, shownIds) };
  reply.code(status(outcome));
  return { ...answer, ...action };
}

const isDone = <Outcome extends Done | NotDone>(outcome: Outcome): outcome is DoneOf<Outcome> & Done =>
  outcome.kind === "done";

export const sendError = (reply: FastifyReply, { status, body }: ErrorAnswer): FastifyReply =>
  status === 422 ? sendRefused(reply, body) : reply.code(status).send(body);

export const sendFaults = (reply: FastifyReply, faults: readonly Fault[]): FastifyReply =>
  sendError(reply, answerTo(refused(faults)));

/** Sends one page of a list. */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  list: Readonly<Record<string, readonly unknown[]>>,
  paging: Paging,
  total: number,
): FastifyReply {
  const pagination = paginationToWire(paging, total);
  // A path starting with two slashes would refer to another host.
  const path = (request.url.split("?")[0] ?? "").replaceAll(/\/{2,}/g, "/");
  // A host that is not valid in a URL is omitted; the path alone is a valid reference too.
  const origin = /^[\w.:[\]-]+$/.test(request.host) ? `${request.protocol}://${request.host}` : "";
  return reply.header("link", linkHeader(`${origin}${path}`, pagination)).send({ ...list, meta: { pagination } });
}

/** Only POSTs take an idempotency key; the other methods are idempotent anyway. */
function idempotencyAt(request: FastifyRequest): Result<IdempotencyOption> {
  const key = request.method === "POST" ? request.headers["idempotency-key"] : undefined;
  if (key === undefined) return ok({});
  if (typeof key !== "string" || key === "" || key.length > longestKey) {
    return fail(badInput("Idempotency-Key", `must have 1 to ${longestKey} characters`));
  }
  const sent = `${request.method} ${request.url}\n${JSON.stringify(request.body) ?? ""}`;
  return ok({ idempotencyKey: { key, fingerprint: hash("sha256", sent, "base64url") } });
}

type Params = { readonly z: string; readonly n?: string; readonly t?: string };

/** A number is a zone's id; no zone has a name of digits alone. */
export function zoneAt(request: FastifyRequest): ZoneKey {
  const { z } = request.params as Params;
  return /^\d{1,15}$/.test(z) ? { number: Number(z) } : { name: zoneNameOf(z) };
}

export function setAt(request: FastifyRequest): SetTarget {
  const { n = "", t = "" } = request.params as Params;
  return { zone: zoneAt(request), name: n, type: t };
}

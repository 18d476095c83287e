import { absoluteName } from "../../../core/names/name.ts";
import { printable } from "../../../core/visible-text.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import { type ApiDialect, cannotList, isWebAnswer, later } from "../../../providers/answers/service-answer.ts";
import { readWritten } from "../../../providers/answers/write-answer.ts";
import { readingByDns } from "../ask-dns.ts";
import { confirmDns } from "../confirm-dns.ts";
import type { RecordTarget, ReplaceRequest, TargetFault } from "../target.ts";
import { type HttpCall, type RefusalMatch, requestFor } from "./call.ts";
import { type Match, matches, type SeenAnswer } from "./match.ts";
import { type Values, valuesOf } from "./template.ts";

/** One request per name and family; the call says what its answers mean. Reading is a DNS query. */
export function createHttpTarget(call: HttpCall, client: HttpClient, now: () => number = Date.now): RecordTarget {
  return {
    takesBoth: call.together,
    async replace(request, signal) {
      const outcome = await client.send(requestFor(call, request), signal);
      const values = valuesOf(request, call.together);
      const isForeign = outcome.kind === "answer" && call.plain && isWebAnswer(outcome);
      const written = readWritten(outcome, successes, now(), dialectOf(call, values, isForeign));
      if (written.kind === "unknown") return { kind: "unknown", fault: written.fault };
      if (written.kind === "refused") return { kind: "refused", fault: faultOf(call, request, written.because) };
      const answer = { status: outcome.kind === "answer" ? outcome.status : 0, body: String(written.value.text) };
      const isOne = (list: readonly Match[]) => !isForeign && list.some((match) => matches(match, answer, values));
      const already = isOne(call.unchanged);
      if (!already && !isOne(call.done)) return { kind: "unknown", fault: unclear(call.service, answer) };
      const stored = call.readBack ? await readBack(call, request, signal) : undefined;
      if (stored) return { kind: "unknown", fault: stored };
      return { kind: "done", recordId: String(values.name), ttl: null, ...(already && { already }) };
    },
    ...readingByDns(call.dns, cannotList(call.service, `see the web pages of ${call.service}`)),
    close: () => client.close(),
  };
}

const successes = Array.from({ length: 100 }, (_, i) => 200 + i);

/** Milliseconds that the zone's nameservers may take to serve the new address. */
const longestReadBack = 45_000;

/** All addresses that were sent. */
async function readBack({ dns, service, together }: HttpCall, request: ReplaceRequest, signal: AbortSignal) {
  const { zone, name, family, value, otherAddress } = request;
  const other = family === "ipv4" ? ("ipv6" as const) : ("ipv4" as const);
  const sent = [{ family, value }, ...(together && otherAddress ? [{ family: other, value: otherAddress }] : [])];
  const question = { zone, name: absoluteName(name, zone), servers: dns };
  const confirmations = await Promise.all(
    sent.map((each) => confirmDns({ ...question, ...each }, signal, { limit: longestReadBack })),
  );
  const confirmation = confirmations.find(({ kind }) => kind !== "confirmed");
  if (confirmation === undefined || confirmation.kind === "confirmed") return undefined;
  const because = `${service} reported success, but DNS does not show it: ${confirmation.because}`;
  return { ...later(because, confirmation.todo), afterWrite: true };
}

/** Only a refusal that the call describes means that nothing was stored. */
function dialectOf({ service, refused }: HttpCall, values: Values, isForeign: boolean): ApiDialect {
  return {
    service,
    renew:
      "correct the credentials of the target, or `name:` and `zone:`: some services answer the same for a name of another account",
    parse: (text) => ({ text }),
    errorIn(status, body) {
      const text = typeof body?.text === "string" ? body.text : "";
      const isIt = (each: RefusalMatch) => matches(each, { status, body: text }, values, () => true);
      const refusal = isForeign ? undefined : refused.find(isIt);
      if (!refusal) return { status, code: "", message: "" };
      const inside = statusOf(refusal, status);
      return { status: inside, code: "", message: explanationIn(text), outside: status, isMeaning: true };
    },
  };
}

/**
 * The status that stands for what the refusal is about. The service's own one counts, unless it is a success or the
 * refusal names it. Above 499, the request may have been carried out.
 */
function statusOf({ means, status: named }: RefusalMatch, status: number): number {
  if (status >= 500 || (status >= 400 && named === undefined)) return status;
  if (means === "credentials") return status === 403 ? 403 : 401;
  if (means === "name") return 404;
  if (means === "rate") return 429;
  return status >= 400 ? status : 422;
}

function explanationIn(text: string): string {
  const words = text
    .replaceAll(/<[^>]{0,500}>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return printable(words.slice(0, 200)) || "without an explanation";
}

const faultOf = (
  { service }: HttpCall,
  { name, zone }: ReplaceRequest,
  because: TargetFault | { readonly kind: "absent"; readonly message: string },
): TargetFault =>
  because.kind === "absent"
    ? {
        kind: "missing",
        because: `${service} has no record ${absoluteName(name, zone)} (${because.message})`,
        todo: `create it at ${service}, with any address, or correct \`name:\` and \`zone:\``,
      }
    : because;

const unclear = (service: string, { status, body }: SeenAnswer): TargetFault =>
  later(
    `${service} answered ${status} with ${body.trim() === "" ? "an empty body" : `"${explanationIn(body)}"`}, which is neither a success nor a refusal that moor knows`,
    "no action needed: moor tries again; if this goes on, compare the answer with the service's documentation",
  );

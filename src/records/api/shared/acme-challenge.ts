import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { isObject, jsonOf } from "../../../core/is-object.ts";
import type { Scope } from "../../../core/may.ts";
import { absoluteName, zoneNameOf } from "../../../core/names/name.ts";
import { takeCall } from "../../../lib/limits/rate-limit.ts";
import { StoreBusy } from "../../../lib/limits/store-busy.ts";
import type { SetEdit } from "../../commands/requests.ts";
import type { Actor } from "../../queries/permitted-view.ts";
import type { RecordService } from "../../service.ts";
import { authenticate } from "./authenticate.ts";
import { passwordOf } from "./basic-password.ts";
import { createFailureNotes, type FailedRequest } from "./failed-requests.ts";
import type { RecordApiOptions } from "./set-up-api.ts";

export type AcmeChallengeOptions = Omit<RecordApiOptions, "service"> & {
  readonly service: Pick<RecordService, "set" | "editSet">;
};

/** The one name that a token may write. */
type ChallengePlace = { readonly zone: string; readonly owner: string };

const bodyLimit = 4 * 1024;
/**
 * Seconds. The authority asks right after the write, and a resolver must not keep the value until the next challenge.
 */
const ttl = 60;
/** A name and its wildcard are proved together. */
const mostValues = 2;

/** What every challenge looks like (RFC 8555 section 8.4): a SHA-256 in base64url. */
const challenge = /^[A-Za-z0-9_-]{43}$/;

/**
 * The two protocols by which programs without support for a DNS service prove names to an ACME authority: `httpreq` of
 * lego, and `acme-dns`. Each call needs a token that may write the TXT records of exactly one `_acme-challenge` name,
 * and nothing else.
 */
export function acmeChallengeApi(options: AcmeChallengeOptions) {
  return async (api: FastifyInstance): Promise<void> => {
    api.setValidatorCompiler(() => () => true);
    api.removeAllContentTypeParsers();
    api.addContentTypeParser("*", { parseAs: "string", bodyLimit }, (_request, body, done) =>
      done(null, jsonOf(body.toString())),
    );
    const noteFailure = createFailureNotes(options.log, options.now);
    api.setErrorHandler((error: FailedRequest, { id }, reply) => {
      const { statusCode = 500 } = error;
      if (statusCode < 500) return send(reply, statusCode, error.message);
      noteFailure(error, id);
      if (error instanceof StoreBusy) return send(reply.header("retry-after", error.retryAfter), 503, error.message);
      return send(reply, 500, `the service failed; its log has request ${id}`);
    });
    for (const kind of ["present", "cleanup"] as const)
      api.post(
        `/httpreq/${kind}`,
        { schema: { ...schemas.httpreq, operationId: `httpreq-${kind}` } },
        (request, reply) => httpreq(options, kind, request, reply),
      );
    api.post("/acme-dns/update", { schema: { ...schemas.acmeDns, operationId: "acme-dns-update" } }, (request, reply) =>
      acmeDns(options, request, reply),
    );
    api.post("/acme-dns/register", { schema: { hide: true } }, (_, reply) => send(reply, 403, registration));
  };
}

async function httpreq(
  options: AcmeChallengeOptions,
  kind: "present" | "cleanup",
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const caller = await callerOf(options, passwordOf(request.headers.authorization), request, reply);
  if (caller === undefined) return reply;
  const { fqdn, value } = isObject(request.body) ? request.body : {};
  if (typeof fqdn !== "string" || typeof value !== "string" || !challenge.test(value))
    return send(reply, 400, "send fqdn and value; HTTPREQ_MODE=RAW is not supported");
  if (zoneNameOf(fqdn) !== absoluteName(caller.place.owner, caller.place.zone))
    return send(reply, 403, "the token is for another name");
  const failure = kind === "present" ? await add(options, caller, value) : await remove(options, caller, value);
  // Two clients compare the answer with what they have sent: dns_acmeproxy of acme.sh, and acmeproxy of Caddy.
  return failure === undefined ? reply.code(200).send({ fqdn, value }) : send(reply, 422, failure);
}

async function acmeDns(
  options: AcmeChallengeOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const key = request.headers["x-api-key"];
  const caller = await callerOf(options, typeof key === "string" ? key : undefined, request, reply);
  if (caller === undefined) return reply;
  const { subdomain, txt } = isObject(request.body) ? request.body : {};
  if (typeof txt !== "string" || !challenge.test(txt)) return send(reply, 400, "bad_txt");
  if (subdomain !== caller.place.owner) return send(reply, 400, "bad_subdomain");
  const failure = await add(options, caller, txt);
  return failure === undefined ? reply.code(200).send({ txt }) : send(reply, 422, failure);
}

type ChallengeCaller = { readonly actor: Actor; readonly place: ChallengePlace };

/** Undefined if the reply has been sent. */
async function callerOf(
  { store, limits, now }: AcmeChallengeOptions,
  secret: string | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ChallengeCaller | undefined> {
  const at = now();
  const actor = secret === undefined ? undefined : await authenticate(store, secret, request, at);
  if (actor === undefined) {
    send(reply.header("www-authenticate", 'Basic realm="moor"'), 401, "forbidden");
    return undefined;
  }
  const retryAfter = (await takeCall(limits, actor, request.ip, at))?.retryAfter;
  if (retryAfter !== undefined) {
    send(reply.header("retry-after", String(retryAfter)), 429, "too many requests");
    return undefined;
  }
  const place = challengePlace(actor.scope);
  if (place === undefined) send(reply, 403, tooWide);
  return place && { actor, place };
}

/** The name of a token that may write nothing else. */
export function challengePlace({ access, zones, sets }: Scope): ChallengePlace | undefined {
  const [[zone], [rule]] = [zones ?? [], sets ?? []];
  const isOne = access === "write" && zones?.length === 1 && sets?.length === 1;
  const isText = rule?.types?.length === 1 && rule.types[0] === "TXT";
  const isChallenge = rule?.owner !== undefined && /^_acme-challenge(?:\.|$)/.test(rule.owner);
  return isOne && isText && isChallenge && zone !== undefined ? { zone, owner: rule.owner ?? "" } : undefined;
}

/**
 * Both values of a name and its wildcard stay; older ones go. Adding is one write, so that two callers do not overwrite
 * each other.
 */
async function add(options: AcmeChallengeOptions, caller: ChallengeCaller, value: string): Promise<string | undefined> {
  const before = await valuesAt(options, caller);
  const sameRecord = before.find((record) => record.rdata === quoted(value));
  if (sameRecord !== undefined) return await confirm(options, caller, sameRecord.comment, value);
  const failure = await edit(options, caller, {
    kind: "add",
    draft: { records: [draftOf(value)], ttl },
  });
  if (failure !== undefined) return failure;
  const after = await valuesAt(options, caller);
  const oldest = after
    .filter((record) => record.rdata !== quoted(value))
    .toSorted((a, b) => a.created - b.created)
    .slice(0, Math.max(0, after.length - mostValues));
  for (const { rdata } of oldest)
    await edit(options, caller, { kind: "remove", draft: { records: [{ value: rdata, comment: "" }] } });
  return undefined;
}

/** The value is there already. A write that changes nothing waits until the provider has it, if the token says so. */
async function confirm(
  options: AcmeChallengeOptions,
  caller: ChallengeCaller,
  comment: string,
  value: string,
): Promise<string | undefined> {
  if (caller.actor.scope.confirm === undefined) return undefined;
  return await edit(options, caller, { kind: "comment", draft: { records: [{ value: quoted(value), comment }] } });
}

async function remove(
  options: AcmeChallengeOptions,
  caller: ChallengeCaller,
  value: string,
): Promise<string | undefined> {
  const before = await valuesAt(options, caller);
  if (!before.some((record) => record.rdata === quoted(value))) return undefined;
  return await edit(options, caller, { kind: "remove", draft: { records: [draftOf(value)] } });
}

const targetOf = ({ zone, owner }: ChallengePlace) => ({ zone: { name: zone }, name: owner, type: "TXT" });

async function valuesAt({ service }: AcmeChallengeOptions, { actor, place }: ChallengeCaller) {
  const setAtPlace = await service.set(actor, targetOf(place));
  return setAtPlace.kind === "done" ? (setAtPlace.set?.records ?? []) : [];
}

/** What went wrong, in words. */
async function edit(
  { service }: AcmeChallengeOptions,
  { actor, place }: ChallengeCaller,
  wanted: SetEdit,
): Promise<string | undefined> {
  const written = await service.editSet(actor, targetOf(place), wanted);
  if (written.kind === "done") return undefined;
  return "faults" in written ? written.faults.map(({ message }) => message).join("; ") : "the record cannot be written";
}

const quoted = (value: string): string => `"${value}"`;
const draftOf = (value: string) => ({ value: quoted(value), comment: "" });

const send = (reply: FastifyReply, status: number, error: string): FastifyReply => reply.code(status).send({ error });

const tooWide =
  "the token must be limited to one name: moor token add --zone example.org --set '_acme-challenge.www TXT'";
const registration =
  "names are registered by the operator: make a token for one name in the console or with moor token add";

const described = (description: string) => ({
  description,
  content: { "application/json": { schema: Type.Unknown() } },
});
const answers = {
  200: described("The record is there, or gone"),
  "4XX": described("Why not, as error"),
  "5XX": described("The service failed"),
};
const schemas = {
  httpreq: {
    tags: ["ACME challenges"],
    summary: "Add or remove a challenge, as lego's provider httpreq does",
    description: "HTTP Basic with a token as the password, limited to the TXT records of one _acme-challenge name.",
    security: [{ basic: [] }],
    body: Type.Object({ fqdn: Type.String(), value: Type.String() }),
    response: answers,
  },
  acmeDns: {
    tags: ["ACME challenges"],
    summary: "Add a challenge, as clients of acme-dns do; the last two values stay",
    description:
      "X-Api-Key is a token that is limited to the TXT records of one _acme-challenge name, and subdomain is that name in its zone.",
    body: Type.Object({ subdomain: Type.String(), txt: Type.String() }),
    response: answers,
  },
};

import { parseAddress } from "../../core/addresses/address.ts";
import { absoluteName } from "../../core/names/name.ts";
import { printable } from "../../core/visible-text.ts";
import type { HttpClient, HttpOutcome } from "../../lib/http-client/client.ts";
import { parseRetryAfter } from "../../lib/http-client/retry-after.ts";
import { type ApiDialect, cannotList, later } from "../../providers/answers/service-answer.ts";
import { readWritten } from "../../providers/answers/write-answer.ts";
import { readingByDns } from "./ask-dns.ts";
import { type Dyndns2Target, dyndns2Settings } from "./dyndns2-settings.ts";
import type { RecordTarget, ReplaceRequest, TargetFault, TargetKind, WriteOutcome } from "./target.ts";

export const dyndns2 = {
  ...dyndns2Settings,
  can: { create: false, ttl: false },
  open: async (config: Dyndns2Target, connect) => createDyndns2Target(config, await connect(config)),
} satisfies TargetKind<Dyndns2Target>;

const service = "the service";

/** One GET per name and family; the answer is a word. Reading is a DNS query. */
function createDyndns2Target(config: Dyndns2Target, client: HttpClient, now: () => number = Date.now): RecordTarget {
  const authorization = () => `Basic ${Buffer.from(`${config.user()}:${config.password()}`).toString("base64")}`;
  return {
    async replace(request, signal) {
      const host = absoluteName(request.name, request.zone);
      const parameter = request.family === "ipv6" ? config.ipv6 : config.ipv4;
      const addresses =
        config.together && request.otherAddress !== undefined ? [request.value, request.otherAddress] : [request.value];
      const name = `${config.host}=${encodeURIComponent(host)}`;
      const keep = config.keep ? `&${config.keep[request.family]}` : "";
      const query = `?${config.query && `${config.query}&`}${name}&${parameter}=${addresses.join(",")}${keep}`;
      const headers = { authorization: authorization(), "user-agent": config.agent, accept: "text/plain, */*" };
      return outcomeOf(await client.send({ method: "GET", path: query, headers }, signal), request, host, now());
    },
    ...readingByDns(config.dns, cannotList(service, notListed)),
    close: () => client.close(),
  };
}

const notListed = "sign in to the service's web pages: the dyndns2 protocol can only write";

const dialect: ApiDialect = {
  service,
  renew: "correct `user:` and `password:`",
  parse: (text) => ({ text }),
  // A web page is not an answer of this protocol.
  errorIn: (status, body) => {
    const text = typeof body?.text === "string" ? body.text.trim() : "";
    return { status, code: "", message: text.startsWith("<") ? "" : printable(text.slice(0, 200)) };
  },
};

function outcomeOf(outcome: HttpOutcome, request: ReplaceRequest, host: string, now: number): WriteOutcome {
  const [word = "", stored = ""] = outcome.kind === "answer" ? outcome.body.trim().split(/\s+/) : [];
  // With 429, the word is "abuse", but Retry-After says when it is over.
  const refusal = outcome.kind === "answer" && outcome.status !== 429 ? refusals[word]?.(host) : undefined;
  if (refusal && outcome.kind === "answer") {
    const serverWait = parseRetryAfter(outcome.headers["retry-after"], now);
    const fault = refusal.kind === "later" && serverWait ? { ...refusal, retryAfter: serverWait } : refusal;
    // 911 and dnserr may occur during the update; all other refusals come before it.
    return { kind: fault.kind === "later" || outcome.resent ? "unknown" : "refused", fault };
  }
  const isDone = outcome.kind === "answer" && outcome.status === 200 && (word === "good" || word === "nochg");
  if (isDone) return confirmed(request, host, stored, word === "nochg");
  const written = readWritten(outcome, [200], now, dialect);
  if (written.kind === "unknown") return { kind: "unknown", fault: written.fault };
  if (written.kind === "accepted") return { kind: "unknown", fault: unclear };
  const { because } = written;
  return { kind: "refused", fault: because.kind === "absent" ? noPage(because.message) : because };
}

/** Both words mean that the record holds the address. Some services omit the address in the answer. */
function confirmed(request: ReplaceRequest, host: string, stored: string, already: boolean): WriteOutcome {
  const address = parseAddress(
    stored.split(",").find((part) => parseAddress(part)?.family === request.family) ?? stored,
  );
  if (stored === "" || address?.text === request.value) {
    return { kind: "done", recordId: host, ttl: null, ...(already && { already }) };
  }
  // `good 127.0.0.1`, as Dyn documents it (there is no RFC): the update was ignored, because the client misbehaved.
  const because =
    address?.text === "127.0.0.1"
      ? "the service ignored the update (good 127.0.0.1)"
      : `the service stored ${printable(stored)} instead of ${request.value}`;
  return { kind: "unknown", fault: later(because, "see the service's web pages") };
}

const unclear = later("the answer of the service is not a dyndns2 return code", "check `url:`");

const noPage = (message: string): TargetFault => ({
  kind: "refused",
  because: `the service has no such page (404${message && `: ${message}`})`,
  todo: "correct `url:`; most services use /nic/update",
});

const halfAnHour = 1_800_000;
const day = 86_400_000;

/** Services block clients that continue after these: nothing is sent for a day, or until the settings change. */
const stop = (kind: TargetFault["kind"], because: string, todo: string, onlyName = true): TargetFault => ({
  kind,
  because,
  todo: `${todo}; moor does not try again for a day, unless the settings change`,
  retryAfter: day,
  onlyName,
});

/** The words of the protocol that are not a success. */
const refusals: Readonly<Record<string, (host: string) => TargetFault>> = {
  badauth: () =>
    stop(
      "unauthorised",
      "the service rejected the user name or the password (badauth)",
      "correct `user:` and `password:`",
      false,
    ),
  badagent: () =>
    stop(
      "refused",
      "the service blocks this program (badagent)",
      "with No-IP, set `contact:` to a mail address; otherwise ask the service to allow moor",
      false,
    ),
  abuse: (host) =>
    stop("refused", `the service blocked ${host} because of too many updates (abuse)`, "ask the service to unblock it"),
  "!donator": (host) =>
    stop(
      "refused",
      `the plan of the account does not include this update of ${host} (!donator)`,
      "choose another plan at the service",
    ),
  nohost: (host) =>
    stop(
      "missing",
      `the account has no host ${host} (nohost)`,
      "create it at the service, or correct `name:` and `zone:`",
    ),
  "!yours": (host) =>
    stop("missing", `the host ${host} belongs to another account (!yours)`, "correct `user:`, or `name:` and `zone:`"),
  notfqdn: (host) =>
    stop("refused", `the service does not accept ${host} as a host name (notfqdn)`, "correct `name:` and `zone:`"),
  numhost: (host) =>
    stop(
      "refused",
      `the service reported too many hosts in the update of ${host} (numhost)`,
      "ask the service's support",
    ),
  badsys: () => stop("refused", "the service does not support this kind of update (badsys)", "check `url:`"),
  badparam: () => stop("refused", "the service does not accept a parameter (badparam)", "check `url:`"),
  dnserr: () => ({
    ...later("the service reports an error in its DNS (dnserr)", "no action needed: moor retries in half an hour"),
    retryAfter: halfAnHour,
    ofService: true,
  }),
  "911": () => ({
    ...later("the service reports a temporary problem (911)", "no action needed: moor retries in half an hour"),
    retryAfter: halfAnHour,
    ofService: true,
  }),
};

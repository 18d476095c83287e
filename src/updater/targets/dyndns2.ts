import { parseAddress } from "../../core/addresses/address.ts";
import { absoluteName } from "../../core/names/name.ts";
import { printable } from "../../core/visible-text.ts";
import type { HttpClient, HttpOutcome } from "../../lib/http-client/client.ts";
import { parseRetryAfter } from "../../lib/http-client/retry-after.ts";
import { type ApiDialect, cannotList, isWebAnswer, later } from "../../providers/answers/service-answer.ts";
import { readWritten } from "../../providers/answers/write-answer.ts";
import { readingByDns } from "./ask-dns.ts";
import { type Dyndns2Target, dyndns2Settings, type Words } from "./dyndns2-settings.ts";
import type { RecordTarget, ReplaceRequest, TargetFault, TargetKind, WriteOutcome } from "./target.ts";

export const dyndns2 = {
  ...dyndns2Settings,
  can: { create: false, ttl: false },
  open: async (config: Dyndns2Target, connect) => createDyndns2Target(config, await connect(config)),
} satisfies TargetKind<Dyndns2Target>;

const service = "the service";

/** One GET per name and family; the answer is a word. Reading is a DNS query. */
function createDyndns2Target(config: Dyndns2Target, client: HttpClient, now: () => number = Date.now): RecordTarget {
  return {
    takesBoth: config.together || config.separate,
    async replace(request, signal) {
      const host = absoluteName(request.name, request.zone);
      const name = `${config.host}=${encodeURIComponent(host)}`;
      const { query, headers, secrets } = signedIn(config);
      const path = `?${[...query, name, ...addressesIn(request, config)].join("&")}`;
      const outcome = await client.send({ method: "GET", path, headers, secrets }, signal);
      return outcomeOf(outcome, config.words, { ...request, host }, now());
    },
    ...readingByDns(config.dns, cannotList(service, notListed)),
    close: () => client.close(),
  };
}

function signedIn({ user, password, signIn, query, agent }: Dyndns2Target) {
  const headers = { "user-agent": agent, accept: "text/plain, */*" };
  const fixed = query ? [query] : [];
  if (!signIn) {
    const authorization = `Basic ${Buffer.from(`${user()}:${password()}`).toString("base64")}`;
    return { query: fixed, headers: { ...headers, authorization }, secrets: [] };
  }
  const userParameter = signIn.user === undefined ? [] : [`${signIn.user}=${encodeURIComponent(user())}`];
  const passwordParameter = `${signIn.password}=${encodeURIComponent(password())}`;
  return { query: [...fixed, ...userParameter, passwordParameter], headers, secrets: [password()] };
}

/** The parameters for the addresses: what is not sent, the service may remove, or set to the address of the caller. */
function addressesIn({ family, value, otherAddress }: ReplaceRequest, config: Dyndns2Target): readonly string[] {
  const [own, other] = family === "ipv6" ? [config.ipv6, config.ipv4] : [config.ipv4, config.ipv6];
  if (otherAddress !== undefined && config.together) return [`${own}=${value},${otherAddress}`];
  if (otherAddress !== undefined && config.separate) return [`${own}=${value}`, `${other}=${otherAddress}`];
  return [`${own}=${value}`, ...(config.keep ? [config.keep[family]] : [])];
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

type Sent = ReplaceRequest & { readonly host: string };

function outcomeOf(outcome: HttpOutcome, words: Words, request: Sent, now: number): WriteOutcome {
  const { said, word, shown } = wordsIn(outcome, words);
  // With 429, the word is "abuse", but Retry-After says when it is over.
  const refusal =
    outcome.kind === "answer" && outcome.status !== 429 ? refusals[word]?.(request.host, said) : undefined;
  if (refusal && outcome.kind === "answer") {
    const serverWait = parseRetryAfter(outcome.headers["retry-after"], now);
    const fault = refusal.kind === "later" && serverWait ? { ...refusal, retryAfter: serverWait } : refusal;
    // 911 and dnserr may occur during the update; all other refusals come before it.
    return { kind: fault.kind === "later" || outcome.resent ? "unknown" : "refused", fault };
  }
  const isDone = outcome.kind === "answer" && outcome.status < 300 && (word === "good" || word === "nochg");
  if (isDone) return confirmed(request, shown, word === "nochg");
  const written = readWritten(outcome, [200], now, dialect);
  if (written.kind === "unknown") return { kind: "unknown", fault: written.fault };
  if (written.kind === "accepted") return { kind: "unknown", fault: unclear };
  const { because } = written;
  return { kind: "refused", fault: because.kind === "absent" ? noPage(because.message) : because };
}

/** `said`: the word, or the status that the service sends for it. `shown`: the addresses after it. */
function wordsIn(outcome: HttpOutcome, words: Words) {
  if (outcome.kind !== "answer" || isWebAnswer(outcome)) return { said: "", word: "", shown: [] };
  const [first = "", ...shown] = outcome.body
    .trim()
    .slice(0, 1_000)
    .split(/[\s,]+/);
  const byStatus = words[outcome.status];
  if (byStatus !== undefined && first !== "good" && first !== "nochg" && !(first in refusals))
    return { said: String(outcome.status), word: byStatus, shown: [] };
  return { said: first, word: words[first] ?? first, shown };
}

/** Both words mean that the record holds the address. Some services omit the addresses in the answer, or one of two. */
function confirmed(request: Sent, shown: readonly string[], already: boolean): WriteOutcome {
  const stored = shown.map((text) => parseAddress(text)?.text);
  const sent: readonly unknown[] = [request.value, request.otherAddress];
  if (stored.includes(request.value) || stored.every((each) => each !== undefined && sent.includes(each))) {
    return { kind: "done", recordId: request.host, ttl: null, ...(already && { already }) };
  }
  // `good 127.0.0.1`, as Dyn documents it (there is no RFC): the update was ignored, because the client misbehaved.
  const because = stored.includes("127.0.0.1")
    ? "the service ignored the update (good 127.0.0.1)"
    : `the service stored ${printable(shown.join(" and ")).slice(0, 200)} instead of ${request.value}`;
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

/** The words of the protocol that are not a success. `said`: the word, or what the service sends instead. */
const refusals: Readonly<Record<string, (host: string, said: string) => TargetFault>> = {
  badauth: (_, said) =>
    stop(
      "unauthorised",
      `the service rejected the user name or the password (${said})`,
      "correct `user:` and `password:`",
      false,
    ),
  badagent: (_, said) =>
    stop(
      "refused",
      `the service blocks this program (${said})`,
      "with No-IP, set `contact:` to a mail address; otherwise ask the service to allow moor",
      false,
    ),
  abuse: (host, said) =>
    stop(
      "refused",
      `the service blocked ${host} because of too many updates (${said})`,
      "ask the service to unblock it",
    ),
  "!donator": (host, said) =>
    stop(
      "refused",
      `the plan of the account does not include this update of ${host} (${said})`,
      "choose another plan at the service",
    ),
  nohost: (host, said) =>
    stop(
      "missing",
      `the account has no host ${host} (${said})`,
      "create it at the service, or correct `name:` and `zone:`",
    ),
  "!yours": (host, said) =>
    stop("missing", `the host ${host} belongs to another account (${said})`, "correct `user:`, or `name:` and `zone:`"),
  notfqdn: (host, said) =>
    stop("refused", `the service does not accept ${host} as a host name (${said})`, "correct `name:` and `zone:`"),
  numhost: (host, said) =>
    stop(
      "refused",
      `the service reported too many hosts in the update of ${host} (${said})`,
      "ask the service's support",
    ),
  badsys: (_, said) => stop("refused", `the service does not support this kind of update (${said})`, "check `url:`"),
  badparam: (_, said) => stop("refused", `the service does not accept a parameter (${said})`, "check `url:`"),
  dnserr: (_, said) => inHalfAnHour(`the service reports an error in its DNS (${said})`),
  "911": (_, said) => inHalfAnHour(`the service reports a temporary problem (${said})`),
};

const inHalfAnHour = (because: string): TargetFault => ({
  ...later(because, "no action needed: moor retries in half an hour"),
  retryAfter: halfAnHour,
  ofService: true,
});

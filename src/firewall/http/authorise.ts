import { setTimeout as wait } from "node:timers/promises";
import { householdOf } from "../../core/addresses/peer-address.ts";
import { BoundedMap } from "../../lib/limits/bounded-map.ts";
import { createLineLimit, type Logger } from "../../process/log.ts";
import type { ApiKey, KeyRefusal, KeyStore } from "../access/keys.ts";
import { type EndpointName, mayCall } from "../access/privileges.ts";
import { pathOf } from "../access/resolve-endpoint.ts";
import * as answers from "./answers.ts";

export type FirewallCall = {
  readonly url: string;
  readonly authorization: string | undefined;
  readonly endpoint: EndpointName;
  readonly from: string;
  /** Aborts when the caller disconnects. */
  readonly gone: AbortSignal;
};

export type Authorised =
  | { readonly kind: "key"; readonly key: ApiKey }
  | { readonly kind: "refused"; readonly answer: answers.FirewallAnswer };

/** Milliseconds, as on OPNsense. It never grows: nobody guesses a key, but many clients have an old one. */
const delay = 2_000;
/** Failed calls that are delayed at the same time. Further ones are answered immediately: a flood costs no memory. */
const mostHeldBack = 100;
/** Sources whose failures are counted for the log. */
const mostSources = 10_000;

/** Accepts a key that may call the endpoint. A valid key is never delayed, whatever others at the same address do. */
export function createAuthorising(
  keys: Pick<KeyStore, "check" | "whyRefused">,
  log: Logger,
  now: () => Date,
): (asking: FirewallCall) => Promise<Authorised> {
  const failuresOf = new BoundedMap<string, number>(mostSources);
  const holdBack = createHoldBack(mostHeldBack);
  const few = createLineLimit(
    () => now().getTime(),
    (count) => log.warn({ count }, "more calls were refused"),
  );
  const refused = (answer: answers.FirewallAnswer): Authorised => ({ kind: "refused", answer });
  return async ({ url, authorization, endpoint, from, gone }) => {
    const credentials = readCredentials(authorization);
    if (credentials.kind === "missing") return refused(answers.authenticationMissing(pathOf(url)));
    if (credentials.kind === "unusable") return refused(answers.authenticationFailed);
    const key = keys.check(credentials.key, credentials.secret, { from, now: now() });
    if (key === undefined) {
      const source = householdOf(from);
      const failures = (failuresOf.get(source) ?? 0) + 1;
      failuresOf.set(source, failures);
      // The 1st, 2nd, 4th, 8th …: a flood must not fill the disk with its log.
      if (Number.isInteger(Math.log2(failures))) {
        const why = keys.whyRefused(credentials.key, credentials.secret, now());
        const whose = why.kind === "unknown" ? {} : { name: why.name };
        few(() => log.warn({ from, endpoint, failures, ...whose }, `call refused: ${refusals[why.kind]}`));
      }
      await holdBack(gone);
      return refused(answers.authenticationFailed);
    }
    if (mayCall(key.privileges, endpoint)) return { kind: "key", key };
    few(() => log.warn({ from, endpoint, name: key.name }, "call refused: the key lacks the privilege"));
    return refused(answers.forbidden);
  };
}

/** For the log only: callers get the same response for all of them. */
const refusals: Readonly<Record<KeyRefusal["kind"], string>> = {
  unknown: "unknown key or wrong secret",
  revoked: "the key is revoked",
  disabled: "the user is disabled",
  expired: "the user has expired",
};

/** Resolves after the delay, or when `gone` aborts; immediately if `most` calls already wait. */
function createHoldBack(most: number): (gone: AbortSignal) => Promise<void> {
  let waiting = 0;
  return async (gone) => {
    if (waiting >= most) return;
    waiting += 1;
    await wait(delay, undefined, { signal: gone }).catch(() => undefined);
    waiting -= 1;
  };
}

export type Credentials =
  | { readonly kind: "missing" }
  | { readonly kind: "unusable" }
  | { readonly kind: "given"; readonly key: string; readonly secret: string };

/**
 * Parses the header as OPNsense does: the word after the first space is base64 of `key:secret`. The scheme is ignored,
 * after two spaces there is nothing to decode, and everything after a second colon is dropped.
 */
export function readCredentials(header: string | undefined): Credentials {
  if (header === undefined) return { kind: "missing" };
  const encoded = header.split(" ")[1] ?? "";
  const [key, secret] = Buffer.from(encoded, "base64").toString("utf8").split(":");
  return key === undefined || secret === undefined ? { kind: "unusable" } : { kind: "given", key, secret };
}

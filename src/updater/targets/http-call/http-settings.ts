import { createHash } from "node:crypto";
import type { Endpoint } from "../../../lib/http-client/endpoint.ts";
import { mapping, needed, usually } from "../../../lib/settings/mapping.ts";
import {
  byKey,
  choice,
  flag,
  integer,
  listOf,
  oneOrMore,
  type Setting,
  type SettingPlace,
  text,
} from "../../../lib/settings/setting.ts";
import { dnsServer, oneTrust, trustFields, webAddress, withTrust } from "../../config/endpoint.ts";
import type { TargetConfig } from "../../config/kinds.ts";
import { secret } from "../../config/secret.ts";
import { accountOf, type HttpCall, placeholdersOf } from "./call.ts";
import { orderPlaceholders, placeholdersIn } from "./template.ts";

const matchFields = {
  status: oneOrMore(integer({ from: 100, to: 599 }, "The HTTP status, or a list of them.", 200)),
  line: text("A whole line of the answer. May contain placeholders.", "good {address}"),
  text: text("Whole words in the answer. May contain placeholders.", "updated"),
  json: byKey(
    text("The value at that path; `*` is any value. May contain placeholders.", "ok"),
    (key, what) => `${key} of ${what}`,
    "Values in a JSON answer, by their path: `{ result.status: ok }`.",
  ),
};

const match = mapping(matchFields, {
  title: "Answer",
  description: "An answer of the service. All conditions must hold. Without `status`, the status must be 200 to 299.",
});

const refusal = mapping(
  {
    ...matchFields,
    means: choice(
      ["credentials", "name", "rate", "other"],
      "What it is about: the credentials, a name that the service does not have, too many requests, or anything else. Default: by the status.",
    ),
  },
  {
    title: "Refusal",
    description:
      "An answer that means that nothing was stored. All conditions must hold. Without `status`, the status may be any below 500.",
  },
);

const answers = <T>(item: Setting<T>, description: string): Setting<readonly T[]> => {
  const list = oneOrMore(item, "describe at least one answer");
  return { ...list, schema: { ...list.schema, description, examples: [{ line: "OK" }] } };
};

export const dnsServers = listOf(dnsServer, "DNS servers to ask what the record holds, instead of the zone's own.");

export type HttpTarget = TargetConfig & Endpoint & { readonly call: HttpCall };

export const httpSettings = mapping(
  {
    url: needed(
      webAddress(
        "The URL of the request, with placeholders such as `{name}`, `{address}`, `{ipv4}` and the names of `secrets:`.",
        "https://dns.example.org/update?host={name}&ip={address}",
        { mayHaveQuery: true },
      ),
    ),
    ...trustFields,
    method: usually(choice(["GET", "POST", "PUT", "PATCH"], "The method of the request."), "GET"),
    headers: byKey(
      text("The value. May contain placeholders.", "Bearer {key}"),
      (key, what) => `${key} of ${what}`,
      'Headers of the request: `{ Authorization: "Bearer {key}" }`.',
    ),
    body: text(
      "The body, with placeholders. JSON if it starts with `{` or `[`, otherwise a form.",
      '{"host": "{name}", "ip": "{address}"}',
    ),
    user: text("The user name for Basic authentication.", "me"),
    password: secret("The password for Basic authentication."),
    secrets: byKey(
      secret("The secret with this name."),
      (key, what) => `${key} of ${what}`,
      "Secrets by the names that the placeholders use: `{ key: { file: secrets/key } }`.",
    ),
    done: needed(
      answers(match, "Answers that mean that the address was stored."),
      "add `done: { line: OK }`, or another description of the answer to a successful request",
    ),
    unchanged: answers(match, "Answers that mean that the service already has the address."),
    refused: answers(
      refusal,
      "Answers that mean that nothing was stored. After any other answer, moor sends the address again.",
    ),
    families: usually(
      choice(
        ["each", "together"],
        "`together` sends the addresses of both families in one request, `each` one per family.",
      ),
      "each",
    ),
    readBack: usually(flag("A write counts only after the zone's nameservers return the new address."), false),
    dns: dnsServers,
  },
  {
    title: "Target: http",
    description:
      "Any service that takes an address in one HTTP request. The config says what to send and what the answers mean. It cannot list records.",
    checkKeys: oneTrust,
    transform(value, place): (Omit<HttpTarget, "name" | "api"> & Endpoint) | undefined {
      const { url, method, headers = new Map(), body, user, password, secrets = new Map(), ...rest } = value;
      const { done, unchanged = [], refused = [], families, readBack, dns = [], ...trust } = withTrust(rest, place);
      const path = url.href.slice(url.origin.length).replaceAll("%7B", "{").replaceAll("%7D", "}");
      const call: HttpCall = {
        service: url.hostname,
        method,
        path,
        body,
        user,
        password,
        readBack,
        dns,
        headers: Object.fromEntries(headers),
        secrets: Object.fromEntries(secrets),
        done,
        unchanged,
        refused,
        together: families === "together",
        // The config says what counts, perhaps also in a page.
        plain: false,
      };
      if (!isRight(call, place)) return undefined;
      return { ...trust, url: keyOf(url, call), call, account: accountOf(call) };
    },
  },
);

/** Without the query, which may contain what nobody should see; still another URL for another request. */
function keyOf({ origin }: URL, { method, path, body }: HttpCall): URL {
  const hash = createHash("sha256")
    .update(JSON.stringify([method, path, body]))
    .digest("hex")
    .slice(0, 8);
  return new URL(`${origin}/#${hash}`);
}

function isRight(call: HttpCall, { what, fault }: SettingPlace): boolean {
  const names = Object.keys(call.secrets);
  const bad = (key: string, code: string, message: string, todo: string) => {
    fault({ code, message: `${what} ${message}`, todo }, key);
    return false;
  };
  const taken = names.find((name) => orderPlaceholders.includes(name) || !/^[A-Za-z][A-Za-z0-9_]*$/.test(name));
  if (taken !== undefined)
    return bad(
      "secrets",
      "bad-placeholder",
      `cannot have a secret named ${taken}`,
      "give it another name, such as key",
    );
  const allPlaceholders = [...orderPlaceholders, ...names];
  const unknown = placeholdersOf(call).find((name) => !allPlaceholders.includes(name));
  if (unknown !== undefined)
    return bad(
      "url",
      "bad-placeholder",
      `uses {${unknown}}, which does not exist`,
      `the placeholders are ${allPlaceholders.map((name) => `{${name}}`).join(", ")}; a secret needs an entry in \`secrets:\``,
    );
  if (!placeholdersOf(call).some((name) => ["address", "addresses", "ipv4", "ipv6"].includes(name)))
    return bad("url", "no-address", "does not send the address", "add {address} to `url:`, `headers:` or `body:`");
  if (literalSecret(call.path))
    return bad(
      "url",
      "secret-in-config",
      "has a secret in its URL",
      "put it in a separate file, name it in `secrets:`, and write its placeholder, such as {key}",
    );
  const headers = Object.values(call.headers).flatMap(placeholdersIn);
  const unsendable = names.find(
    (name) => headers.includes(name) && !/^[\x20-\x7e]+$/.test(call.secrets[name]?.() ?? ""),
  );
  if (unsendable !== undefined)
    return bad(
      "secrets",
      "bad-secret",
      `has a secret ${unsendable} that an HTTP header cannot carry`,
      "use only ASCII characters",
    );
  if ((call.user === undefined) === (call.password === undefined)) return true;
  return bad("user", "missing", "needs both user and password, or neither", "add the other one");
}

/** `&token=0123456789`: a value, not a placeholder. */
const literalSecret = (path: string): boolean =>
  [...new URLSearchParams(path.slice(path.indexOf("?") + 1))].some(
    ([name, value]) =>
      /^(?:api_?)?(?:key|token|secret|pass(?:word|wd)?|pwd|auth)$/i.test(name) &&
      value.length >= 8 &&
      placeholdersIn(value).length === 0,
  );

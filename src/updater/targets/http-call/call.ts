import { createHash } from "node:crypto";
import type { HttpRequest } from "../../../lib/http-client/client.ts";
import type { Secret } from "../../config/secret.ts";
import type { ReplaceRequest } from "../target.ts";
import type { Match } from "./match.ts";
import { fill, fillForm, fillQuery, inJson, placeholdersIn, valuesOf } from "./template.ts";

export type Method = Extract<HttpRequest["method"], "GET" | "POST" | "PUT" | "PATCH">;

/** What a refusal is about. `rate`: too many requests. */
export type Meaning = "credentials" | "name" | "rate" | "other";

export type RefusalMatch = Match & { readonly means?: Meaning };

/** One HTTP request that writes an address, and how to read its answer. The texts are templates. */
export type HttpCall = {
  /** Its name in messages. */
  readonly service: string;
  readonly method: Method;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** For Basic authentication. */
  readonly user?: string | undefined;
  readonly password?: Secret | undefined;
  readonly secrets: Readonly<Record<string, Secret>>;
  readonly done: readonly Match[];
  readonly unchanged: readonly Match[];
  readonly refused: readonly RefusalMatch[];
  /** Both addresses of a name are in one call. */
  readonly together: boolean;
  /** A web page is never an answer of the service. */
  readonly plain: boolean;
  /** Ask the zone's nameservers before a write counts. */
  readonly readBack: boolean;
  readonly dns: readonly string[];
};

export function requestFor(call: HttpCall, request: ReplaceRequest): HttpRequest {
  const secrets = Object.fromEntries(Object.entries(call.secrets).map(([name, secret]) => [name, secret()]));
  const values = { ...secrets, ...valuesOf(request, call.together) };
  const password = call.password?.();
  const basic = password !== undefined && Buffer.from(`${call.user ?? ""}:${password}`).toString("base64");
  const { body } = call;
  const isJson = body !== undefined && /^\s*[[{]/.test(body);
  const headers = Object.entries(call.headers).map(([name, text]) => [name.toLowerCase(), fill(text, values)]);
  return {
    method: call.method,
    path: fillQuery(call.path, values),
    headers: {
      accept: "*/*",
      ...(body === undefined
        ? {}
        : { "content-type": isJson ? "application/json" : "application/x-www-form-urlencoded" }),
      ...(basic !== false && { authorization: `Basic ${basic}` }),
      ...Object.fromEntries(headers),
    },
    ...(body && { body: isJson ? fill(body, values, inJson) : fillForm(body, values) }),
    secrets: [...Object.values(secrets), ...(password === undefined ? [] : [password])],
  };
}

/** Every placeholder of the request. */
export const placeholdersOf = ({ path, headers, body = "" }: Pick<HttpCall, "path" | "headers" | "body">) =>
  [path, body, ...Object.values(headers)].flatMap(placeholdersIn);

/** Differs when a credential differs. */
export function accountOf({ user = "", password, secrets }: Pick<HttpCall, "user" | "password" | "secrets">): string {
  const all = [user, password?.() ?? "", ...Object.values(secrets).map((secret) => secret())];
  return createHash("sha256").update(JSON.stringify(all)).digest("hex").slice(0, 16);
}

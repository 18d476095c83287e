import { phpJson } from "../report/php-json.ts";

/**
 * OPNsense's responses, byte for byte, except when the Authorization header is missing
 * (docs/decisions/0003-firewall-answers-401.md).
 */
export type FirewallAnswer = {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Headers that PHP adds to every response of a controller. */
const neverStored = {
  expires: "Thu, 19 Nov 1981 08:52:00 GMT",
  "cache-control": "no-store, no-cache, must-revalidate",
  pragma: "no-cache",
};

const fromController = (status: number, body: string): FirewallAnswer => ({
  status,
  contentType: "application/json; charset=UTF-8",
  body,
  headers: neverStored,
});

/** `body` is JSON as PHP writes it. */
export const data = (body: string): FirewallAnswer => fromController(200, body);
export const json = (value: Parameters<typeof phpJson>[0]): FirewallAnswer => data(phpJson(value));
/** One endpoint of OPNsense writes its body before its headers, so clients see a web page. */
export const jsonAsPage = (value: object): FirewallAnswer => ({
  ...json(value),
  contentType: "text/html; charset=UTF-8",
});
export const invalidJson = fromController(400, '{"status":400,"message":"Invalid JSON syntax"}');
export const authenticationFailed = fromController(401, '{"status":401,"message":"Authentication Failed"}');
export const forbidden = fromController(403, '{"status":403,"message":"Forbidden"}');

export const authenticationMissing = (path: string): FirewallAnswer => ({
  ...authenticationFailed,
  headers: { ...neverStored, "www-authenticate": 'Basic realm="moor"', location: `/?url=${path}` },
});

const fromRouter = (status: number, errorMessage: string): FirewallAnswer => ({
  status,
  contentType: "application/json;charset=utf-8",
  body: JSON.stringify({ errorMessage }),
});

export const notFound = fromRouter(404, "Endpoint not found");
export const unexpected = fromRouter(500, "Unexpected error, check log for details");

const page = (status: number, title: string): FirewallAnswer => ({
  status,
  contentType: "text/html",
  body: `<!DOCTYPE html>\n<html lang="en"><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`,
});

/** 429 if the caller has too many, 503 if all callers together have. */
export const tooManyStreams = (status: 429 | 503, message: string): FirewallAnswer => ({
  ...fromRouter(status, message),
  headers: { "retry-after": "60" },
});

export const apiRootForbidden = page(403, "403 Forbidden");
export const lengthRequired = page(411, "411 Length Required");

export const welcome: FirewallAnswer = {
  status: 200,
  contentType: "text/plain; charset=utf-8",
  body:
    "moor firewall: this machine's network interfaces, in the format of OPNsense's API.\n\n" +
    "GET /api/diagnostics/interface/getinterfaceconfig with HTTP Basic: the API key is the user, its secret the password.\n" +
    "GET /api/diagnostics/interface/events streams the same report, immediately and after every change.\n" +
    "Create a key with: moor key add\n",
};

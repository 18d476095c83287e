import { type EndpointName, endpointNames } from "./privileges.ts";

/** Without a parameter after the action, these are not found. */
const needParameter: ReadonlySet<EndpointName> = new Set<EndpointName>([
  "auth/user/add_api_key",
  "auth/user/del_api_key",
]);

export type Target =
  | { readonly kind: "endpoint"; readonly name: EndpointName; readonly parameters: readonly string[] }
  /** `/api/` itself: OPNsense's web server lists no folders. */
  | { readonly kind: "api-root" }
  | { readonly kind: "not-found" };

/**
 * The endpoint that a request target (`/api/module/controller/action/…?query`) names. As in OPNsense, the module may be
 * in any case, the controller in its own case except for the first letter, the action in any case with or without
 * underscores; empty segments, the query, and anything after an action without parameters are ignored. Privileges are
 * checked for the result, so they protect every spelling.
 */
export function resolveEndpoint(requestTarget: string): Target {
  const path = pathOf(requestTarget);
  if (!path.startsWith("/") || hasPathTrick(path)) return notFound;
  const [root, module, controller, action, ...rest] = path.split("/").filter((segment) => segment !== "");
  if (root !== "api") return notFound;
  if (module === undefined) return { kind: "api-root" };
  if (controller === undefined || action === undefined) return notFound;
  const name = byFoldedName.get(folded(module, controller, action));
  const parameters = rest.map(decoded);
  if (name === undefined || (needParameter.has(name) && parameters.length === 0)) return notFound;
  return { kind: "endpoint", name, parameters };
}

const notFound: Target = { kind: "not-found" };

/** The path as it was sent, still encoded. A server must also accept `https://host/path` (RFC 9112 section 3.2.2). */
export function pathOf(requestTarget: string): string {
  return requestTarget.replace(/^https?:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
}

/**
 * Dot segments, plain or encoded, and encoded separators: no honest client sends them here, and proxies disagree about
 * them.
 */
function hasPathTrick(path: string): boolean {
  return /%(?:2e|2f|5c|00)|\\/i.test(path) || path.split("/").some((segment) => segment === "." || segment === "..");
}

const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
const firstRaised = (text: string): string => text.replace(/^[a-z]/, (letter) => letter.toUpperCase());
const folded = (module: string, controller: string, action: string): string =>
  `${asciiLower(module)}/${firstRaised(controller)}/${asciiLower(action.replaceAll("_", ""))}`;

const byFoldedName: ReadonlyMap<string, EndpointName> = new Map(
  endpointNames.map((name) => {
    const [module = "", controller = "", action = ""] = name.split("/");
    return [folded(module, controller, action), name];
  }),
);

/** An invalid escape stays as it is. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

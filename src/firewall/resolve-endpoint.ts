/** What the service can be asked, by the name it has in the original's documentation. */
export type EndpointName = "diagnostics/interface/get_interface_config";

export type Target =
  | { readonly kind: "endpoint"; readonly name: EndpointName }
  /** `/api/` itself: the original's web server lists no folders. */
  | { readonly kind: "api-root" }
  | { readonly kind: "not-found" };

const endpointNames: readonly EndpointName[] = ["diagnostics/interface/get_interface_config"];

/**
 * The endpoint that a request target (`/api/module/controller/action/…?query`) names. As in the original: the module in any
 * case, the controller in its own case but for the first letter, the action in any case with or without underscores;
 * empty segments, the query and whatever follows the action do not matter. Privileges are checked on the result, so every
 * spelling is guarded alike.
 */
export function resolveEndpoint(requestTarget: string): Target {
  const path = pathOf(requestTarget);
  if (!path.startsWith("/") || hasPathTrick(path)) return notFound;
  const [root, module, controller, action] = path.split("/").filter((segment) => segment !== "");
  if (root !== "api") return notFound;
  if (module === undefined) return { kind: "api-root" };
  if (controller === undefined || action === undefined) return notFound;
  const name = endpointNames.find((each) => {
    const [wantedModule = "", wantedController = "", wantedAction = ""] = each.split("/");
    return (
      sameLetters(module, wantedModule) &&
      firstRaised(controller) === firstRaised(wantedController) &&
      sameLetters(withoutUnderscores(action), withoutUnderscores(wantedAction))
    );
  });
  return name === undefined ? notFound : { kind: "endpoint", name };
}

const notFound: Target = { kind: "not-found" };

/** The path as it was sent, still encoded. RFC 9112 section 3.2.2: a server takes `https://host/path` too. */
export function pathOf(requestTarget: string): string {
  return requestTarget.replace(/^https?:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
}

/** Dot segments, plain or encoded, and encoded separators: nobody honest sends them here, and proxies disagree on them. */
function hasPathTrick(path: string): boolean {
  return /%(?:2e|2f|5c|00)|\\/i.test(path) || path.split("/").some((segment) => segment === "." || segment === "..");
}

const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
const sameLetters = (one: string, other: string): boolean => asciiLower(one) === asciiLower(other);
const withoutUnderscores = (text: string): string => text.replaceAll("_", "");
const firstRaised = (text: string): string => text.replace(/^[a-z]/, (letter) => letter.toUpperCase());

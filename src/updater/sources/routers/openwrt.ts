import { isObject } from "../../../core/is-object.ts";
import type { HttpClient } from "../../../lib/http-client/client.ts";
import type { Endpoint } from "../../../lib/http-client/endpoint.ts";
import { mapping, needed, usually } from "../../../lib/settings/mapping.ts";
import { text } from "../../../lib/settings/setting.ts";
import { endpointFields, oneTrust, withTrust } from "../../config/endpoint.ts";
import { type Secret, secret } from "../../config/secret.ts";
import { type AddressSource, neverPushes, type SourceKind, type SourceReading, unavailable } from "../source.ts";
import { readInterfaceDump } from "./openwrt-dump.ts";
import { readJson, type StatusWords } from "./read-json.ts";

export type OpenwrtSource = Endpoint & { readonly user: string; readonly password: Secret };

/** The interfaces of an OpenWrt router, by ubus over HTTP, like its web interface. */
export const openwrt = {
  ...mapping(
    {
      ...endpointFields("The URL of the router.", "https://192.168.1.1"),
      user: usually(text("The user of rpcd.", "moor"), "root"),
      password: needed(secret("The password of that user.")),
    },
    {
      title: "Source: openwrt",
      description:
        "An OpenWrt router, through ubus over HTTPS. Its devices are the interfaces of its network settings: wan, wan6, lan.",
      schema: { examples: [{ kind: "openwrt", url: "https://192.168.1.1", password: { file: "secrets/router" } }] },
      checkKeys: oneTrust,
      transform: withTrust,
    },
  ),
  can: { push: false, prefix: true, lifetimes: true },
  open: async (config: OpenwrtSource, connect) => createOpenwrtSource(config, await connect(config)),
} satisfies SourceKind<OpenwrtSource>;

/** Milliseconds. */
const longestLogout = 1_000;

/** The session of a caller that has not logged in. */
const noSession = "0".repeat(32);

function createOpenwrtSource(config: OpenwrtSource, client: HttpClient): AddressSource {
  const path = /\/ubus\/?$/.test(config.url.pathname) ? "" : "/ubus";
  let session: string | undefined;

  const call = async (as: string, object: string, method: string, args: object, signal: AbortSignal) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "call", params: [as, object, method, args] });
    const headers = { "content-type": "application/json" };
    return resultOf(readJson(await client.send({ method: "POST", path, headers, body }, signal), router, words));
  };
  const login = async (signal: AbortSignal): Promise<SourceReading | undefined> => {
    const { user: username, password } = config;
    const result = await call(noSession, "session", "login", { username, password: password() }, signal);
    if (result.kind === "unavailable") return result;
    if (result.kind === "denied") return unavailable(...wrongPassword(username));
    const id = isObject(result.data) ? result.data.ubus_rpc_session : undefined;
    if (typeof id !== "string" || id === "") return unavailable(`${router} did not open a session`, "see its log");
    session = id;
    return undefined;
  };
  const dump = (signal: AbortSignal) => call(session ?? noSession, "network.interface", "dump", {}, signal);

  return {
    async read(signal) {
      const isFresh = session === undefined;
      const refused = isFresh ? await login(signal) : undefined;
      if (refused) return refused;
      let result = await dump(signal);
      // The session has expired, or the router has restarted. Only one retry: a user without the permission is denied
      // every time.
      if (result.kind === "denied" && !isFresh) {
        session = undefined;
        const again = await login(signal);
        if (again) return again;
        result = await dump(signal);
      }
      if (result.kind === "unavailable") return result;
      if (result.kind === "denied") {
        session = undefined;
        return unavailable(...notAllowed(config.user));
      }
      const read = readInterfaceDump(result.data);
      return read.kind === "report"
        ? read
        : unavailable(`the answer of ${router} is malformed: ${read.because}`, "update it");
    },
    follow: neverPushes,
    close() {
      if (session === undefined) return client.close();
      // The router allows only a few sessions, each for minutes. If it refuses, the session expires.
      const signal = AbortSignal.timeout(longestLogout);
      void call(session, "session", "destroy", {}, signal).finally(() => client.close());
    },
  };
}

const router = "the OpenWrt router";

type CallResult =
  | { readonly kind: "data"; readonly data: unknown }
  | { readonly kind: "denied" }
  | Extract<SourceReading, { readonly kind: "unavailable" }>;

/** Access is denied in two ways: by uhttpd (a JSON-RPC code), and by the called object (a ubus status). */
function resultOf(read: ReturnType<typeof readJson>): CallResult {
  if (read.kind === "unavailable") return read;
  const { error, result } = isObject(read.value) ? read.value : {};
  const code = isObject(error) ? error.code : undefined;
  const [status, data] = Array.isArray(result) ? (result as readonly unknown[]) : [];
  if (code === accessDenied || code === noSuchSession || status === permissionDenied) return { kind: "denied" };
  if (status === 0) return { kind: "data", data };
  const what =
    typeof code === "number" ? `error ${code}` : typeof status === "number" ? `ubus status ${status}` : "no result";
  return unavailable(`${router} answered with ${what}`, "check that rpcd and netifd are running there") as CallResult;
}

const accessDenied = -32_002;
const noSuchSession = -32_001;
const permissionDenied = 6;

const wrongPassword = (user: string) =>
  [
    `${router} rejected the user ${user} or the password`,
    "correct `user:` and the file with the password; the user must have a `config login` in /etc/config/rpcd",
  ] as const;

const notAllowed = (user: string) =>
  [
    `the user ${user} may not read the interfaces of ${router}`,
    "allow `network.interface dump` for this user in a file in /usr/share/rpcd/acl.d, then restart rpcd",
  ] as const;

const words: StatusWords = {
  404: [`${router} has no ubus at this URL (404)`, "install uhttpd-mod-ubus and rpcd there, or correct the URL"],
};

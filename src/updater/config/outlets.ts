import type { OidcRule, OidcSettings } from "../../access/oidc/settings.ts";
import type { ServiceLink } from "../../contract/console.ts";
import { parseAddress } from "../../core/addresses/address.ts";
import { hereOf, type ListenAddress, urlOf } from "../../lib/http/listen.ts";
import { kindsOf, mapping, needed, usually } from "../../lib/settings/mapping.ts";
import {
  choice,
  duration,
  listOf,
  missing,
  oneOrMore,
  path,
  refined,
  type SettingType,
  text,
  typeInWords,
} from "../../lib/settings/setting.ts";
import { endpointFields, oneTrust, trustFields, webAddress, withTrust } from "./endpoint.ts";
import { program } from "./rules.ts";
import { headerSecret, password, readTextFile, type Secret, secret } from "./secret.ts";

const events = ["changed", "failing", "over"] as const;
export type OutletEvent = (typeof events)[number];

const eventsSetting = (usual: string) =>
  listOf(
    choice(events, "A replaced record, a failure, or its end."),
    `When a record was replaced, a failure has lasted for a minute, or it is over. Default: ${usual}.`,
  );

const onNotice = { on: eventsSetting("`[failing, over]`") };

const overHttp = (title: string, url: string, example: string) =>
  mapping(
    { ...endpointFields(url, example, true), token: headerSecret("Sent as `Authorization: Bearer`."), ...onNotice },
    { title, checkKeys: oneTrust, transform: withTrust },
  );

const mailServer = refined(
  text("The mail server. With `smtp:`, STARTTLS is used if the server offers it.", "smtps://mail.example.org", {
    pattern: "^smtps?://",
    [typeInWords]: "URL",
  }),
  (written, { what, fault }) => {
    const server = URL.canParse(written) ? new URL(written) : undefined;
    if (server && /^smtps?:$/.test(server.protocol) && !server.username && !server.password) return server;
    const todo = "write smtps://host or smtp://host:587; put the user and password in `user:` and `password:`";
    return fault({ code: "bad-url", message: `${what} is not the URL of a mail server`, todo });
  },
);

const mail = mapping(
  {
    server: needed(mailServer),
    user: text("The user name, if the server requires one.", "me"),
    password: secret("The user's password."),
    from: needed(text("The sender.", "me@example.org")),
    to: needed(oneOrMore(text("The recipient, or a list of them.", "me@example.org"), "add at least one mail address")),
    ...onNotice,
  },
  {
    title: "Notify: mail",
    of: "mail",
    needsAll: true,
    checkKeys(presentKeys) {
      if (presentKeys.includes("user") === presentKeys.includes("password")) return [];
      const lack = presentKeys.includes("user") ? "mail has a user but no password" : "mail has a password but no user";
      return [missing(lack, "set both, or neither if the server requires none")];
    },
  },
);

const notice = kindsOf(
  "kind",
  {
    webhook: overHttp(
      "Notify: webhook",
      "The URL that receives a POST request with JSON.",
      "https://chat.example.org/hook",
    ),
    ntfy: overHttp("Notify: ntfy", "The URL of the topic.", "https://ntfy.sh/my-secret-topic"),
    mail,
  },
  { description: "How notices are sent.", what: (kind) => `notify by ${kind}` },
);

/**
 * `notify:`, a list of places that are notified when something fails, when it is over, or when a record was replaced.
 */
export const notifySettings = listOf(notice, "Where to send notices of failures, of their end, and of changes.");

export type NotifyConfig = SettingType<typeof notice>;
export type MailConfig = SettingType<typeof mail>;

const onlyChanged: readonly OutletEvent[] = ["changed"];

const run = mapping(
  {
    command: needed(
      program("The program. For arguments, write a list; no shell is used.", "/usr/local/bin/address-changed"),
    ),
    on: eventsSetting("`[changed]`"),
    timeout: usually(duration("How long the program may take before it is killed.", "1m"), "30s"),
  },
  {
    title: "Run",
    description: "Starts a program when a record was replaced; its environment says which.",
    transform: ({ on = onlyChanged, ...rest }) => ({ ...rest, on }),
  },
);

/** `run:`, one mapping or a list of them. */
export const runSettings = oneOrMore(run);

export type RunConfig = SettingType<typeof run>;

const heartbeat = mapping(
  {
    kind: choice(["healthchecks", "uptime-kuma"], "The service. Default: recognised by the URL."),
    ...endpointFields("The URL to ping.", "https://hc-ping.com/…", true),
    every: usually(duration("How often to ping.", "10m"), "5m"),
  },
  {
    title: "Heartbeat",
    description: "Pings healthchecks.io or Uptime Kuma, which raise an alarm when the pings stop.",
    checkKeys: oneTrust,
    transform: (value, place) => ({ ...withTrust(value, place), kind: value.kind ?? kindOf(value.url) }),
  },
);

const kindOf = ({ pathname }: URL) => (pathname.includes("/api/push/") ? "uptime-kuma" : "healthchecks");

/** `heartbeat:`, one mapping or a list of them. */
export const heartbeatSettings = oneOrMore(heartbeat);

export type HeartbeatConfig = SettingType<typeof heartbeat>;

const listen = refined(
  text(
    "An address of this machine and a port. If other machines can reach it, `password` is required.",
    "127.0.0.1:9053",
  ),
  (written, { fault }) => {
    const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(written) ?? [];
    const host = bracketed ?? plain ?? "";
    const family = parseAddress(host)?.family;
    const isHost = bracketed === undefined ? host === "localhost" || family === "ipv4" : family === "ipv6";
    if (isHost && Number(digits) <= 65_535) return { host, port: Number(digits) };
    const todo =
      "write 127.0.0.1:9053 or [::1]:9053 for this machine only, 0.0.0.0:9053 or [::]:9053 for all addresses";
    return fault({ code: "bad-listen", message: `${written} is not an address with a port`, todo });
  },
);

const readableFile = (description: string, example: string) =>
  refined(path(description, example), (file, place) =>
    readTextFile(file, place) === undefined ? undefined : place.reading.resolve(file),
  );

const pageUrl = (description: string, example: string) =>
  refined(text(description, example, { pattern: "^https?://", [typeInWords]: "URL" }), (written, { what, fault }) => {
    if (/^https?:$/.test(URL.parse(written)?.protocol ?? "")) return written;
    return fault({ code: "bad-url", message: `${what} is not a URL`, todo: `write a URL such as ${example}` });
  });

const links = mapping(
  {
    dns: pageUrl("The DNS console.", "https://dns.example.org:8053"),
    firewall: pageUrl("The pages of the firewall.", "https://router.example.org:8443"),
  },
  {
    title: "Control: links",
    description: "Other pages of moor that the updater's page links to.",
    transform: ({ dns, firewall }): readonly ServiceLink[] => [
      ...(dns === undefined ? [] : [{ service: "records" as const, url: dns, together: false }]),
      ...(firewall === undefined ? [] : [{ service: "firewall" as const, url: firewall, together: false }]),
    ],
  },
);

const role = choice(
  ["full", "read"],
  "`full`: everything that the account may do. `read`: look, and change nothing.",
  "full",
);

const oidcRule = mapping(
  {
    group: text("Users in this group: a value of the claim `groups`.", "dns-admins"),
    claim: text("Users with this claim; a dot for a claim inside another one.", "realm_access.roles"),
    value: text("The value of the claim.", "dns-admins"),
    account: text(
      "The DNS account or the user of the firewall that they sign in as; it is created if it does not exist. Default: the owner, `main` or `root`.",
      "main",
    ),
    role: usually(role, "full"),
  },
  {
    title: "Sign-in rule",
    description: "Who may sign in, and as what. The first rule that fits a user counts.",
    checkKeys(presentKeys, what) {
      const [byGroup, byClaim] = [
        presentKeys.includes("group"),
        presentKeys.includes("claim") && presentKeys.includes("value"),
      ];
      if (byGroup ? !presentKeys.includes("claim") && !presentKeys.includes("value") : byClaim) return [];
      return [missing(`${what} names no users`, "write `group: NAME`, or `claim: NAME` and `value: TEXT`")];
    },
    transform: ({ group, claim, value, account, role: as }): OidcRule => ({
      claim: group === undefined ? (claim ?? "") : "groups",
      value: group ?? value ?? "",
      account,
      role: as,
    }),
  },
);

const usualScopes = ["openid", "profile", "email", "groups"];

/** `oidc:`, and the content of the file that `--oidc` names. */
export const oidcSettings = mapping(
  {
    issuer: needed(webAddress("The issuer, exactly as the provider writes it.", "https://auth.example.org")),
    client: needed(text("The client ID.", "moor")),
    secret: needed(secret("The client secret.")),
    name: text("What the button is called. Default: the host of the issuer.", "Authelia"),
    scopes: listOf(
      text("A scope.", "offline_access"),
      "The scopes to ask for, if the provider has them. Default: `[openid, profile, email, groups]`.",
    ),
    allow: needed(oneOrMore(oidcRule, "allow at least one group")),
    ...trustFields,
  },
  {
    title: "OpenID Connect",
    description: "An identity provider at which people can sign in to the pages.",
    checkKeys: oneTrust,
    transform: (value, place): OidcSettings => {
      const { name = value.issuer.host, scopes = usualScopes, ...rest } = withTrust(value, place);
      return { ...rest, name, scopes: scopes.includes("openid") ? scopes : ["openid", ...scopes] };
    },
  },
);

/** `control: { listen: 127.0.0.1:9053, token: { file: … } }`. */
export const controlSettings = mapping(
  {
    listen: needed(listen),
    token: needed(
      headerSecret(
        "The token for `POST /check`. If there is a password, /status and /metrics need the password or this token.",
      ),
    ),
    password: password(
      "The password of the page. With it, everything is served over HTTPS, other machines can be allowed to connect, and names can be changed on the page.",
    ),
    cert: readableFile(
      "The certificate for HTTPS, followed by its chain. Default: one issued by moor's private authority.",
      "page.pem",
    ),
    key: readableFile("The key of that certificate.", "page.key"),
    links,
    oidc: oidcSettings,
  },
  {
    title: "Control",
    description: "Where `moor update` serves its page, /status, /metrics, /health/live, /health/ready and POST /check.",
    needsAll: true,
    checkKeys(presentKeys) {
      if (presentKeys.includes("cert") !== presentKeys.includes("key"))
        return [missing("control needs both cert and key, or neither", "add the other one")];
      const lacks = presentKeys.includes("password")
        ? undefined
        : ["cert", "oidc"].find((key) => presentKeys.includes(key));
      if (lacks === undefined) return [];
      const what = lacks === "cert" ? "a certificate" : "an identity provider";
      return [missing(`control has ${what} but no password`, passwordTodo)];
    },
    transform({ listen, token, password, cert, key, links: linked, oidc }, { fault }): ControlConfig | undefined {
      if (password === undefined && !isLoopback(listen.host)) {
        const message = `other machines can reach ${listen.host}, and the page has no password`;
        return fault({ code: "no-password", message, todo: `${passwordTodo}; or listen on 127.0.0.1` }, "listen");
      }
      const certificate = cert !== undefined && key !== undefined && { cert, key };
      const others = linked && linked.length > 0 && { links: linked };
      return {
        ...listen,
        token,
        ...(password && { password }),
        ...(certificate && { certificate }),
        ...others,
        ...(oidc && { oidc }),
      };
    },
  },
);

const passwordTodo =
  "put a password of at least 12 characters in a file that only you can read (chmod 600), and add `password: { file: secrets/page-password }`";

const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || host.startsWith("127.");

/** Where `moor update` listens for browsers and programs. */
export type ControlConfig = ListenAddress & {
  readonly token: Secret;
  /** Absent if the page needs no sign-in. */
  readonly password?: Secret;
  /** Instead of one from the private authority next to the state file. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** Other pages of moor, for the switcher. */
  readonly links?: readonly ServiceLink[];
  /** The identity provider at which people can sign in to the page. */
  readonly oidc?: OidcSettings;
};

/** The URL of the page on this machine: with HTTPS only if there is a password. */
export const controlUrl = (control: ControlConfig): string =>
  urlOf(hereOf(control), control.password ? "https" : "http");

import { parseAddress } from "../../core/addresses/address.ts";
import { kindsOf, mapping, needed, usually } from "../../process/settings/mapping.ts";
import {
  choice,
  duration,
  listOf,
  missing,
  oneOrMore,
  refined,
  text,
  typeInWords,
  type Value,
} from "../../process/settings/setting.ts";
import { endpointFields, oneTrust, withTrust } from "./endpoint.ts";
import { secret } from "./secret.ts";

const overHttp = (title: string, url: string, example: string) =>
  mapping(
    { ...endpointFields(url, example, true), token: secret("Sent as `Authorization: Bearer`.") },
    { title, keys: oneTrust, turn: withTrust },
  );

const mailServer = refined(
  text("The mail server; with `smtp:` STARTTLS is used where it is offered.", "smtps://mail.example.org", {
    pattern: "^smtps?://",
    [typeInWords]: "URL",
  }),
  (written, { what, fault }) => {
    const server = URL.canParse(written) ? new URL(written) : undefined;
    if (server && /^smtps?:$/.test(server.protocol) && !server.username && !server.password) return server;
    const todo = "write smtps://host or smtp://host:587; user and password have settings of their own";
    return fault({ code: "bad-url", message: `${what} is no mail server`, todo });
  },
);

const mail = mapping(
  {
    server: needed(mailServer),
    user: text("Where the server asks for one.", "me"),
    password: secret("The user's password."),
    from: needed(text("The sender.", "me@example.org")),
    to: needed(oneOrMore(text("The recipient, or a list of them.", "me@example.org"), "name one mail address or more")),
  },
  {
    title: "Notify: mail",
    of: "mail",
    needsAll: true,
    keys(given) {
      if (given.includes("user") === given.includes("password")) return [];
      const lack = given.includes("user") ? "mail has a user and no password" : "mail has a password and no user";
      return [missing(lack, "give both, or neither where the server asks for none")];
    },
  },
);

const notice = kindsOf(
  "kind",
  {
    webhook: overHttp("Notify: webhook", "Gets a POST request with JSON.", "https://chat.example.org/hook"),
    ntfy: overHttp("Notify: ntfy", "The topic.", "https://ntfy.sh/my-secret-topic"),
    mail,
  },
  { description: "How it is sent.", what: (kind) => `notify by ${kind}` },
);

/** `notify:`, a list of places that hear when something fails and when that is over. */
export const notifySettings = listOf(
  notice,
  "Who is notified of each failure that lasts for a minute, and of its end.",
);

export type NotifyConfig = Value<typeof notice>;
export type MailConfig = Value<typeof mail>;

const heartbeat = mapping(
  {
    kind: choice(["healthchecks", "uptime-kuma"], "Which service it is. Without it, the url decides."),
    ...endpointFields("The address to ping.", "https://hc-ping.com/…", true),
    every: usually(duration("How often to ping.", "10m"), "5m"),
  },
  {
    title: "Heartbeat",
    description: "Pings healthchecks.io or Uptime Kuma, which raise the alarm when nothing comes any more.",
    keys: oneTrust,
    turn: (value, place) => ({ ...withTrust(value, place), kind: value.kind ?? kindOf(value.url) }),
  },
);

const kindOf = ({ pathname }: URL) => (pathname.includes("/api/push/") ? "uptime-kuma" : "healthchecks");

/** `heartbeat:`, one mapping or a list of them. */
export const heartbeatSettings = oneOrMore(heartbeat);

export type HeartbeatConfig = Value<typeof heartbeat>;

/** This machine only, since what it answers is not encrypted. */
const listen = refined(text("A port of this machine itself.", "127.0.0.1:9053"), (written, { fault }) => {
  const [, host, digits] = /^(127\.0\.0\.\d{1,3}|\[::1\]|localhost):(\d{1,5})$/.exec(written) ?? [];
  const port = Number(digits);
  if (host !== undefined && (!host.startsWith("127.") || parseAddress(host)) && port <= 65_535) {
    return { host: host.replaceAll(/[[\]]/g, ""), port };
  }
  const todo = "write 127.0.0.1:9053 or [::1]:9053; a proxy can make it reachable from elsewhere";
  return fault({ code: "bad-listen", message: `${written} is no port of this machine itself`, todo });
});

/** `control: { listen: 127.0.0.1:9053, token: { file: … } }`. */
export const controlSettings = mapping(
  { listen: needed(listen), token: needed(secret("The token that `POST /check` needs.")) },
  {
    title: "Control",
    description: "Where the watcher answers: /status, /metrics, /health/live, /health/ready, and POST /check.",
    needsAll: true,
    turn: ({ listen, token }) => ({ ...listen, token }),
  },
);

export type ControlConfig = Value<typeof controlSettings>;

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
  },
  {
    title: "Notify: mail",
    of: "mail",
    needsAll: true,
    keys(given) {
      if (given.includes("user") === given.includes("password")) return [];
      const lack = given.includes("user") ? "mail has a user but no password" : "mail has a password but no user";
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

/** `notify:`, a list of places that are notified when something fails and when it is over. */
export const notifySettings = listOf(notice, "Who is notified when a failure lasts for a minute, and when it is over.");

export type NotifyConfig = Value<typeof notice>;
export type MailConfig = Value<typeof mail>;

const heartbeat = mapping(
  {
    kind: choice(["healthchecks", "uptime-kuma"], "Which service it is. By default, the URL decides."),
    ...endpointFields("The URL to ping.", "https://hc-ping.com/…", true),
    every: usually(duration("How often to ping.", "10m"), "5m"),
  },
  {
    title: "Heartbeat",
    description: "Pings healthchecks.io or Uptime Kuma, which raise an alarm when the pings stop.",
    keys: oneTrust,
    turn: (value, place) => ({ ...withTrust(value, place), kind: value.kind ?? kindOf(value.url) }),
  },
);

const kindOf = ({ pathname }: URL) => (pathname.includes("/api/push/") ? "uptime-kuma" : "healthchecks");

/** `heartbeat:`, one mapping or a list of them. */
export const heartbeatSettings = oneOrMore(heartbeat);

export type HeartbeatConfig = Value<typeof heartbeat>;

/** Loopback only, because the answers are not encrypted. */
const listen = refined(text("A loopback address and a port.", "127.0.0.1:9053"), (written, { fault }) => {
  const [, host, digits] = /^(127\.0\.0\.\d{1,3}|\[::1\]|localhost):(\d{1,5})$/.exec(written) ?? [];
  const port = Number(digits);
  if (host !== undefined && (!host.startsWith("127.") || parseAddress(host)) && port <= 65_535) {
    return { host: host.replaceAll(/[[\]]/g, ""), port };
  }
  const todo = "write 127.0.0.1:9053 or [::1]:9053; use a proxy to reach it from other machines";
  return fault({ code: "bad-listen", message: `${written} is not a loopback address with a port`, todo });
});

/** `control: { listen: 127.0.0.1:9053, token: { file: … } }`. */
export const controlSettings = mapping(
  { listen: needed(listen), token: needed(secret("The token that `POST /check` needs.")) },
  {
    title: "Control",
    description: "Where `moor update` serves its page, /status, /metrics, /health/live, /health/ready and POST /check.",
    needsAll: true,
    turn: ({ listen, token }) => ({ ...listen, token }),
  },
);

export type ControlConfig = Value<typeof controlSettings>;

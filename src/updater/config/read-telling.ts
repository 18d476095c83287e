import { parseAddress } from "../../core/addresses/address.ts";
import type { Endpoint } from "../http/endpoint.ts";
import type { ControlConfig, HeartbeatConfig, MailConfig, NotifyConfig } from "./config.ts";
import { readChoice } from "./read-choice.ts";
import { readDuration } from "./read-duration.ts";
import { endpointKeys, missing, readEndpoint } from "./read-endpoint.ts";
import { readSecret, type Surroundings } from "./read-secret.ts";
import type { Fields, Spot, YamlReader } from "./yaml-reader.ts";

/** `notify:`, a list of places that are told when something fails and when that is over. */
export function readNotify(yaml: YamlReader, at: Spot, around: Surroundings): readonly NotifyConfig[] {
  return yaml.items(at, "notify").flatMap((item) => readNotice(yaml, item, around) ?? []);
}

const overHttp = ["kind", ...endpointKeys, "token"] as const;
const byMail = ["kind", "server", "user", "password", "from", "to"] as const;
const settingsOf = { webhook: overHttp, ntfy: overHttp, mail: byMail };
const kinds = ["webhook", "ntfy", "mail"] as const;
const ofAnyKind = [...new Set([...overHttp, ...byMail])];
type Setting = (typeof ofAnyKind)[number];

function readNotice(yaml: YamlReader, item: Spot, around: Surroundings): NotifyConfig | undefined {
  const spot = yaml.isMapping(item) ? new Map(yaml.entries(item, "notify")).get("kind") : undefined;
  const kind = spot?.node ? readChoice(yaml, spot, "kind of notify", kinds) : undefined;
  const what = kind === undefined ? "an entry of notify" : `notify by ${kind}`;
  const fields = yaml.fields<Setting>(item, what, kind === undefined ? ofAnyKind : settingsOf[kind]);
  if (!fields) return undefined;
  if (!spot?.node) return yaml.fault(item, missing(`${what} has no kind`, `add \`kind: ${kinds.join("|")}\``));
  if (kind === undefined) return undefined;
  if (kind === "mail") return readMail(yaml, fields, around);
  const endpoint = readEndpoint(yaml, fields, what, around, true);
  const tokenSpot = fields.get("token");
  const token = tokenSpot && readSecret(yaml, tokenSpot, `token of ${what}`, around);
  return endpoint && { kind, endpoint, ...(token ? { token } : {}) };
}

function readMail(yaml: YamlReader, fields: Fields<Setting>, around: Surroundings): MailConfig | undefined {
  const { self: item } = fields;
  const serverSpot = fields.get("server");
  const fromSpot = fields.get("from");
  const toSpot = fields.get("to");
  if (!serverSpot || !fromSpot || !toSpot) {
    return yaml.fault(item, missing("mail needs server, from and to", "add `server: smtps://mail.example.org`"));
  }
  const text = yaml.text(serverSpot, "server of mail") ?? "";
  const server = URL.canParse(text) ? new URL(text) : undefined;
  if (!server || !/^smtps?:$/.test(server.protocol) || server.username || server.password) {
    const todo = "write smtps://host or smtp://host:587; user and password have settings of their own";
    return yaml.fault(serverSpot, { code: "bad-url", message: "server of mail is no mail server", todo });
  }
  const userSpot = fields.get("user");
  const passwordSpot = fields.get("password");
  const user = userSpot && yaml.text(userSpot, "user of mail");
  const password = passwordSpot && readSecret(yaml, passwordSpot, "password of mail", around);
  const from = yaml.text(fromSpot, "from of mail");
  const to = (yaml.isList(toSpot) ? yaml.items(toSpot, "to of mail") : [toSpot]).flatMap(
    (spot) => yaml.text(spot, "to of mail") ?? [],
  );
  if (yaml.isList(toSpot) && yaml.items(toSpot, "to of mail").length === 0) {
    return yaml.fault(toSpot, missing("to of mail is an empty list", "name one mail address or more"));
  }
  if (!userSpot !== !passwordSpot) {
    const lack = userSpot ? "mail has a user and no password" : "mail has a password and no user";
    return yaml.fault(item, missing(lack, "give both, or neither where the server asks for none"));
  }
  if (from === undefined || to.length === 0) return undefined;
  return { kind: "mail", server, from, to, ...(user ? { user } : {}), ...(password ? { password } : {}) };
}

/** `heartbeat:`, one mapping or a list of them. */
export function readHeartbeats(yaml: YamlReader, at: Spot, around: Surroundings): readonly HeartbeatConfig[] {
  const items = yaml.isList(at) ? yaml.items(at, "heartbeat") : [at];
  return items.flatMap((item) => {
    const fields = yaml.fields(item, "heartbeat", ["kind", ...endpointKeys, "every"]);
    if (!fields) return [];
    const endpoint = readEndpoint(yaml, fields, "heartbeat", around, true);
    const [kindSpot, everySpot] = [fields.get("kind"), fields.get("every")];
    const kinds = ["healthchecks", "uptime-kuma"] as const;
    const kind = kindSpot ? readChoice(yaml, kindSpot, "kind of heartbeat", kinds) : guessKind(endpoint);
    const every = everySpot ? readDuration(yaml, everySpot, "every of heartbeat") : 300_000;
    return endpoint && kind && every ? [{ kind, endpoint, every }] : [];
  });
}

const guessKind = (endpoint: Endpoint | undefined) =>
  endpoint?.url.pathname.includes("/api/push/") ? "uptime-kuma" : "healthchecks";

/** `control: { listen: 127.0.0.1:9053, token: { file: … } }`; this machine only, since what it answers is not encrypted. */
export function readControl(yaml: YamlReader, at: Spot, around: Surroundings): ControlConfig | undefined {
  const fields = yaml.fields(at, "control", ["listen", "token"]);
  const [listenSpot, tokenSpot] = [fields?.get("listen"), fields?.get("token")];
  if (!fields || !listenSpot || !tokenSpot) {
    return yaml.fault(at, missing("control needs listen and token", "add `listen: 127.0.0.1:9053` and a token"));
  }
  const token = readSecret(yaml, tokenSpot, "token of control", around);
  const text = yaml.text(listenSpot, "listen of control") ?? "";
  const [, host, digits] = /^(127\.0\.0\.\d{1,3}|\[::1\]|localhost):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  const isNumber = host?.startsWith("127.");
  if (host === undefined || (isNumber && !parseAddress(host)) || port > 65_535) {
    const todo = "write 127.0.0.1:9053 or [::1]:9053; a proxy can make it reachable from elsewhere";
    return yaml.fault(listenSpot, { code: "bad-listen", message: `${text} is no port of this machine itself`, todo });
  }
  return token && { host: host.replaceAll(/[[\]]/g, ""), port, token };
}

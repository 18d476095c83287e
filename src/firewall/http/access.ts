import { hostname } from "node:os";
import { createFewLines } from "../../lib/limits/few-lines.ts";
import type { Logger } from "../../process/log.ts";
import type { Actor } from "../access/audit.ts";
import { shortKey } from "../access/keys.ts";
import { countingFrom, excessOf, openStandings, type Standing } from "../access/may-manage.ts";
import { displayNames, type EndpointName, endpoints, type Privilege, privileges } from "../access/privileges.ts";
import type { AccessStore } from "../access/store.ts";
import * as answers from "./answers.ts";
import type { Call, Endpoint } from "./call.ts";
import { askedPage } from "./page-rows.ts";

/** Management of users' keys and privileges, as OPNsense has it since 25.1. */
export function accessEndpoints(access: AccessStore, log: Logger, now: () => Date) {
  const { keys, users, groups, audit } = access;
  const standings = openStandings(access);
  const few = createFewLines(
    () => now().getTime(),
    (count) => log.warn({ count }, "more calls were refused"),
  );
  const isTooMuch = (call: Call, wish: { before?: Standing; after?: Standing }, subject: string): boolean => {
    const actor = countingFrom(keys.standing(call.key.key) ?? { grants: [] }, call.from);
    const excess = excessOf(actor, wish);
    const fields = { from: call.from, name: call.key.name, subject, excess };
    if (excess !== undefined) few(() => log.warn(fields, "call refused: the key may not manage this user"));
    return excess !== undefined;
  };
  return {
    "auth/user/add_api_key": async (call) => {
      const user = call.parameters[0] ?? "";
      const found = call.request.method === "POST" ? users.find(user) : undefined;
      if (found && isTooMuch(call, { after: standings.ofUser(found) }, user)) return answers.forbidden;
      const made = found && keys.addFor(user, undefined, now());
      if (made === undefined) return result("failed");
      audit.note(actorOf(call), "key added", `${shortKey(made.key)} of ${user}`, now());
      return answers.json({ result: "ok", hostname: hostname(), key: made.key, secret: made.secret });
    },
    "auth/user/search_api_key": async ({ request }) => {
      const inForce = keys.list().filter(({ revoked }) => revoked === undefined);
      const rows = inForce.map(({ name, key }) => ({ username: name, key, id: Buffer.from(key).toString("base64") }));
      return answers.json(await askedPage(request, rows));
    },
    "auth/user/del_api_key": async (call) => {
      if (call.request.method !== "POST") return result("failed");
      const key = Buffer.from(call.parameters[0] ?? "", "base64").toString("latin1");
      const found = keys.list().find((each) => each.key === key && each.revoked === undefined);
      if (found === undefined) return result("not found");
      if (isTooMuch(call, { before: keys.standing(key) ?? { grants: [] } }, found.name)) return answers.forbidden;
      keys.revoke(key, now());
      audit.note(actorOf(call), "key deleted", `${shortKey(key)} of ${found.name}`, now());
      return result("deleted");
    },
    "auth/priv/search": async ({ request }) => {
      const rows = privileges.map((id) => ({
        id,
        name: displayNames[id],
        match: pathsOf(id).join("\n"),
        users: holders(users.list(), id),
        groups: holders(groups.list(), id),
      }));
      return answers.json(await askedPage(request, rows));
    },
  } satisfies Partial<Record<EndpointName, Endpoint>>;
}

const result = (word: string): answers.Answer => answers.json({ result: word });

const actorOf = ({ key, from }: Call): Actor => ({ name: key.name, source: from });

const pathsOf = (privilege: Privilege): readonly string[] =>
  privilege === "all"
    ? ["*"]
    : Object.entries(endpoints).flatMap(([path, id]) => (id === privilege ? [`api/${path}`] : []));

const holders = (
  list: readonly { readonly name: string; readonly privileges: readonly Privilege[] }[],
  id: Privilege,
) => list.filter(({ privileges: held }) => held.includes(id)).map(({ name }) => name);

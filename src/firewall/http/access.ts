import { hostname } from "node:os";
import type { AuditActor } from "../access/audit.ts";
import { shortKey } from "../access/keys.ts";
import { displayNames, type EndpointName, endpoints, type Privilege, privileges } from "../access/privileges.ts";
import type { AccessStore } from "../access/store.ts";
import * as answers from "./answers.ts";
import type { Call, EndpointHandler } from "./call.ts";
import { pageOfRequest } from "./page-rows.ts";

/** Management of users' keys and privileges, as OPNsense has it since 25.1. */
export function accessEndpoints(access: AccessStore, now: () => Date) {
  const { keys, users, audit } = access;
  return {
    "auth/user/add_api_key": async (call) => {
      const user = call.parameters[0] ?? "";
      const made = call.request.method === "POST" ? keys.addFor(user, undefined, now()) : undefined;
      if (made === undefined) return result("failed");
      audit.note(actorOf(call), "key added", `${shortKey(made.key)} of ${user}`, now());
      return answers.json({ result: "ok", hostname: hostname(), key: made.key, secret: made.secret });
    },
    "auth/user/search_api_key": async ({ request }) => {
      const inForce = keys.list().filter(({ revoked }) => revoked === undefined);
      const rows = inForce.map(({ name, key }) => ({ username: name, key, id: Buffer.from(key).toString("base64") }));
      return answers.json(await pageOfRequest(request, rows));
    },
    "auth/user/del_api_key": async (call) => {
      if (call.request.method !== "POST") return result("failed");
      const key = Buffer.from(call.parameters[0] ?? "", "base64").toString("latin1");
      const storedKey = keys.list().find((each) => each.key === key && each.revoked === undefined);
      if (storedKey === undefined) return result("not found");
      keys.revoke(key, now());
      audit.note(actorOf(call), "key deleted", `${shortKey(key)} of ${storedKey.name}`, now());
      return result("deleted");
    },
    "auth/priv/search": async ({ request }) => {
      const rows = privileges.map((id) => ({
        id,
        name: displayNames[id],
        match: pathsOf(id).join("\n"),
        users: users
          .list()
          .flatMap(({ name, privileges: userPrivileges }) => (userPrivileges.includes(id) ? [name] : [])),
        groups: [],
      }));
      return answers.json(await pageOfRequest(request, rows));
    },
  } satisfies Partial<Record<EndpointName, EndpointHandler>>;
}

const result = (word: string): answers.FirewallAnswer => answers.json({ result: word });

const actorOf = ({ key, from }: Call): AuditActor => ({ name: key.name, source: from });

const pathsOf = (privilege: Privilege): readonly string[] =>
  privilege === "all"
    ? ["*"]
    : Object.entries(endpoints).flatMap(([path, id]) => (id === privilege ? [`api/${path}`] : []));

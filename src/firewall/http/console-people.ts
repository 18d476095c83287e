import { hostname } from "node:os";
import { hashSecret } from "../../access/secret.ts";
import type {
  AuditLine,
  ConsolePeople,
  MadeKey,
  NewUserInput,
  UserField,
  UserInput,
} from "../../contract/console-firewall.ts";
import { parseNetwork } from "../../core/addresses/network.ts";
import type { AuditActor } from "../access/audit.ts";
import { type ApiKey, shortKey } from "../access/keys.ts";
import { displayNames, isFrom, isPrivilege, presets, privileges } from "../access/privileges.ts";
import type { AccessStore } from "../access/store.ts";
import { nameFault } from "../access/users.ts";

/** The result of a change: done, or what is wrong with it. */
export type PeopleOutcome = "done" | { readonly made: MadeKey } | Wrong | "missing";
type Wrong = { readonly wrong: string; readonly field?: UserField };

/** Users and keys as the pages manage them. Every change is in the audit log. */
export type PeopleTools = { readonly access: AccessStore; readonly now: () => Date };

export function listPeople({ access }: PeopleTools): ConsolePeople {
  const { users } = access;
  const keys = keysInForce(access);
  return {
    users: users.list().map((user) => ({
      ...user,
      expires: user.expires?.toISOString() ?? null,
      created: user.created.toISOString(),
      keys: keys.filter(({ name }) => name === user.name).map(toConsoleKey),
    })),
    privileges: privileges.map((id) => ({ id, name: displayNames[id] })),
    presets,
  };
}

export function addUser(tools: PeopleTools, input: NewUserInput, by: AuditActor): PeopleOutcome {
  const badName = nameFault(input.name);
  const wrong = badName === undefined ? userFault(input) : wrongIn("name", badName);
  if (wrong !== undefined) return wrong;
  if (!tools.access.users.add({ name: input.name, now: tools.now(), ...toChange(input) }))
    return wrongIn("name", `A user ${input.name} already exists.`);
  note(tools, by, "user added", described(input));
  return input.withKey === true ? addKey(tools, input.name, by) : "done";
}

/** Fields that are left out stay unchanged. */
export async function changeUser(
  tools: PeopleTools,
  name: string,
  change: Partial<UserInput>,
  by: AuditActor,
): Promise<PeopleOutcome> {
  const { users, sessions } = tools.access;
  const user = users.find(name);
  if (user === undefined) return "missing";
  const input = { ...user, expires: user.expires?.toISOString() ?? null, ...change };
  const wrong = userFault(input) ?? (name === by.name ? shutOut(input, by, tools.now()) : undefined);
  if (wrong !== undefined) return wrong;
  users.change(name, toChange(input));
  if (input.disabled) await sessions.removeAll(name);
  return note(tools, by, "user changed", described({ ...input, name }));
}

export async function removeUser(tools: PeopleTools, name: string, by: AuditActor): Promise<PeopleOutcome> {
  const { users, sessions, passkeys } = tools.access;
  if (name === by.name) return { wrong: "You cannot remove yourself." };
  if (!users.remove(name)) return "missing";
  await sessions.removeAll(name);
  // Somebody else may get the same name.
  await passkeys.removeAll(name);
  return note(tools, by, "user removed", name);
}

export function addKey(tools: PeopleTools, user: string, by: AuditActor): PeopleOutcome {
  const added = tools.access.keys.addFor(user, undefined, tools.now());
  if (added === undefined) return "missing";
  const { key, secret } = added;
  note(tools, by, "key added", `${shortKey(key)} of ${user}`);
  const [file, fileName] = [`key=${key}\nsecret=${secret}\n`, `${hostname()}_${user}_apikey.txt`];
  return { made: { key, secret, file, fileName } };
}

export function revokeKey(tools: PeopleTools, id: string, by: AuditActor): PeopleOutcome {
  const { keys } = tools.access;
  const storedKey = keysInForce(tools.access).find(({ key }) => hashSecret(key) === id);
  if (storedKey === undefined) return "missing";
  keys.revoke(storedKey.key, tools.now());
  return note(tools, by, "key deleted", `${shortKey(storedKey.key)} of ${storedKey.name}`);
}

/** The latest first. Sign-ins have their own limit, so that many of them never displace changes. */
export function auditLines({ access }: PeopleTools): readonly AuditLine[] {
  const { audit, signIns } = access;
  const changes = audit.latest(500).map((entry) => ({ ...entry, kind: "change" as const, times: 1 }));
  const attempts = signIns.latest(500).map(({ failed, ...entry }) => ({
    ...entry,
    subject: "",
    kind: failed ? ("failed-sign-in" as const) : ("sign-in" as const),
  }));
  return [...changes, ...attempts]
    .toSorted((a, b) => b.at.getTime() - a.at.getTime())
    .map((entry) => ({ ...entry, at: entry.at.toISOString() }));
}

const keysInForce = ({ keys }: AccessStore) => keys.list().filter(({ revoked }) => revoked === undefined);

function note({ access, now }: PeopleTools, by: AuditActor, action: string, subject: string): "done" {
  access.audit.note(by, action, subject, now());
  return "done";
}

const toConsoleKey = ({ key, created, lastUsed }: ApiKey) => ({
  id: hashSecret(key),
  beginning: key.slice(0, 12),
  created: created.toISOString(),
  lastUsed: lastUsed?.toISOString() ?? null,
});

const wrongIn = (field: UserField, wrong: string): Wrong => ({ wrong, field });

function userFault({ fullName, expires, privileges: privilegeNames, networks }: UserInput): Wrong | undefined {
  if (typeof fullName !== "string" || fullName.length > 200)
    return wrongIn("fullName", "The full name can have at most 200 characters.");
  if (expires !== null && !isDate(expires)) return wrongIn("expires", "The expiry is not a valid date.");
  if (!isTexts(networks)) return wrongIn("networks", "Networks must be a list.");
  const badNetwork = networks.find((text) => parseNetwork(text) === undefined);
  return badNetwork === undefined
    ? privilegeFault(privilegeNames)
    : wrongIn("networks", `${badNetwork} is not a network such as 192.0.2.0/24.`);
}

/** An ISO 8601 date, or such a time in UTC. JavaScript takes 30 February for 2 March. */
function isDate(text: unknown): boolean {
  if (typeof text !== "string" || !/^\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?$/.test(text)) return false;
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, 10));
}

/** Administrators must not lock themselves out: perhaps nobody else could undo it. */
function shutOut(input: UserInput, { source }: AuditActor, now: Date): Wrong | undefined {
  const { disabled, expires, privileges: privilegeNames, networks } = input;
  if (disabled) return { wrong: "You cannot disable yourself." };
  if (expires !== null && Date.parse(expires) <= now.getTime())
    return wrongIn("expires", "You cannot set your own expiry to the past.");
  if (!privilegeNames.includes("all"))
    return wrongIn("privileges", `You cannot remove “${displayNames.all}” from yourself; another administrator can.`);
  return isFrom(source, networks)
    ? undefined
    : wrongIn("networks", `You are signed in from ${source}, outside of these networks.`);
}

function privilegeFault(privilegeNames: readonly string[]): Wrong | undefined {
  if (!isTexts(privilegeNames)) return wrongIn("privileges", "Privileges must be a list.");
  const unknown = privilegeNames.find((text) => !isPrivilege(text));
  return unknown === undefined ? undefined : wrongIn("privileges", `There is no privilege ${unknown}.`);
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length <= 100 && value.every((item) => typeof item === "string");

const toChange = ({ fullName, disabled, expires, privileges: privilegeNames, networks }: UserInput) => ({
  fullName,
  disabled: disabled === true,
  expires: expires === null ? ("never" as const) : new Date(expires),
  privileges: privilegeNames.filter(isPrivilege),
  networks,
});

const described = ({ name, disabled, privileges: privilegeNames, networks }: UserInput): string =>
  `${name}${disabled ? ", disabled" : ""}, privileges: ${privilegeNames.join(", ") || "none"}` +
  (networks.length === 0 ? "" : `, from ${networks.join(", ")}`);

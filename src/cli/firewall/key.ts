import { shellWord } from "../../core/shell-word.ts";
import { type ApiKey, type NewApiKey, shortKey } from "../../firewall/access/keys.ts";
import type { Privilege } from "../../firewall/access/privileges.ts";
import type { AccessStore } from "../../firewall/access/store.ts";
import type { User } from "../../firewall/access/users.ts";
import { type CommandIo, refuse } from "../io/command-io.ts";
import type { NewOption } from "../io/options.ts";
import { minute, printList } from "../io/print-table.ts";
import { dataFlag } from "../io/try-lines.ts";
import { placeOf, writeSecretOr } from "../io/write-secret.ts";
import {
  type InData,
  listed,
  noSuch,
  personHere,
  readPrivileges,
  userState,
  withAccess,
  withNewAccess,
} from "./user-access.ts";

export type KeyAdd = InData &
  NewOption & {
    /** An existing user. */
    readonly user?: string;
    /** Without `user`: a user of this name, created if missing. */
    readonly name: string;
    readonly privilege: readonly string[];
    readonly to?: string;
  };

/** Shows or writes the key in the format of OPNsense's download. */
export async function keyAdd(options: KeyAdd, io: CommandIo): Promise<number> {
  const place = placeOf(options, io);
  if (place === "taken") return 2;
  const wanted = readPrivileges(options.privilege, io);
  if (wanted === undefined) return 2;
  return withNewAccess(options, io, async (access) => {
    const made = makeKey(access, options, wanted);
    if (made === undefined) return noSuch("user", options.user ?? "", options, io);
    const text = `key=${made.key}\nsecret=${made.secret}\n`;
    if (place !== undefined) await writeSecretOr(() => access.keys.revoke(made.key, new Date()), place, text);
    access.audit.note(personHere(), "key added", `${shortKey(made.key)} of ${made.name}`, new Date());
    io.err(`Key ${shortKey(made.key)} (${made.name}): may ${inWords(made.privileges)}.\n`);
    const user = access.users.list().find(({ name }) => name === made.name);
    const state = user === undefined ? "valid" : userState(user);
    if (state !== "valid")
      io.err(
        `It is ${keyStates[state]}; to change that: ${io.program} user change ${dataFlag(options)} ${shellWord(made.name)} ${remedies[state]}\n`,
      );
    if (place === undefined) {
      io.err("This is the only time its secret is shown:\n");
      io.out(text);
    } else io.err(`Written to ${options.to}\n`);
    return 0;
  });
}

/** A key of a given user has that user's privileges by default; any other key may read the interfaces by default. */
function makeKey({ keys }: AccessStore, { user, name }: KeyAdd, wanted: readonly Privilege[]): NewApiKey | undefined {
  const now = new Date();
  if (user !== undefined) return keys.addFor(user, wanted.length === 0 ? undefined : wanted, now);
  return keys.add({ name, privileges: wanted.length === 0 ? ["interface-status"] : wanted, now });
}

export async function keyList(options: InData & { readonly json?: boolean }, io: CommandIo): Promise<number> {
  const { all, users } = await withAccess(options, io, (access) => ({
    all: access.keys.list(),
    users: new Map(access.users.list().map((user) => [user.name, user])),
  }));
  const none = `There are no keys yet; create one with: ${io.program} key add ${dataFlag(options)}`;
  const heads = ["key", "user", "privileges", "created", "state"];
  const rows = all.map((key) => row(key, users.get(key.name)));
  return printList({ json: options.json, forPrograms: all.map(forPrograms), heads, rows, none }, io);
}

/** `key` is a key or its first characters, as the list shows them. */
export async function keyRevoke(key: string, options: InData, io: CommandIo): Promise<number> {
  const outcome = await withAccess(options, io, ({ keys, audit }) => {
    const revocation = keys.revoke(key.replace(/…$/, ""), new Date());
    if (revocation.kind === "revoked")
      audit.note(personHere(), "key revoked", `${shortKey(revocation.key.key)} of ${revocation.key.name}`, new Date());
    return revocation;
  });
  switch (outcome.kind) {
    case "revoked":
      io.out(`Revoked key ${shortKey(outcome.key.key)} (${outcome.key.name}).\n`);
      return 0;
    case "already-revoked":
      io.err(`Key ${shortKey(outcome.key.key)} was already revoked, on ${minute(outcome.key.revoked)}.\n`);
      return 0;
    case "several":
      io.err(
        `${outcome.count} keys start with ${key}; type more characters. ${io.program} key list ${dataFlag(options)} lists them.\n`,
      );
      return 1;
    case "too-short":
      return refuse(
        1,
        `${key} is too short, so nothing was revoked; type at least the first eight characters of the key.`,
        io,
      );
    case "unknown":
      return noSuch("key", key, options, io);
    default:
      return outcome satisfies never;
  }
}

function inWords(privileges: readonly Privilege[]): string {
  if (privileges.includes("all")) return "do everything";
  if (privileges.length === 1 && privileges[0] === "interface-status") return "read the interfaces";
  return privileges.length === 0 ? "do nothing yet: its user has no privileges" : `call: ${privileges.join(", ")}`;
}

const row = ({ key, name, privileges, created, revoked }: ApiKey, user: User | undefined): readonly string[] => [
  shortKey(key),
  name,
  listed(privileges),
  minute(created),
  revoked === undefined ? keyStates[user === undefined ? "valid" : userState(user)] : "revoked",
];

/** A key is valid only while its user is. */
const keyStates = {
  valid: "valid",
  disabled: "invalid: its user is disabled",
  expired: "invalid: its user has expired",
} as const;

const remedies = { disabled: "--enable", expired: "--expires never" } as const;

const forPrograms = ({ key, name, privileges, created, revoked }: ApiKey) => ({
  key,
  name,
  privileges,
  created: created.toISOString(),
  revoked: revoked?.toISOString() ?? null,
});

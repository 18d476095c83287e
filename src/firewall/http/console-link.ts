import { createSessions, signInLink } from "../../access/session.ts";
import { type AccessStore, openAccess } from "../access/store.ts";

const administrator = "root";

/** A secret that signs in once, within 15 minutes. Whoever is not there yet is made, and may do everything. */
export async function makeSignInSecret(
  access: AccessStore,
  user: string | undefined,
  now: () => Date,
): Promise<string> {
  const name = user ?? administrator;
  if (access.users.add({ name, privileges: ["all"], now: now() }))
    access.audit.note({ name: "sign-in link", source: "this machine" }, "user added", `${name}, may all`, now());
  return await createSessions(access.sessions, () => now().getTime()).makeLink(name);
}

/** For whoever has the data folder: the service need not run, and hears nothing of it. */
export async function makeSignInLink(database: string, user: string | undefined, url: string): Promise<MadeLink> {
  const access = openAccess(database);
  try {
    const name = user ?? administrator;
    const isNew = access.users.find(name) === undefined;
    return { name, isNew, link: signInLink(url, await makeSignInSecret(access, name, () => new Date())) };
  } finally {
    access.close();
  }
}

/** `isNew`: whoever it is for was made for it. */
type MadeLink = { readonly link: string; readonly name: string; readonly isNew: boolean };

import { signInLink } from "../../access/session.ts";
import type { Logger } from "../../process/log.ts";
import { openStore, type StorePlace } from "../open-store.ts";
import { createConsoleSessions } from "./sessions.ts";

/** For anyone who can open the store; the service need not be running. */
export async function makeSignInLink(place: StorePlace, log: Logger, name: string, url: string): Promise<MadeLink> {
  const { store, console, close } = await openStore(place, log);
  try {
    const isNew = (await store.account(name)) === undefined;
    const secret = await createConsoleSessions(store, console, Date.now).makeLink(name);
    return { name, isNew, link: signInLink(url, secret) };
  } finally {
    await close();
  }
}

/** `isNew`: the account was created for this link. */
type MadeLink = { readonly link: string; readonly name: string; readonly isNew: boolean };

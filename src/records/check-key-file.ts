import { tokenOf } from "./front/open-accounts.ts";
import type { Signer } from "./signing/signer.ts";
import type { RecordStore } from "./store/port.ts";

/**
 * Throws `KeyFileTrouble` if the key file is missing, or is not the one that the secrets in the store are encrypted
 * with. Call it before encrypting another one: with a second file, no node could read all of them. `replaces`: somebody
 * whose file is lost gives the tokens of providers again.
 */
export async function checkKeyFile(
  store: Pick<RecordStore, "signedZones" | "encryptedKeys" | "providers">,
  signer: Pick<Signer, "decryptKey" | "decryptText">,
  { replaces = false } = {},
): Promise<undefined> {
  const [signed] = await store.signedZones(0, 1);
  if (signed) for (const key of await store.encryptedKeys(signed)) signer.decryptKey(key);
  else if (!replaces) for (const provider of (await store.providers()).slice(0, 1)) tokenOf(provider, signer);
}

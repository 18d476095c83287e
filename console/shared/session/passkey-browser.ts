/** Passkeys in this browser (WebAuthn). The service makes the options and checks the answers. */

type Json = Readonly<Record<string, unknown>>;

/** Why passkeys cannot be used on this page; undefined if they can. */
export function noPasskeysBecause(): string | undefined {
  if (/^[\d.]+$|^\[/.test(location.hostname))
    return "Passkeys work only with a host name. Open this page under its name instead of its address.";
  if (typeof PublicKeyCredential === "undefined" || !("parseRequestOptionsFromJSON" in PublicKeyCredential))
    return "This browser cannot use passkeys here: it is too old, or does not trust the certificate of this page.";
  return undefined;
}

export async function createPasskey(options: Json): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  return await askBrowser(() => navigator.credentials.create({ publicKey }));
}

export async function signWithPasskey(options: Json): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  return await askBrowser(() => navigator.credentials.get({ publicKey }));
}

async function askBrowser(ask: () => Promise<Credential | null>): Promise<unknown> {
  try {
    const credential = await ask();
    if (credential instanceof PublicKeyCredential) return credential.toJSON();
  } catch (error) {
    throw new Error(inWords(error));
  }
  throw new Error("The browser returned no passkey.");
}

/** Browsers give the same error for a cancelled dialog, a time-out and a device that has no passkey. */
function inWords(error: unknown): string {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "InvalidStateError") return "This device already has a passkey for this user.";
  if (name === "NotAllowedError") return "The dialog was closed, or took too long. Try again.";
  if (name === "SecurityError") return "The browser does not use passkeys on this page.";
  return "The browser could not use a passkey.";
}

import { mapping, needed } from "../../lib/settings/mapping.ts";
import type { SettingType } from "../../lib/settings/setting.ts";
import { endpointFields, hostedFields, oneTrust, withTrust } from "../config/endpoint.ts";
import type { TargetConfig } from "../config/kinds.ts";
import { headerSecret, secret } from "../config/secret.ts";

/** The settings of an API that needs a URL and a token. */
export const tokenSettings = (title: string, description: string, example: string, token = headerSecret) =>
  mapping(
    {
      ...endpointFields("The URL of the record service.", example),
      token: needed(token("A token that may write the records.")),
    },
    { title, description, checkKeys: oneTrust, transform: withTrust },
  );

/** The settings of a hosted service: only the token is needed. */
export const hostedSettings = (title: string, description: string, url: string, token: string) =>
  mapping(
    { ...hostedFields(url), token: needed(headerSecret(token)) },
    { title, description, checkKeys: oneTrust, transform: withTrust },
  );

/** The settings of a hosted service whose key has two halves. */
export const keyPairSettings = (title: string, description: string, url: string, key: string, half: string) =>
  mapping(
    { ...hostedFields(url), key: needed(headerSecret(key)), secret: needed(secret(half)) },
    { title, description, checkKeys: oneTrust, transform: withTrust },
  );

export type KeyPairTarget = TargetConfig & SettingType<ReturnType<typeof keyPairSettings>>;

export type TokenTarget = TargetConfig & SettingType<ReturnType<typeof tokenSettings>>;

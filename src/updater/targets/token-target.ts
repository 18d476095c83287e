import type { Endpoint } from "../../lib/http-client/endpoint.ts";
import { type Fields, type Mapping, mapping, needed, type ValueOf } from "../../lib/settings/mapping.ts";
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

/** The settings of a hosted service: only its credentials are needed. */
export const hosted = <F extends Fields>(title: string, description: string, url: string, credentials: F) =>
  mapping<Fields>(
    { ...hostedFields(url), ...credentials },
    { title, description, checkKeys: oneTrust, transform: withTrust as never },
  ) as unknown as Mapping<Endpoint & ValueOf<F>>;

export const hostedSettings = (title: string, description: string, url: string, token: string) =>
  hosted(title, description, url, { token: needed(headerSecret(token)) });

/** For a key with two halves. */
export const keyPairSettings = (title: string, description: string, url: string, key: string, half: string) =>
  hosted(title, description, url, { key: needed(headerSecret(key)), secret: needed(secret(half)) });

export type KeyPairTarget = TargetConfig & SettingType<ReturnType<typeof keyPairSettings>>;

export type TokenTarget = TargetConfig & SettingType<ReturnType<typeof tokenSettings>>;

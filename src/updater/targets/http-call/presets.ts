import type { Endpoint } from "../../../lib/http-client/endpoint.ts";
import { type Fields, mapping, needed } from "../../../lib/settings/mapping.ts";
import { text } from "../../../lib/settings/setting.ts";
import { hostedFields, oneTrust, withTrust } from "../../config/endpoint.ts";
import { type Secret, secret } from "../../config/secret.ts";
import type { TargetKind } from "../target.ts";
import { accountOf, type HttpCall } from "./call.ts";
import { dnsServers, type HttpTarget } from "./http-settings.ts";
import { createHttpTarget } from "./http-target.ts";
import { httpServices, type Service } from "./services.ts";

/** A kind of target for each service: only its credentials have to be configured. */
export const httpPresets: Readonly<Record<string, readonly [title: string, kind: TargetKind<HttpTarget>]>> =
  Object.fromEntries(
    Object.entries(httpServices).map(([api, service]) => [api, [service.title, presetOf(api, service)]]),
  );

type Credentials = { readonly user?: string; readonly password?: Secret; readonly token?: Secret };

function presetOf(api: string, service: Service): TargetKind<HttpTarget> {
  const { origin } = new URL(service.url);
  const { user, password, token } = service.credentials;
  const credentials: Fields = {
    ...(user && { user: needed(text(user, "me")) }),
    ...(password && { password: needed(secret(password)) }),
    ...(token && { token: needed(secret(token)) }),
  };
  const settings = mapping(
    { ...hostedFields(origin), ...credentials, dns: dnsServers },
    {
      title: `Target: ${api}`,
      description: `${service.about} It cannot list records. Source: ${service.source}.`,
      checkKeys: oneTrust,
      transform(value, place): Omit<HttpTarget, "name" | "api"> & Endpoint {
        const { dns = [], ...rest } = withTrust(value, place);
        const call = callOf(service, rest as Credentials, dns);
        return { ...rest, call, account: accountOf(call) };
      },
    },
  );
  return {
    ...settings,
    can: { create: false, ttl: false, ...(service.ipv6 === false && { ipv6: false }) },
    open: async (config, connect) => createHttpTarget(config.call, await connect(config)),
  };
}

const ownParameters = ["{ipv4}", "{ipv6}"];

function callOf(service: Service, { user, password, token }: Credentials, dns: readonly string[]): HttpCall {
  const { origin } = new URL(service.url);
  return {
    service: service.title,
    method: service.method ?? "GET",
    path: service.url.slice(origin.length),
    headers: service.headers ?? {},
    body: service.body,
    ...(service.basic && { user, password }),
    secrets: {
      ...(!service.basic && user !== undefined && { user: () => user }),
      ...(!service.basic && password && { password }),
      ...(token && { token }),
    },
    done: [service.done].flat(),
    unchanged: [service.unchanged ?? []].flat(),
    refused: service.refused,
    // A service with a parameter for each family may set what is not passed to the address of the caller.
    together: ownParameters.every((each) => `${service.url} ${service.body ?? ""}`.includes(each)),
    plain: !service.html,
    readBack: service.readBack ?? false,
    dns,
  };
}

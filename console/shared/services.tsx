import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import type { ServiceLink, ServiceName, Services } from "../../src/contract/console.ts";
import { createRequest } from "./live/request.ts";

/** The display names of the services, in the order of the switcher. */
const serviceNames = { records: "DNS", firewall: "Firewall", updater: "Updater" } as const satisfies Readonly<
  Record<ServiceName, string>
>;

const order = Object.keys(serviceNames);
const ask = createRequest(undefined, () => undefined);

const useKnown = (): Services | undefined =>
  useQuery({
    queryKey: ["services"],
    queryFn: () => ask<Services>("GET", "/console/services"),
    staleTime: Number.POSITIVE_INFINITY,
  }).data;

/** The other services that this one knows of. */
export const useServices = (): readonly ServiceLink[] => useKnown()?.services ?? [];

/** Whether users sign in only at another service. */
export const useSignInElsewhere = (): boolean => useKnown()?.byPassword === false;

/** The ways to sign in here besides the password and the link from the terminal. */
export function useWays(): { readonly provider: string | undefined; readonly passkeys: boolean } {
  const { provider, passkeys = false } = useKnown() ?? {};
  return { provider, passkeys };
}

/** A switcher between this service and the others. */
export function ServiceSwitch({ own, others }: { readonly own: ServiceName; readonly others: readonly ServiceLink[] }) {
  const hrefs = new Map<ServiceName, string>([
    [own, "/"],
    ...others.map((link) => [link.service, hrefOf(link)] as const),
  ]);
  return (
    <nav aria-label="Services">
      <ul className="services">
        {inOrder([...hrefs.keys()]).map((service) => (
          <li key={service}>
            <a href={hrefs.get(service)} className="service" aria-current={service === own ? "true" : undefined}>
              {serviceNames[service]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The services that share the sign-in with this one. */
export const useSharing = (): readonly ServiceLink[] => useServices().filter(({ together }) => together);

/** `DNS, Firewall and Updater`. */
export const inWords = (services: readonly ServiceName[]): string =>
  new Intl.ListFormat("en-GB").format(inOrder(services).map((service) => serviceNames[service]));

/** Links to the services: `DNS or Firewall`; a single one may have another text. */
export const ServiceLinks = (props: {
  readonly services: readonly ServiceLink[];
  readonly label?: string;
  readonly className?: string;
}) =>
  props.services.map((link, i) => (
    <Fragment key={link.service}>
      {i > 0 && " or "}
      <a href={hrefOf(link)} className={props.className}>
        {props.label ?? serviceNames[link.service]}
      </a>
    </Fragment>
  ));

const inOrder = (services: readonly ServiceName[]): readonly ServiceName[] =>
  services.toSorted((a, b) => order.indexOf(a) - order.indexOf(b));

/** The browser may reach this machine under another name than the machine uses for itself. */
function hrefOf({ url, together }: ServiceLink): string {
  const found = new URL(url);
  if (together) found.hostname = location.hostname;
  return found.href;
}

import type { Namespace } from "./namespace.ts";

/** A real interface, one end of a veth pair. Tests change its addresses as a provider would. */
export type Device = {
  readonly name: string;
  /** Replaces its addresses with these; without `ipv6` only the link-local one is left. */
  readdress(to: Addresses): Promise<void>;
  remove(): Promise<void>;
  /** Creates the interface again after `remove`. */
  restore(): Promise<void>;
};

export type Addresses = { readonly ipv4?: string; readonly ipv6?: string };

export async function makeDevice(inside: Namespace, name: string): Promise<Device> {
  const make = () =>
    inside.ip(
      `link add ${name} type veth peer name ${name}-far`,
      `link set ${name} up`,
      // The far end must be up, or the near one has no carrier and no link-local address.
      `link set ${name}-far up`,
    );
  await make();
  return {
    name,
    async readdress({ ipv4, ipv6 }) {
      await inside.ip(
        `-4 addr flush dev ${name}`,
        `-6 addr flush dev ${name} scope global`,
        ...(ipv4 === undefined ? [] : [`addr add ${ipv4}/24 dev ${name}`]),
        // Without `nodad` the kernel would spend a second on duplicate address detection before the address can be
        // used.
        ...(ipv6 === undefined ? [] : [`addr add ${ipv6}/64 dev ${name} nodad`]),
      );
    },
    remove: () => inside.ip(`link del ${name}`),
    restore: make,
  };
}

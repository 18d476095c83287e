/**
 * The address that a datagram was sent to, as control data (ip(7), ipv6(7)): a reply must come from there, or its
 * client drops it. `cmsghdr` has 16 bytes; then follows `in_pktinfo` (interface, address of ours, address in the
 * header) or `in6_pktinfo` (address, interface).
 */
const head = 16;
const types = { ipv4: 8, ipv6: 50 } as const;

/** `IP_PKTINFO` and `IPV6_RECVPKTINFO`. */
export const askForDestination = { ipv4: { level: 0, option: 8 }, ipv6: { level: 41, option: 49 } } as const;

/**
 * Makes the control data of a received datagram that of its reply. The reply may leave through another interface,
 * unless the address is link-local: then it only has a meaning there.
 */
export function turnAround(memory: Buffer, at: number): void {
  const type = memory.readInt32LE(at + 12);
  if (type === types.ipv4) {
    memory.fill(0, at + head, at + head + 4);
  } else if (type === types.ipv6) {
    const isLinkLocal = memory[at + head] === 0xfe && ((memory[at + head + 1] ?? 0) & 0xc0) === 0x80;
    if (!isLinkLocal) memory.fill(0, at + head + 16, at + head + 20);
  }
}

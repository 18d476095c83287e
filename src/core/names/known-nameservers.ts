/** A service that was started without nameservers uses names under `invalid` (RFC 6761), which no registrar accepts. */
export const knownNameservers = (assigned: readonly string[]): readonly string[] =>
  assigned.filter((name) => !/\.invalid\.?$/.test(name));

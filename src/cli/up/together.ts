import { createSharedSignIn, type SharedSignIn } from "../../access/shared-sign-in.ts";
import type { ServiceLink, ServiceName } from "../../contract/console.ts";

/** What the pages of the three have in common. */
export function bringTogether() {
  const [links, shared]: [ServiceLink[], SharedSignIn] = [[], createSharedSignIn()];
  return {
    /** Asked for by the pages, when all have started. */
    links,
    pagesOf: (own: ServiceName) => ({ shared, services: () => links.filter(({ service }) => service !== own) }),
  };
}

export type Together = ReturnType<typeof bringTogether>;

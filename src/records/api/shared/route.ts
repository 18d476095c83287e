import type { FastifyContextConfig, FastifySchema } from "fastify";

/** Returns a function for the options of a group's routes: what their descriptions say, and how they are run. */
export const routesOf =
  (group: string) =>
  (
    summary: string,
    schema: FastifySchema & { readonly consumes?: readonly string[] },
    config?: FastifyContextConfig,
  ) => ({
    schema: { tags: [group], summary, ...schema },
    ...(config && { config }),
  });

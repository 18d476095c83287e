import type { ServiceLink } from "../../contract/console.ts";
import type { Instant } from "../../core/instant.ts";
import type { Logger } from "../../process/log.ts";
import type { UpdaterConfig } from "../config/config.ts";
import type { ControlTools } from "./control.ts";
import { createDoor, type Door } from "./door.ts";
import type { PageOptions, UpdaterPage } from "./http-page.ts";
import type { PageSignIn } from "./sign-in.ts";

/** Serves the updater's page. Connections and sessions survive a reload of the config. */
export type PageKeeper = {
  /** Returns the URL; undefined if nothing is served. */
  readonly serve: (config: UpdaterConfig, updater: WatchedUpdater) => Promise<string | undefined>;
  readonly close: () => Promise<void>;
};

/** What the page shows and calls. */
export type WatchedUpdater = Pick<PageOptions, "published" | "putBack" | "devices" | "changing"> &
  Pick<ControlTools, "status" | "check" | "silence">;

export type PageTools = {
  readonly log: Logger;
  readonly now: () => Instant;
  readonly pages?: string | undefined;
  readonly door?: Door;
  /** For a program with its own sign-in; otherwise people need the password in the config. */
  readonly signIn?: PageSignIn;
};

export function createPageKeeper({ log, now, pages, door = createDoor(log), signIn }: PageTools): PageKeeper {
  let byPassword: PageSignIn | undefined;
  let links: readonly ServiceLink[] = [];
  const signInFor = async ({ control }: UpdaterConfig): Promise<PageSignIn | undefined> => {
    if (signIn !== undefined || control?.password === undefined) return signIn;
    byPassword ??= (await import("./sign-in.ts")).openPageSignIn({ log, now, services: () => links });
    await byPassword.setPassword(control.password());
    return byPassword;
  };
  return {
    async serve(config, updater) {
      const { control } = config;
      if (control === undefined) return door.serve(config, nothing);
      links = control.links ?? [];
      const { createControl } = await import("./control.ts");
      const page = lazyPage({ config, now, pages, ...updater });
      const signIn = await signInFor(config);
      return door.serve(config, createControl(control, { of: config, ...updater, page, signIn }));
    },
    close: door.close,
  };
}

const nothing = async () => ({ status: 404, body: "" });

/** Loaded on the first request: most pages are never opened. */
function lazyPage(options: PageOptions): UpdaterPage {
  let page: UpdaterPage | undefined;
  return async (request, asker) => {
    if (!forPage.test(request.path)) return undefined;
    page ??= (await import("./http-page.ts")).createUpdaterPage(options);
    return page(request, asker);
  };
}

const forPage = /^\/(?:$|sign-in$|assets\/|page\/|console\/)/;

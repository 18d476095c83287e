import { hashSecret } from "../../access/secret.ts";
import type { ServiceLink } from "../../contract/console.ts";
import type { Instant } from "../../core/instant.ts";
import type { Logger } from "../../process/log.ts";
import type { UpdaterConfig } from "../config/config.ts";
import type { ControlConfig } from "../config/outlets.ts";
import type { ControlTools } from "./control.ts";
import type { PageOptions, UpdaterPage } from "./http-page.ts";
import { createPageListener, type PageListener } from "./listener.ts";
import type { PasskeyFile } from "./passkey-file.ts";
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
  readonly listener?: PageListener;
  /** For a program with its own sign-in; otherwise people need the password in the config. */
  readonly signIn?: PageSignIn;
};

export function createPageKeeper({
  log,
  now,
  pages,
  listener = createPageListener(log),
  signIn,
}: PageTools): PageKeeper {
  const byPassword = new PasswordSignIn(log, now);
  return {
    async serve(config, updater) {
      const { control } = config;
      if (control === undefined) return listener.serve(config, nothing);
      const { createControl } = await import("./control.ts");
      const page = lazyPage({ config, now, pages, ...updater });
      const way = signIn ?? (await byPassword.for(config, control));
      return listener.serve(config, createControl(control, { of: config, ...updater, page, signIn: way }));
    },
    close: async () => {
      await listener.close();
      byPassword.close();
    },
  };
}

/** The sign-in with the password in the config, through all reloads. */
class PasswordSignIn {
  readonly #log: Logger;
  readonly #now: () => Instant;
  #links: readonly ServiceLink[] = [];
  #open: { readonly signIn: PageSignIn; readonly provider: string } | undefined;
  #passkeys: PasskeyFile | undefined;

  constructor(log: Logger, now: () => Instant) {
    this.#log = log;
    this.#now = now;
  }

  async for(config: UpdaterConfig, { password, oidc, links = [] }: ControlConfig): Promise<PageSignIn | undefined> {
    this.#links = links;
    if (password === undefined) return undefined;
    const { openPageSignIn } = await import("./sign-in.ts");
    this.#passkeys ??= (await import("./passkey-file.ts")).openPasskeyFile(config, this.#log);
    // With another provider or other rules, everybody must sign in again.
    const provider = hashSecret(JSON.stringify([oidc, oidc?.secret()]));
    if (this.#open?.provider !== provider) {
      const tools = { log: this.#log, now: this.#now, services: () => this.#links };
      this.#open = { provider, signIn: openPageSignIn({ ...tools, oidc, passkeys: this.#passkeys?.passkeys }) };
    }
    await this.#open.signIn.setPassword(password());
    return this.#open.signIn;
  }

  close(): void {
    this.#passkeys?.close();
    this.#passkeys = undefined;
  }
}

const nothing = async () => ({ status: 404, body: "" });

/** Loaded on the first request: most pages are never opened. */
function lazyPage(options: PageOptions): UpdaterPage {
  let page: UpdaterPage | undefined;
  return async (request, asker) => {
    page ??= (await import("./http-page.ts")).createUpdaterPage(options);
    return page(request, asker);
  };
}

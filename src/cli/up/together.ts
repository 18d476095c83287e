import { createSharedSignIn, type SharedSignIn } from "../../access/shared-sign-in.ts";
import type { ServiceLink, ServiceName } from "../../contract/console.ts";
import type { Example } from "../../contract/overview.ts";
import type { KnownUpdater } from "../../records/console/overview.ts";
import type { UpdaterConfig } from "../../updater/config/config.ts";
import type { PageKeeper } from "../../updater/page/keep-page.ts";
import type { Status } from "../../updater/report/status.ts";
import { managedRecordsOf, sourcesOf } from "../../updater/round/managed-records.ts";

/** What the pages of the three services share. `names`: under which other machines reach them. */
export function bringTogether(names: readonly string[]) {
  const [links, shared]: [ServiceLink[], SharedSignIn] = [[], createSharedSignIn()];
  let followed: (() => KnownUpdater) | undefined;
  let examples: readonly Example[] = [];

  const describe = (config: UpdaterConfig, status: () => Status) => {
    const here = links.find(({ service }) => service === "records")?.url ?? "";
    const ours = new Set([...config.targets.values()].flatMap(({ name, url }) => (url.origin === here ? [name] : [])));
    const records = new Map(managedRecordsOf(config).map((record) => [record.displayName, record]));
    const fromOf = (title: string): string => {
      const record = records.get(title);
      const froms = record
        ? sourcesOf(record).flatMap(({ source, devices }) => (devices.length > 0 ? devices : source))
        : [];
      return froms.join(" or ");
    };
    return (): KnownUpdater => {
      const { sources, lastRound, names } = status();
      const kept = names.map((each) => {
        const target = records.get(each.name)?.target;
        return { ...each, writesHere: target !== undefined && ours.has(target), from: fromOf(each.name) };
      });
      return { sources, lastRound, names: kept, examples };
    };
  };
  return {
    /** The pages read them later, when all services have started. */
    links,
    pagesOf: (own: ServiceName) => ({
      shared,
      names,
      services: () => links.filter(({ service }) => service !== own),
    }),
    /** For the first page. */
    suggest: (commands: readonly Example[]) => {
      examples = commands;
    },
    /** The updater, for the overview of the record service; undefined before it has started. */
    updater: (): KnownUpdater | undefined => followed?.(),
    /** Follows the updater through all reloads of its config. */
    following: (keeper: PageKeeper): PageKeeper => ({
      ...keeper,
      serve: (config, updater) => {
        followed = describe(config, updater.status);
        return keeper.serve(config, updater);
      },
    }),
  };
}

export type Together = ReturnType<typeof bringTogether>;

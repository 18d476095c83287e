import type { RecordStore } from "./store.ts";

/** Zones as the store lists them, but for a name: that one is found by its key, and no list is made. */
export const zonesByName =
  ({ zoneBy, list }: Pick<RecordStore, "zoneBy"> & { readonly list: RecordStore["zones"] }): RecordStore["zones"] =>
  async (account, query) => {
    const { name, within } = query;
    if (name === undefined) return await list(account, query);
    const zone = within === undefined || within.includes(name) ? await zoneBy(account, { name }) : undefined;
    return zone === undefined ? { items: [], total: 0 } : { items: [zone], total: 1 };
  };

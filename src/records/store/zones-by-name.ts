import type { RecordStore } from "./port.ts";

/** Zones as the store lists them, but for a name alone: that one is found by its key, and no list is made. */
export const zonesByName =
  ({ zoneBy, list }: Pick<RecordStore, "zoneBy"> & { readonly list: RecordStore["zones"] }): RecordStore["zones"] =>
  async (account, query) => {
    const { name, within, mode, label } = query;
    if (name === undefined) return await list(account, query);
    const isWithin = within === undefined || within.includes(name);
    if (mode !== undefined || label !== undefined)
      return await list(account, { ...query, within: isWithin ? [name] : [] });
    const zone = isWithin ? await zoneBy(account, { name }) : undefined;
    return zone === undefined ? { items: [], total: 0 } : { items: [zone], total: 1 };
  };

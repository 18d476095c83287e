import { type HarbourPage, openHarbourPage } from "./harbour-page.ts";
import { walkTo } from "./walk-to.ts";

const harbour = "/zones/harbour.example";

/** The page of the harbour's records, and what people and other clients do with it. */
export async function openHarbourTable() {
  const opened: HarbourPage = await openHarbourPage();
  const { rig, context, page, post } = opened;
  const dialog = () => page.getByRole("dialog");
  /** Everything about a set; undefined if there is none. */
  const stored = async (id: string) => {
    const answer = await context.request.get(`${rig.url}/v1${harbour}/rrsets/${id}`);
    return answer.status() === 404 ? undefined : (await answer.json()).rrset;
  };
  return {
    ...opened,
    dialog,
    stored,
    open: async (query = "") => {
      await walkTo(page, `${rig.url}${harbour}${query}`);
      await page.getByText(/record sets?$/).waitFor();
    },
    /** As another client. */
    put: (...changes: readonly object[]) => post(`/v1${harbour}/changes`, { changes }),
    protect: (id: string) => post(`/v1${harbour}/rrsets/${id}/actions/change_protection`, { change: true }),
    valuesAt: async (id: string): Promise<readonly string[] | undefined> =>
      (await stored(id))?.records.map(({ value }: { value: string }) => value).toSorted(),
    closed: () => dialog().waitFor({ state: "detached" }),
    toast: (text: string) => page.getByRole("status").getByText(text, { exact: true }),
    undo: () => page.getByRole("button", { name: "Undo", exact: true }),
    focused: () => page.locator(":focus"),
    openMenu: (of: string) => page.getByRole("button", { name: `Actions for ${of}`, exact: true }).click(),
    choose: (item: string) => page.getByRole("menuitem", { name: item }).click(),
    select: async (...names: readonly string[]) => {
      for (const name of names) await page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).check();
    },
  };
}

export type HarbourTable = Awaited<ReturnType<typeof openHarbourTable>>;

/** An A record. */
export const aSet = (name: string, value: string, more = {}) => ({ name, type: "A", records: [{ value }], ...more });

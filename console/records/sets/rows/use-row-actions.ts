import { useEffect, useRef } from "react";
import { useLocation } from "wouter";
import type { Rrset, RrsetsZone } from "../../../../src/contract/rrsets.ts";
import { useSearchPart } from "../../../shared/search-part.ts";
import { useToast } from "../../../shared/toasts/toasts.tsx";
import { historyOf } from "../../history/history-address.ts";
import { setInWords } from "../set-content.ts";
import { deletionOf, useSetWrite } from "../write-set.ts";

/** What the menu and the keys of a row do. After a deletion the focus goes to the row that takes its place. */
export function useRowActions(
  zone: RrsetsZone,
  sets: readonly Rrset[],
  goTo: (row: number) => void,
  rows: readonly Rrset[],
) {
  const { open } = useSearchPart();
  const [, navigate] = useLocation();
  const toast = useToast();
  const write = useSetWrite(zone.name);
  const leaving = useRef<{ readonly id: string; readonly row: number }>(undefined);
  useEffect(() => {
    const { current: gone } = leaving;
    if (gone === undefined || rows.some(({ id }) => id === gone.id)) return;
    leaving.current = undefined;
    if (document.activeElement === document.body) goTo(gone.row);
  });
  return {
    edit: ({ id }: Rrset) => open({ edit: id }),
    duplicate: ({ id, type }: Rrset) => open({ add: type, like: id }),
    copy: async (set: Rrset) => {
      const text = set.records.map(({ value }) => value).join("\n");
      const isCopied = await navigator.clipboard?.writeText(text).then(
        () => true,
        () => false,
      );
      const what = set.records.length === 1 ? text : `${set.records.length} values of ${setInWords(set)}`;
      toast(isCopied ? { text: `Copied ${what}.` } : { text: "The browser did not allow copying.", isBad: true });
    },
    history: (set: Rrset) => navigate(historyOf(zone.name, set)),
    token: ({ name }: Rrset) => navigate(`/tokens?${new URLSearchParams({ new: "", zone: zone.name, name })}`),
    remove: (set: Rrset) => {
      if (write.isPending) return;
      if (set.type === "SOA" || set.protection.change) {
        const why =
          set.type === "SOA" ? "it is deleted only with its zone" : "it is protected; open it to turn that off";
        toast({ text: `${setInWords(set)} was not deleted: ${why}.`, isBad: true });
        return;
      }
      leaving.current = { id: set.id, row: rows.findIndex(({ id }) => id === set.id) };
      write.mutate(
        { ...deletionOf(zone.name, set), known: sets },
        { onError: ({ message }) => toast({ text: `${setInWords(set)} was not deleted. ${message}`, isBad: true }) },
      );
    },
  };
}

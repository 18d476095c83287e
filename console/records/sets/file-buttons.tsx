import { Button, Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import type { RrsetsZone } from "../../../src/contract/rrsets.ts";
import { download } from "../../shared/download.ts";
import { lazyPart } from "../../shared/live/lazy-part.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { useToast } from "../../shared/toasts/toasts.tsx";
import { zonePath } from "../api.ts";

const ImportFile = lazyPart(async () => ({ default: (await import("../zones/import-file.tsx")).ImportFile }));

/** Moves all records in and out as a zone file. */
export function FileButtons({ zone, size = "sm" }: { readonly zone: RrsetsZone; readonly size?: "sm" | "compact-sm" }) {
  const { request } = useSession();
  const toast = useToast();
  const [isImporting, setImporting] = useState(false);
  const isSecondary = zone.mode === "secondary";
  const save = useMutation({
    mutationFn: () => request<{ zonefile: string }>("GET", `${zonePath(zone.name)}/zonefile`),
    onSuccess: ({ zonefile }) => download(`${zone.name}.zone`, zonefile),
    onError: ({ message }) => toast({ text: `Not exported. ${message}`, isBad: true }),
  });
  return (
    <Group gap="xs">
      <Button size={size} variant="default" onClick={() => setImporting(true)} disabled={isSecondary}>
        Import…
      </Button>
      <Button
        size={size}
        variant="default"
        onClick={() => save.mutate()}
        loading={save.isPending}
        disabled={isSecondary}
      >
        Export
      </Button>
      {isImporting && (
        <Suspense>
          <ImportFile zone={zone} onDone={() => setImporting(false)} onClose={() => setImporting(false)} />
        </Suspense>
      )}
    </Group>
  );
}

import { Button, Group, Loader, Radio, Stack, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useDeferredValue, useMemo, useState } from "react";
import type { Rrset, RrsetsZone } from "../../../src/contract/rrsets.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import type { OwnSets } from "../../../src/core/zone-file/sets.ts";
import { counted } from "../../shared/counted.ts";
import { Dialog } from "../../shared/dialog.tsx";
import { Problem } from "../../shared/live/problem.tsx";
import { useReadFirst } from "../../shared/live/read-first.ts";
import { type Request, RequestProblem } from "../../shared/live/request.ts";
import { useSession } from "../../shared/session/session.tsx";
import { useToast } from "../../shared/toasts/toasts.tsx";
import { readHistory, writeZone, zonePath } from "../api.ts";
import { useEverySet, useSetsNow } from "../sets/read-sets.ts";
import { useUndo } from "../sets/use-undo.ts";
import { ImportChanges, OwnRecordsChoice } from "./import-changes.tsx";
import { changesInWords, type ImportWay, type Preview, previewImport } from "./preview-import.ts";
import { type ImportBody, useTrial } from "./use-trial.ts";
import { FaultList, FileButton } from "./zone-file-parts.tsx";

/** Merges a zone file into the zone, or replaces all records with it, after a preview of the changes. */
export function ImportFile(props: {
  readonly zone: RrsetsZone;
  /** Called with a summary of the changes. */
  readonly onDone: (changes: string) => void;
  readonly onClose: () => void;
}) {
  const { zone, onDone, onClose } = props;
  const [text, setText] = useState("");
  const [way, setWay] = useState<ImportWay>("merge");
  const [own, setOwn] = useState<OwnSets>("zone");
  const found = useEverySet(zone);
  const sets = found.data?.sets;
  const preview = usePreview(zone, sets, { text, way, own });
  const body = { zonefile: text, own_records: own, merge: way === "merge" };
  const isReadable = preview !== undefined && preview.faults.length === 0;
  const trial = useTrial(zone.name, isReadable && preview.changes.length > 0 ? body : undefined);
  const faults = isReadable ? trial.faults : (preview?.faults ?? []);
  const write = useImport(zone, sets, onDone);
  return (
    <Dialog title={`Import into ${nameToUnicode(zone.name)}`} onClose={onClose} size="xl" stays={text !== ""}>
      <Stack gap="sm">
        <Textarea
          label="Zone file"
          description="Nothing changes until you confirm."
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          rows={8}
          classNames={{ input: "mono" }}
          spellCheck={false}
          data-autofocus
        />
        <FileButton onText={setText} />
        <WayChoice way={way} onChange={setWay} />
        <OwnRecordsChoice preview={preview} own={own} onChange={setOwn} />
        {found.isPending && <Loader size="sm" aria-label="Loading the zone" />}
        <Problem error={sets ? null : found.error} retry={() => void found.refetch()} />
        <FaultList faults={faults} />
        {isReadable && faults.length === 0 && <ImportChanges preview={preview} count={sets?.length ?? 0} />}
        <Problem error={trial.error} retry={() => void trial.refetch()} />
        <Problem error={write.error} />
        <ImportButtons
          preview={preview}
          isFine={trial.isFine}
          isPending={write.isPending}
          onImport={() => preview && write.mutate({ preview, body })}
          onClose={onClose}
        />
      </Stack>
    </Dialog>
  );
}

function ImportButtons(props: {
  readonly preview: Preview | undefined;
  /** Whether the service would do it. */
  readonly isFine: boolean;
  readonly isPending: boolean;
  readonly onImport: () => void;
  readonly onClose: () => void;
}) {
  const changes = props.preview?.changes.length ?? 0;
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={props.onClose}>
        Cancel
      </Button>
      <Button onClick={props.onImport} loading={props.isPending} disabled={changes === 0 || !props.isFine}>
        {changes === 0 ? "Import" : `Import and change ${counted(changes, "set")}`}
      </Button>
    </Group>
  );
}

type PreviewInput = { readonly text: string; readonly way: ImportWay; readonly own: OwnSets };

function usePreview(zone: RrsetsZone, sets: readonly Rrset[] | undefined, { text, way, own }: PreviewInput) {
  const settled = useDeferredValue(text);
  return useMemo(() => {
    const { name, ttl, authoritative_nameservers: servers } = zone;
    if (settled.trim() === "" || !sets) return undefined;
    return previewImport(settled, { name, ttl, nameservers: servers.assigned }, sets, way, own);
  }, [settled, sets, zone, way, own]);
}

const WayChoice = ({ way, onChange }: { readonly way: ImportWay; readonly onChange: (way: ImportWay) => void }) => (
  <Radio.Group
    label="What happens to the records of the zone?"
    value={way}
    onChange={(next) => onChange(next as ImportWay)}
  >
    <Stack gap={4} mt={4}>
      <Radio value="merge" label="Merge: the file replaces records of the same name and type; all others stay" />
      <Radio value="replace" label="Replace: records that are not in the file are deleted" />
    </Stack>
  </Radio.Group>
);

type ReviewedImport = { readonly preview: Preview; readonly body: ImportBody };

/** Sends the file, if the zone is still as the preview showed it. */
function useImport(zone: RrsetsZone, sets: readonly Rrset[] | undefined, onDone: (changes: string) => void) {
  const { request } = useSession();
  const queries = useQueryClient();
  const readNow = useSetsNow(zone);
  const readFirst = useReadFirst();
  const toast = useToast();
  const undo = useUndo(zone.name);
  return useMutation({
    mutationFn: async ({ body }: ReviewedImport) => {
      const now = await readFirst(readNow());
      if (now?.sets !== sets) throw new RequestProblem(409, changedMeanwhile);
      await writeZone(request, "POST", `${zonePath(zone.name)}/actions/import_zonefile`, body);
      return now && (await onlyWriteSince(request, zone.name, now.asOf).catch(() => undefined));
    },
    onSuccess: async (serial, done) => {
      const inWords = changesInWords(done.preview.changes);
      await queries.invalidateQueries();
      toast({
        text: `Import done: ${inWords}.${serial === undefined ? " You can undo it in the history." : ""}`,
        ...(serial !== undefined && { undo: () => undo([serial], "the zone is") }),
      });
      onDone(inWords);
    },
  });
}

/**
 * The serial of the only write after the given one. Undefined if there were several, or if they may not fit on one
 * page.
 */
async function onlyWriteSince(request: Request, zone: string, serial: number): Promise<number | undefined> {
  const { history } = await readHistory(request, zone, null);
  const later = history.filter((change) => change.serial > serial);
  const serials = new Set(later.map((change) => change.serial));
  return serials.size === 1 && later.length < history.length ? later[0]?.serial : undefined;
}

const changedMeanwhile =
  "The zone was changed elsewhere just now, so nothing was imported. Review the new changes, then import again.";

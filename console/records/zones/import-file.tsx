import { Button, Group, Loader, Stack, Text, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useDeferredValue, useMemo, useState } from "react";
import type { Rrset, RrsetsZone } from "../../../src/contract/rrsets.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { Dialog } from "../../shared/dialog.tsx";
import { useLookFirst } from "../../shared/live/look-first.ts";
import { Problem } from "../../shared/live/problem.tsx";
import { RequestProblem } from "../../shared/live/request.ts";
import { useSession } from "../../shared/session/session.tsx";
import { zonePath } from "../api.ts";
import { useEverySet, useSetsNow } from "../sets/read-sets.ts";
import { shownValue } from "../sets/shown-value.ts";
import { changesInWords, type Preview, previewImport } from "./preview-import.ts";
import { FaultList, FileButton } from "./zone-file-parts.tsx";

/** Replaces all records with those of a zone file, after a preview of the changes. */
export function ImportFile(props: {
  readonly zone: RrsetsZone;
  /** Called with a summary of the changes. */
  readonly onDone: (changes: string) => void;
  readonly onClose: () => void;
}) {
  const { zone, onDone, onClose } = props;
  const { request } = useSession();
  const queries = useQueryClient();
  const [text, setText] = useState("");
  const settled = useDeferredValue(text);
  const found = useEverySet(zone);
  const sets = found.data?.sets;
  const readNow = useSetsNow(zone);
  const lookFirst = useLookFirst();
  const preview = useMemo(() => {
    const { name, ttl, authoritative_nameservers: servers } = zone;
    if (settled.trim() === "" || !sets) return undefined;
    return previewImport(settled, { name, ttl, nameservers: servers.assigned }, sets);
  }, [settled, sets, zone]);
  const write = useMutation({
    mutationFn: async ({ text: zonefile }: Preview) => {
      const now = await lookFirst(readNow());
      if (now?.sets !== sets) throw new RequestProblem(409, changedMeanwhile);
      return request("POST", `${zonePath(zone.name)}/actions/import_zonefile`, { zonefile });
    },
    onSuccess: async (_answer, done) => {
      await queries.invalidateQueries();
      onDone(changesInWords(done.changes));
    },
  });
  const changes = preview?.changes.length ?? 0;
  return (
    <Dialog title={`Import into ${nameToUnicode(zone.name)}`} onClose={onClose} size="xl" stays={text !== ""}>
      <Stack gap="sm">
        <Textarea
          label="Zone file"
          description="It replaces all records of the zone. Nothing changes until you confirm."
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          rows={8}
          classNames={{ input: "mono" }}
          spellCheck={false}
          data-autofocus
        />
        <FileButton onText={setText} />
        {found.isPending && <Loader size="sm" aria-label="Loading the zone" />}
        <Problem error={sets ? null : found.error} retry={() => void found.refetch()} />
        {preview && <FaultList faults={preview.faults} />}
        {preview && preview.faults.length === 0 && <Changes preview={preview} sets={sets ?? []} />}
        <Problem error={write.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            onClick={() => preview && write.mutate(preview)}
            loading={write.isPending}
            disabled={preview === undefined || preview.faults.length > 0 || changes === 0}
          >
            {changes === 0 ? "Import" : `Import and change ${changes} set${changes === 1 ? "" : "s"}`}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

const changedMeanwhile =
  "The zone was changed elsewhere just now, so nothing was imported. Review the new changes, then import again.";

const shown = 200;

function Changes({ preview, sets }: { readonly preview: Preview; readonly sets: readonly Rrset[] }) {
  const { changes, notes } = preview;
  const unchanged = sets.length - changes.filter(({ kind }) => kind !== "create").length;
  return (
    <section aria-label="What will change">
      <Text size="sm" fw={600}>
        {changes.length === 0
          ? "The file matches the zone; nothing will change."
          : `${changesInWords(changes)}; ${unchanged} unchanged.`}
      </Text>
      {notes.map((note) => (
        <Text size="sm" key={note}>
          {note}
        </Text>
      ))}
      <ul
        className="mono"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must be reachable without a mouse
        tabIndex={0}
        aria-label="Changes"
        style={{ margin: "0.5rem 0 0", padding: 0, listStyle: "none", maxHeight: "16rem", overflow: "auto" }}
      >
        {changes.slice(0, shown).map((change) => (
          <li key={`${change.name}/${change.type}`}>
            <span className={change.kind === "delete" ? "bad" : change.kind === "create" ? "good" : ""}>
              {change.kind === "delete" ? "−" : change.kind === "create" ? "+" : "±"} {nameToUnicode(change.name)}{" "}
              {change.type}
            </span>{" "}
            {change.before && <del className="quiet">{shownValue(change.before)}</del>} {shownValue(change.after)}
          </li>
        ))}
        {changes.length > shown && <li className="quiet">and {changes.length - shown} more</li>}
      </ul>
    </section>
  );
}

import { Checkbox, Text, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useDeferredValue, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { parseZoneName } from "../../../src/core/names/name.ts";
import { parseTyped } from "../../../src/core/names/unicode.ts";
import { faultInWords } from "../../../src/core/result.ts";
import { finish } from "../../../src/core/steps.ts";
import type { OwnSets } from "../../../src/core/zone-file/sets.ts";
import { findingZoneName } from "../../../src/core/zone-file/zone-name.ts";
import { FormDialog } from "../../shared/form-dialog.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { ImportChanges, OwnRecordsChoice } from "./import-changes.tsx";
import { previewImport } from "./preview-import.ts";
import { useTrial } from "./use-trial.ts";
import { zoneAddress } from "./zone-address.ts";
import { FaultList, FileButton } from "./zone-file-parts.tsx";

/** The form for a new zone, empty or with the records of a zone file. */
export default function NewZone({ onClose }: { readonly onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [withFile, setWithFile] = useState(false);
  const [file, setFile] = useState("");
  const [own, setOwn] = useState<OwnSets>("zone");
  const [tried, setTried] = useState(false);

  const name = readName(typed);
  const zone = name.ok ? name.value : undefined;
  const content = withFile ? { zonefile: file, own_records: own } : undefined;
  const { preview, faults } = useTried(content, zone);
  const create = useCreateZone(content);
  const takeFile = (text: string) => {
    setFile(text);
    if (typed === "") setTyped(finish(findingZoneName(text)) ?? "");
  };
  const submit = () => {
    setTried(true);
    if (zone !== undefined && faults.length === 0) create.mutate(zone);
  };
  return (
    <FormDialog
      title="New zone"
      holds={[typed, withFile, file]}
      onClose={onClose}
      onSubmit={submit}
      submit="Create zone"
      sending={create}
    >
      <TextInput
        label="Domain name"
        placeholder="example.org"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        error={tried && !name.ok ? name.faults.map(faultInWords).join(". ") : undefined}
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus
      />
      <Checkbox
        label="Import records from a zone file"
        checked={withFile}
        onChange={(event) => setWithFile(event.currentTarget.checked)}
      />
      {withFile && (
        <>
          <FileInput text={file} onText={takeFile} />
          <OwnRecordsChoice preview={preview} own={own} onChange={setOwn} />
          <FaultList faults={faults} />
          {preview && faults.length === 0 && <ImportChanges preview={preview} count={0} />}
        </>
      )}
      <Text size="xs" c="dimmed">
        A checklist follows: the nameservers for the domain’s registrar, and the first records.
      </Text>
    </FormDialog>
  );
}

type Content = { readonly zonefile: string; readonly own_records: OwnSets };

/** What the file would create, and why that would be refused. */
function useTried(content: Content | undefined, zone: string | undefined) {
  const { zonefile = "", own_records: own } = content ?? {};
  const settled = useDeferredValue(zonefile);
  const preview = useMemo(
    () => (zone !== undefined && settled.trim() !== "" ? previewNew(settled, zone, own) : undefined),
    [zone, settled, own],
  );
  const isReadable = preview !== undefined && preview.faults.length === 0;
  const trial = useTrial(zone, isReadable && content ? { ...content, create: true } : undefined);
  return { preview, faults: isReadable ? trial.faults : (preview?.faults ?? []) };
}

/** `content`: the zone file to send, if there is one. */
function useCreateZone(content: Content | undefined) {
  const { request } = useSession();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  return useMutation({
    mutationFn: (made: string) => request("POST", "/v1/zones", { name: made, mode: "primary", ...content }),
    onSuccess: async (_answer, made) => {
      await queries.invalidateQueries({ queryKey: ["zones"] });
      navigate(`${zoneAddress(made)}?setup`);
    },
  });
}

const FileInput = ({ text, onText }: { readonly text: string; readonly onText: (text: string) => void }) => (
  <>
    <Textarea
      label="Zone file"
      value={text}
      onChange={(event) => onText(event.currentTarget.value)}
      rows={8}
      classNames={{ input: "mono" }}
      spellCheck={false}
    />
    <FileButton onText={onText} />
  </>
);

const readName = (text: string) => parseTyped(parseZoneName, text.trim().toLowerCase());

/** A new zone has no records yet; the service adds its own SOA and NS records if the file has none. */
const previewNew = (text: string, name: string, own: OwnSets | undefined) =>
  previewImport(text, { name, ttl: undefined, nameservers: [] }, [], "replace", own);

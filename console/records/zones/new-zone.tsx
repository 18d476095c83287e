import { Checkbox, Text, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { parseZoneName } from "../../../src/core/names/name.ts";
import { parseTyped } from "../../../src/core/names/unicode.ts";
import { type Fault, faultInWords } from "../../../src/core/result.ts";
import { finish } from "../../../src/core/steps.ts";
import { parseZoneFile } from "../../../src/core/zone-file/parse.ts";
import { findingZoneName } from "../../../src/core/zone-file/zone-name.ts";
import { FormDialog } from "../../shared/form-dialog.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { zoneAddress } from "./zone-address.ts";
import { FaultList, FileButton } from "./zone-file-parts.tsx";

/** The form for a new zone, empty or with the records of a zone file. */
export default function NewZone({ onClose }: { readonly onClose: () => void }) {
  const { request } = useSession();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState("");
  const [withFile, setWithFile] = useState(false);
  const [file, setFile] = useState("");
  const [tried, setTried] = useState(false);

  const name = readName(typed);
  const faults = withFile && name.ok ? fileFaults(file, name.value) : [];
  const create = useMutation({
    mutationFn: (zone: string) =>
      request("POST", "/v1/zones", { name: zone, mode: "primary", ...(withFile && { zonefile: file }) }),
    onSuccess: async (_made, zone) => {
      await queries.invalidateQueries({ queryKey: ["zones"] });
      navigate(`${zoneAddress(zone)}?setup`);
    },
  });
  const takeFile = (text: string) => {
    setFile(text);
    if (typed === "") setTyped(finish(findingZoneName(text)) ?? "");
  };

  return (
    <FormDialog
      title="New zone"
      holds={[typed, withFile, file]}
      onClose={onClose}
      onSubmit={() => {
        setTried(true);
        if (name.ok && faults.length === 0) create.mutate(name.value);
      }}
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
          <Textarea
            label="Zone file"
            value={file}
            onChange={(event) => takeFile(event.currentTarget.value)}
            rows={8}
            classNames={{ input: "mono" }}
            spellCheck={false}
          />
          <FileButton onText={takeFile} />
          {tried && <FaultList faults={faults} />}
        </>
      )}
      <Text size="xs" c="dimmed">
        A checklist follows: the nameservers for the domain’s registrar, and the first records.
      </Text>
    </FormDialog>
  );
}

const readName = (text: string) => parseTyped(parseZoneName, text.trim().toLowerCase());

function fileFaults(text: string, zone: string): readonly Fault[] {
  const file = parseZoneFile(text, zone);
  return file.ok ? [] : file.faults;
}

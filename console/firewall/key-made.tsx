import { Button, Group, Stack, Text } from "@mantine/core";
import type { MadeKey } from "../../src/contract/console-firewall.ts";
import { CopyText } from "../shared/copy-text.tsx";
import { Dialog } from "../shared/dialog.tsx";
import { download } from "../shared/download.ts";

/** The one time that a secret is shown. It stays until it is put away on purpose. */
export function KeyMade({ made, onClose }: { readonly made: MadeKey; readonly onClose: () => void }) {
  const config = `sed -n 'N;s/^key=\\(.*\\)\\nsecret=\\(.*\\)$/user = "\\1:\\2"/p' ${made.fileName}`;
  const url = `${location.origin}/api/diagnostics/interface/getinterfaceconfig`;
  return (
    <Dialog title="The new key" onClose={onClose} size="xl" stays>
      <Stack gap="sm">
        <Text size="sm">
          <b>Download it now: the secret is shown this once and cannot be shown again.</b>
        </Text>
        <CopyText text={made.file.trim()} label="key and secret" />
        <Text size="sm">To try it with curl, the certificate saved as moor-ca.pem beside the file:</Text>
        <CopyText text={`${config} | curl -sS --config - --cacert moor-ca.pem ${url}`} label="curl line" block />
        <Group justify="space-between">
          <Button variant="default" onClick={() => download(made.fileName, made.file)}>
            Download {made.fileName}
          </Button>
          <Button onClick={onClose}>I have it</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

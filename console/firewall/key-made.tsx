import { Button, Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { MadeKey } from "../../src/contract/console-firewall.ts";
import { CopyText } from "../shared/copy-text.tsx";
import { Dialog } from "../shared/dialog.tsx";
import { download } from "../shared/download.ts";

/** The secret is shown only here, so the dialog stays until it is closed on purpose. */
export function KeyMade({ made, onClose }: { readonly made: MadeKey; readonly onClose: () => void }) {
  const config = `sed -n 'N;s/^key=\\(.*\\)\\nsecret=\\(.*\\)$/user = "\\1:\\2"/p' ${made.fileName}`;
  const source = `sources:
  firewall: { url: "${location.origin}", keyFile: ${made.fileName}, ca: moor-ca.pem }`;
  const url = `${location.origin}/api/diagnostics/interface/getinterfaceconfig`;
  return (
    <Dialog title="The new key" onClose={onClose} size="xl" stays>
      <Stack gap="sm">
        <Text size="sm">
          <b>Download it now. The secret is shown only once.</b>
        </Text>
        <CopyText text={made.file.trim()} label="key and secret" />
        <Text size="sm">
          For <code>moor update</code>, put the file and the <CertificateLink>certificate</CertificateLink> next to
          moor.yaml, and add this to it:
        </Text>
        <CopyText text={source} label="config" block />
        <Text size="sm">To try it with curl, in the folder with both files:</Text>
        <CopyText text={`${config} | curl -sS --config - --cacert moor-ca.pem ${url}`} label="curl command" block />
        <Group justify="space-between">
          <Button variant="default" onClick={() => download(made.fileName, made.file)}>
            Download {made.fileName}
          </Button>
          <Button onClick={onClose}>I have saved it</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

const CertificateLink = ({ children }: { readonly children: ReactNode }) => (
  <a href="/console/ca.pem" download="moor-ca.pem">
    {children}
  </a>
);

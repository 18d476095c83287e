import { Button, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { MadeKey } from "../../src/contract/console-firewall.ts";
import { CopyText } from "../shared/copy-text.tsx";
import { download } from "../shared/download.ts";
import { SecretDialog } from "../shared/secret-dialog.tsx";

export function KeyMade({ made, onClose }: { readonly made: MadeKey; readonly onClose: () => void }) {
  const config = `sed -n 'N;s/^key=\\(.*\\)\\nsecret=\\(.*\\)$/user = "\\1:\\2"/p' ${made.fileName}`;
  const source = `sources:
  firewall: { url: "${location.origin}", keyFile: ${made.fileName}, ca: moor-ca.pem }`;
  const url = `${location.origin}/api/diagnostics/interface/getinterfaceconfig`;
  return (
    <SecretDialog title="The new key" done="I have saved it" onClose={onClose}>
      {(onKept) => (
        <>
          <Text size="sm">
            <b>Copy or download it now. The secret is shown only once.</b>
          </Text>
          <CopyText text={made.file.trim()} label="key and secret" isFirst onCopied={onKept} />
          <Group>
            <Button
              variant="default"
              title={made.fileName}
              onClick={() => {
                download(made.fileName, made.file);
                onKept();
              }}
            >
              Download the file
            </Button>
          </Group>
          <Text size="sm">
            For <code>moor update</code>, put the file and the <CertificateLink>certificate</CertificateLink> next to
            moor.yaml, and add this to it:
          </Text>
          <CopyText text={source} label="config" block />
          <Text size="sm">To try it with curl, in the folder with both files:</Text>
          <CopyText text={`${config} | curl -sS --config - --cacert moor-ca.pem ${url}`} label="curl command" block />
        </>
      )}
    </SecretDialog>
  );
}

const CertificateLink = ({ children }: { readonly children: ReactNode }) => (
  <a href="/console/ca.pem" download="moor-ca.pem">
    {children}
  </a>
);

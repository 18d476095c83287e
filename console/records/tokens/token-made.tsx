import { Anchor, Tabs, Text } from "@mantine/core";
import type { MadeToken } from "../../../src/contract/console.ts";
import { CopyText } from "../../shared/copy-text.tsx";
import { SecretDialog } from "../../shared/secret-dialog.tsx";
import { scopeInWords } from "./scope-in-words.ts";
import { snippetsFor } from "./token-snippets.ts";

export function TokenMade({ made, onClose }: { readonly made: MadeToken; readonly onClose: () => void }) {
  const { token, secret } = made;
  const snippets = snippetsFor(location.origin, secret, token.scope);
  return (
    <SecretDialog
      title={`Token for “${token.name}”`}
      done="I have copied it"
      onClose={onClose}
      other={
        <Anchor href="/console/ca.pem" download="moor-ca.pem" size="sm">
          Download the service’s certificate (moor-ca.pem)
        </Anchor>
      }
    >
      {(onKept) => (
        <>
          <Text size="sm">
            It {scopeInWords(token.scope)}. <b>Copy it now. It is shown only once.</b>
          </Text>
          <CopyText text={secret} label="token" isFirst onCopied={onKept} />
          <Tabs defaultValue={snippets[0]?.name ?? "curl"}>
            <Tabs.List aria-label="Snippets to paste">
              {snippets.map(({ name }) => (
                <Tabs.Tab key={name} value={name}>
                  {name}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            {snippets.map(({ name, about, text }) => (
              <Tabs.Panel key={name} value={name} pt="xs">
                <Text size="xs" c="dimmed" mb={4}>
                  {about}
                </Text>
                <CopyText text={text} label={`${name} snippet`} block onCopied={onKept} />
              </Tabs.Panel>
            ))}
          </Tabs>
        </>
      )}
    </SecretDialog>
  );
}
